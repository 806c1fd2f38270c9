"""What is broken on purpose, and the test of the ordinary suite that must notice; why: docs/breaks.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from ..kernels import (
    fitting,
    test_batch_tools,
    test_gemm_cta,
    test_gesv_tiny,
    test_getrf_cta,
    test_getrf_panel,
    test_getrf_tiny,
    test_getrs_cta,
    test_lu_update,
    test_relayout,
    test_resources,
    test_trsm_cta,
)
from ..kernels.inputs import LARGEST, SMALLEST
from .cholesky import PLANS as CHOLESKY
from .getri import GETRI
from .mutation import Edit
from .qr import QR_BREAKS

__all__ = ["BREAKS", "Break"]

Check = Callable[[], None]
Edits = tuple[str, ...]

LU_BLOCK, TRANSFER, NARROW = "device.lu_block", "device.transfer", "device.narrow_solve"
SIDES = "device.narrow_sides"
LU, ROWS, PIVOT, ARITHMETIC = "device.lu_rows", "device.rows", "device.pivot", "device.arithmetic"
PANEL, TILES = "device.panel_rows", "device.tiles"
DIRECT, STAGED = "F-ld", "C-ld"


@dataclass(frozen=True)
class Break:
    """A guard taken out of a kernel module.

    Attributes
    ----------
    name : str
        Its row in the documentation.
    module : str
        Module below ``batchlas_py.kernels``.
    edits : tuple of Edit
        How its source changes.
    check : callable
        A test that passes on the shipped source, with its arguments bound.
    blind : bool
        Whether the check passes without the guard too.
    """

    name: str
    module: str
    edits: tuple[Edit, ...]
    check: partial[None]
    blind: bool = False

    def __str__(self) -> str:
        return self.name


def _breaks(
    module: str, check: partial[None], edits: Mapping[str, Edits], *, blind: bool = False
) -> Iterator[Break]:
    """Breaks of one module that one check judges; each name has old text, new text, in turns."""
    for name, texts in edits.items():
        pairs = tuple(map(Edit, texts[::2], texts[1::2]))
        yield Break(name, module, pairs, check, blind)


def _factors(dtype: str, n: int, layout: str = DIRECT) -> partial[None]:
    return partial(test_getrf_tiny.test_factors_on_every_schedule, dtype, n, layout)


def _zero_pivots(dtype: str, n: int) -> partial[None]:
    return partial(test_getrf_tiny.test_elimination_goes_on_past_a_zero_pivot, dtype, n, DIRECT)


def _extremes(end: str) -> partial[None]:
    return partial(test_getrf_tiny.test_extreme_magnitudes, "float32", end)


def _ties(dtype: str, n: int) -> partial[None]:
    return partial(test_getrf_tiny.test_ties_take_the_lowest_row, dtype, n)


def _last_bit(n: int) -> partial[None]:
    return partial(test_getrf_tiny.test_the_last_bit_decides_a_pivot, "float64", n)


def _spares(layout: str) -> partial[None]:
    return partial(test_getrf_tiny.test_spare_members_store_nothing, 6, layout)


def _solutions(dtype: str, n: int) -> partial[None]:
    return partial(test_gesv_tiny.test_solutions_on_every_schedule, dtype, n, DIRECT)


def _copies() -> partial[None]:
    return partial(test_relayout.test_every_element_arrives, "F-ld", "C-ld", (31, 33))


def _registers() -> partial[None]:
    code = next(code for code in fitting.shipped() if str(code) == "getrf_tiny-float32-32-32-False-0")
    return partial(test_resources.test_every_kernel_lives_in_registers, code)


def _cta(way: test_getrf_cta.Way = test_getrf_cta.BLOCK, m: int = 6, n: int = 6) -> partial[None]:
    return partial(test_getrf_cta.test_factors_on_every_schedule, "float32", m, n, DIRECT, way)


def _cta_tall(way: test_getrf_cta.Way) -> partial[None]:
    return partial(test_getrf_cta.test_every_warp_searches_a_tall_panel, "float32", 130, 4, way)


def _panel(way: test_getrf_panel.Way) -> partial[None]:
    return partial(test_getrf_panel.test_factors_on_every_schedule, "float32", way)


def _panel_zeros() -> partial[None]:
    way = test_getrf_panel.WARP
    return partial(test_getrf_panel.test_elimination_goes_on_past_a_zero_pivot, "float32", way)


def _update(m: int, n: int, k: int, batch: int) -> partial[None]:
    return partial(test_lu_update.test_the_bits_of_unblocked_elimination, "float32", m, n, k, batch)


def _narrow(layout: str = DIRECT) -> partial[None]:
    return partial(test_getrs_cta.test_solutions_on_every_schedule, "float32", "N", layout)


def _narrow_warps() -> partial[None]:
    return partial(test_getrs_cta.test_a_warp_a_matrix, "float32", "N", DIRECT)


def _narrow_exact(trans: str) -> partial[None]:
    return partial(test_getrs_cta.test_exact_solutions, 9, "float32", trans)


def _product() -> partial[None]:
    return partial(test_gemm_cta.test_every_shape, (33, 3, 2))


def _product_slices() -> partial[None]:
    return partial(test_gemm_cta.test_on_every_schedule, "float32")


def _triangle(*, unit: bool) -> partial[None]:
    return partial(test_trsm_cta.test_every_triangle, "float32", unit, False)


BREAKS = (
    *_breaks(
        LU,
        _factors("float32", 6),
        {
            "pivot row scales itself": ("int32(row) > j and", "int32(row) >= j and"),
            "last pivot unrecorded": (
                "if mine:\n                record(state)",
                "if False:\n                record(state)",
            ),
            "eliminated rows are candidates": ("candidate = int32(row) >= j", "candidate = row != NOBODY"),
            "finish before the last row": ("if uint32(j + 1) == n:", "if uint32(j + 1) <= n:"),
            "rows not swapped": ("select(row == uint32(j), p, row)", "row"),
            "no candidate mask": ("candidate = int32(row) >= j", "candidate = True"),
            "lanes past n are candidates": (
                "candidate = int32(row) >= j",
                "candidate = int32(row) >= j or row == NOBODY",
            ),
            "one mailbox slot": ("slot = uint32(base + uint32(j & 1) * pitch)", "slot = base"),
            "step without barrier": ("state[ROW] = row\n        cuda.syncwarp(full)\n", "state[ROW] = row\n"),
        },
    ),
    *_breaks(
        LU,
        _zero_pivots("float32", 3),
        {
            "zero pivot divides": ("int32(row) > j and not singular(state)", "int32(row) > j"),
            "zero pivot unmarked": (
                "select(singular(state), uint32(state[FOUND] | mark), state[FOUND])",
                "state[FOUND]",
            ),
            "mark left in ipiv": ("state[PIVOT] & ~mark", "state[PIVOT]"),
            "info counts from zero": ("uint32(first + one)", "first"),
        },
    ),
    *_breaks(
        LU,
        _solutions("complex128", 6),
        {
            "slot without right-hand sides": ("-(-(columns + rhs) * size", "-(-columns * size"),
        },
    ),
    *_breaks(
        LU,
        _factors("float32", 3),
        {
            "step past the last row": ("if uint32(j + 1) < n:", "if uint32(j) < n:"),
            "two unguarded steps too many": (
                "always = columns - spec.slack",
                "always = columns - spec.slack + 2",
            ),
        },
    ),
    *_breaks(
        LU,
        _factors("float32", 3),
        {
            "one unguarded step too many": (
                "always = columns - spec.slack",
                "always = columns - spec.slack + 1",
            ),
        },
        blind=True,
    ),
    *_breaks(
        LU,
        _extremes(SMALLEST),
        {
            "pivot unscaled, smallest": ("s = scale(state[HIGH])", "s = arith.real(1)"),
        },
    ),
    *_breaks(
        LU,
        _extremes(LARGEST),
        {
            "pivot unscaled, largest": ("s = scale(state[HIGH])", "s = arith.real(1)"),
        },
    ),
    *_breaks(
        LU,
        _factors("float32", 6),
        {
            "whole rows published": ("if k >= j:", "if True:"),
        },
        blind=True,
    ),
    *_breaks(
        PIVOT,
        _ties("float32", 11),
        {
            "redux takes the highest row": (
                "best, zero, smallest(select(mine, row, none), lane)",
                "best, zero, largest(select(mine, row, zero), lane)",
            ),
        },
    ),
    *_breaks(
        PIVOT,
        _ties("float64", 19),
        {
            "redux takes the highest row, two words": (
                "best, best_low, smallest(select(mine, row, none), lane)",
                "best, best_low, largest(select(mine, row, zero), lane)",
            ),
        },
    ),
    *_breaks(
        PIVOT,
        _ties("float32", 6),
        {
            "shuffle takes the highest row": (
                "other == high and other_row < row",
                "other == high and other_row > row",
            ),
        },
    ),
    *_breaks(
        PIVOT,
        _ties("float64", 3),
        {
            "shuffle takes the highest row, two words": (
                "other_low == low and other_row < row",
                "other_low == low and other_row > row",
            ),
        },
    ),
    *_breaks(
        PIVOT,
        _last_bit(11),
        {
            "redux ignores the low word": ("mine = contender and low == best_low", "mine = contender"),
        },
    ),
    *_breaks(
        PIVOT,
        _last_bit(6),
        {
            "shuffle ignores the low word": (
                "nearer = other_low > low or (other_low == low and other_row < row)",
                "nearer = other_row < row",
            ),
        },
    ),
    *_breaks(
        PIVOT,
        _factors("float32", 11),
        {
            "halves swapped": (
                "return select(first, low, high)\n\n    @device\n    def smallest",
                "return select(first, high, low)\n\n    @device\n    def smallest",
            ),
            "redux over both halves": (
                "_redux_whole_warp() if lanes == 2 * HALF else _redux_half_warps()",
                "_redux_whole_warp()",
            ),
        },
    ),
    *_breaks(
        PIVOT,
        _factors("float32", 6),
        {
            "partner in another matrix": ("int32(1), int32(2), int32(4)", "int32(1), int32(2), int32(8)"),
        },
    ),
    *_breaks(
        PIVOT,
        _factors("float32", 3),
        {
            "partner too near": ("int32(1), int32(2), int32(4)", "int32(1), int32(1), int32(4)"),
        },
    ),
    *_breaks(
        PIVOT,
        partial(test_getrf_tiny.test_nan_stays_in_its_item, "float32", 6),
        {
            "keys compared as floats": (
                "import redux_max, redux_min",
                "import f32_from_bits, redux_max, redux_min",
                "better = other > high or (other == high and other_row < row)",
                "mine, theirs = f32_from_bits(high), f32_from_bits(other)\n"
                "        better = theirs > mine or (theirs == mine and other_row < row)",
            ),
        },
    ),
    *_breaks(
        ARITHMETIC,
        partial(test_getrf_tiny.test_the_pivot_metric_is_the_sum_of_parts, "complex64", 6),
        {
            "metric is the modulus": (
                "bits(abs(z.real) + abs(z.imag), candidate)",
                "bits(abs(z), candidate)",
            ),
        },
    ),
    *_breaks(
        ARITHMETIC,
        _factors("float32", 11),
        {"keys of other rows": ("bits_f32(select(candidate, abs(size), zero))", "bits_f32(abs(size))")},
    ),
    *_breaks(
        ARITHMETIC,
        _factors("float64", 6),
        {
            "keys of other rows, two words": (
                "select(candidate, uint32(pattern >> word), nothing)",
                "uint32(pattern >> word)",
            ),
        },
    ),
    *_breaks(
        PIVOT,
        _factors("float64", 11),
        {"low words of all lanes": ("largest(select(contender, low, zero), lane)", "largest(low, lane)")},
    ),
    *_breaks(
        PIVOT,
        partial(test_getrf_tiny.test_a_triangle_is_its_own_factor_singular_or_not, "float64", 3),
        {
            "low words of other rows": (
                "fold(high, select(candidate, low, zero)",
                "fold(high, low",
            ),
        },
    ),
    *_breaks(
        ARITHMETIC,
        _factors("float32", 6),
        {
            "metric is signed": ("select(candidate, abs(size), zero)", "select(candidate, size, zero)"),
        },
    ),
    *_breaks(
        ARITHMETIC,
        _factors("float64", 6),
        {
            "one Newton step": (
                "y = rcp_f64(x)\n        y = cuda.fma(y, cuda.fma(-x, y, one), y)\n",
                "y = rcp_f64(x)\n",
            ),
        },
    ),
    *_breaks(
        ARITHMETIC,
        _factors("complex64", 6),
        {
            "reciprocal unconjugated": ("-z.imag * s", "z.imag * s"),
        },
    ),
    *_breaks(
        ROWS,
        _factors("float32", 3),
        {
            "columns past n stored": ("if k < safe or uint32(k) < n:", "if True:"),
            "lanes past n store": (
                "if valid and lane < n:\n            store_columns",
                "if valid:\n            store_columns",
            ),
            "rows past n loaded": ("row = min(lane, uint32(n - uint32(1)))", "row = lane"),
            "columns past n loaded": (
                "column = k if k < safe else min(k, int32(n - uint32(1)))",
                "column = k",
            ),
            "one unguarded column too many": (
                "safe = columns - slack + 1  #",
                "safe = columns - slack + 2  #",
            ),
        },
    ),
    *_breaks(
        ROWS,
        _factors("float32", 3, STAGED),
        {
            "rows past n stored": ("if i < safe or uint32(i) < n:", "if True:"),
            "columns past n stored, staged": (
                "if valid and lane < n:\n            flush",
                "if valid:\n            flush",
            ),
            "lanes past n put": ("if lane < n:\n            put_all", "if True:\n            put_all"),
            "rows past n loaded, staged": (
                "row = i if i < safe else min(i, int32(n - uint32(1)))",
                "row = i",
            ),
            "columns past n loaded, staged": ("int64(min(lane, uint32(n - uint32(1))))", "int64(lane)"),
            "one unguarded row too many": ("FULL, columns - slack + 1", "FULL, columns - slack + 2"),
        },
    ),
    *_breaks(
        ROWS,
        _spares(DIRECT),
        {
            "spare members store": (
                "if valid and lane < n:\n            store_columns",
                "if lane < n:\n            store_columns",
            ),
        },
    ),
    *_breaks(
        ROWS,
        _spares(STAGED),
        {
            "spare members store, staged": (
                "if valid and lane < n:\n            flush",
                "if lane < n:\n            flush",
            ),
        },
    ),
    *_breaks(
        ROWS,
        _factors("float32", 6),
        {
            "rows stored by lane": (
                "store_columns(a, target, at + int64(row)",
                "store_columns(a, target, at + int64(lane)",
            ),
        },
    ),
    *_breaks(
        ROWS,
        _factors("float32", 6, STAGED),
        {
            "rows stored by lane, staged": (
                "put_all(a, tile, base + row * pitch)",
                "put_all(a, tile, base + lane * pitch)",
            ),
            "no barrier after the fetch": (
                "tile, base, lane, n)\n        cuda.syncwarp(full)\n        take_all",
                "tile, base, lane, n)\n        take_all",
            ),
            "no barrier after the take": (
                "uint32(last)) * pitch)\n        cuda.syncwarp(full)\n",
                "uint32(last)) * pitch)\n",
            ),
            "no barrier before the put": (
                "cuda.syncwarp(full)\n        if lane < n:\n            put_all",
                "if lane < n:\n            put_all",
            ),
            "no barrier after the put": (
                "base + row * pitch)\n        cuda.syncwarp(full)\n",
                "base + row * pitch)\n",
            ),
            "tile rows overlap": ("uint32(lanes + 1), FULL", "uint32(lanes - 1), FULL"),
            "tile row past the last": ("min(lane, uint32(last)) * pitch", "lane * pitch"),
            "tile too small": ("columns * (lanes + 1)", "columns * lanes"),
        },
    ),
    *_breaks(
        ROWS,
        _factors("float32", 6, STAGED),
        {
            "even tile pitch": ("uint32(lanes + 1), FULL", "uint32(lanes), FULL"),
        },
        blind=True,
    ),
    *_breaks(
        "getrf_tiny",
        _factors("float32", 6),
        {
            "items aliased": ("* per_block + member)", ")"),
            "pivots stored by lane": ("int64(n) + int64(state[ROW])", "int64(n) + int64(lane)"),
            "items past the batch loaded": (
                "int64(min(item, uint32(uint32(batch) - uint32(1))))",
                "int64(item)",
            ),
            "items past the batch stored": ("valid = item < uint32(batch)", "valid = True"),
        },
    ),
    *_breaks(
        "gesv_tiny",
        _solutions("float32", 6),
        {
            "items aliased, gesv": ("* per_block + member)", ")"),
            "right-hand sides past nrhs stored": ("if q < nrhs:", "if True:"),
            "solutions stored by lane": ("x_batch + int64(row) *", "x_batch + int64(lane) *"),
            "every item invalidated": ("first_zero != uint32(0)", "True"),
            "pivot of the last step kept by all": (
                "own[0] = select(mine, inverse, own[0])",
                "own[0] = inverse",
            ),
            "scale of the last step kept by all": ("own[1] = select(mine, s, own[1].real)", "own[1] = s"),
            "back substitution subtracts from its own row": ("a[j], row < j,", "a[j], row <= j,"),
            "items past the batch loaded, gesv": (
                "int64(min(item, uint32(uint32(batch) - uint32(1))))",
                "int64(item)",
            ),
            "items past the batch stored, gesv": ("valid = item < uint32(batch)", "valid = True"),
            "right-hand sides past nrhs loaded": ("int64(min(q, int32(nrhs - int32(1))))", "int64(q)"),
            "right-hand side rows past n loaded": ("int64(min(lane, uint32(n - uint32(1))))", "int64(lane)"),
            "back substitution from past the last row": ("if j < safe or uint32(j) < n:", "if True:"),
            "back substitution without barrier": (
                "finish_all(b, own, mailbox, slot)\n            cuda.syncwarp(full)\n",
                "finish_all(b, own, mailbox, slot)\n",
            ),
            "back substitution in one slot": ("slot = uint32(base + uint32(j & 1) * pitch)", "slot = base"),
        },
    ),
    *_breaks(
        "gesv_tiny",
        partial(test_gesv_tiny.test_spare_members_store_nothing, 6, DIRECT),
        {
            "solutions of spare members stored": ("if valid and lane < n:", "if lane < n:"),
        },
    ),
    *_breaks(
        "gesv_tiny",
        partial(test_gesv_tiny.test_a_singular_item_gets_nan_alone, "float32", 6),
        {
            "singular item keeps its solution": ("invalidate(right, first_zero != uint32(0))", "pass"),
        },
    ),
    *_breaks(
        "gesv_tiny",
        partial(test_gesv_tiny.test_every_order, 5),
        {
            "back substitution a row too early": (
                "safe = spec.columns - spec.slack + 1",
                "safe = spec.columns - spec.slack + 2",
            ),
        },
    ),
    *_breaks(
        "gesv_tiny",
        _solutions("float32", 6),
        {
            "no barrier before back substitution": (
                "row = int32(state[ROW])\n        cuda.syncwarp(full)\n",
                "row = int32(state[ROW])\n",
            ),
        },
        blind=True,
    ),
    *_breaks(
        LU_BLOCK,
        _cta(),
        {
            "eliminated rows searched": (
                "high, low, row = zero, zero, none\n        r = uint32(c + first)",
                "high, low, row = zero, zero, none\n        r = first",
            ),
            "row brought down too early": (
                "            if r == p:\n                held = x\n            else:\n                tile[",
                "            held = select(r == p, x, held)\n            if True:\n                tile[",
            ),
            "row brought down lost": ("select(r == p, held, tile[at])", "tile[at]"),
            "row brought down makes way": (
                "select(p == c, held, tile[address(place, c, c)])",
                "tile[address(place, c, c)]",
            ),
            "row that makes way lost": ("select(r == q, corner, ", "select(False, corner, "),
            "pivot divided": ("tile[at] = select(r == c, pivot, x)", "tile[at] = x"),
            "row above the pivot lost": (
                "            tile[address(place, uint32(c - select(c == zero, zero, one)), c)] = upper\n",
                "",
            ),
            "column without an owner": ("warp == uint32(c & uint32(warps - one))", "True"),
            "offers without barrier": (
                "            meet()\n        else:\n            cuda.syncwarp(full)\n        pivot,",
                "            meet()\n        pivot,",
            ),
            "interchange without barrier": (
                "lane, warp, warps)\n                cuda.syncwarp(full)\n",
                "lane, warp, warps)\n",
            ),
            "step without block barrier": (
                "            meet()\n            c = uint32(c + one)",
                "            c = uint32(c + one)",
            ),
            "one place for pivots": (
                "words[uint32(area[1] + pivots_at + uint32(c & one))]",
                "words[uint32(area[1] + pivots_at)]",
                "words[uint32(area[1] + pivots_at + uint32(j & one))]",
                "words[uint32(area[1] + pivots_at)]",
            ),
            "left columns not interchanged": (
                "if c != j and c != uint32(j + one):",
                "if c > uint32(j + one):",
            ),
            "next column interchanged twice": ("if c != j and c != uint32(j + one):", "if c != j:"),
            "columns past n updated": ("while uint32(c + others * warps) < n:", "while c < n:"),
        },
    ),
    *_breaks(
        LU_BLOCK,
        _cta_tall(test_getrf_cta.FOUR_WARPS),
        {
            "offers without block barrier": (
                "            meet()\n        else:\n            cuda.syncwarp(full)\n        pivot,",
                "            cuda.syncwarp(full)\n        pivot,",
            ),
        },
    ),
    *_breaks(
        LU_BLOCK,
        _cta_tall(test_getrf_cta.EIGHT_WARPS),
        {
            "older offers elected": ("seats = min(team, uint32(", "seats = max(team, uint32("),
        },
    ),
    *_breaks(
        LU_BLOCK,
        partial(
            test_getrf_cta.test_ties_of_a_tall_panel_take_the_lowest_row, "float32", test_getrf_cta.BLOCK, 40
        ),
        {
            "thread takes the highest row": ("x_high > high or", "x_high >= high or"),
        },
    ),
    *_breaks(
        LU_BLOCK,
        partial(test_getrf_cta.test_the_last_bit_decides_a_pivot, "float64", 140),
        {
            "thread ignores the low word": ("(x_high == high and x_low > low)", "False"),
        },
    ),
    *_breaks(
        LU_BLOCK,
        partial(test_getrf_cta.test_elimination_goes_on_past_a_zero_pivot, "float32", test_getrf_cta.BLOCK),
        {
            "zero pivot divides a column": (
                "select(singular, x, divide(x, s, inverse))",
                "divide(x, s, inverse)",
            ),
            "info is the last zero pivot": ("select(info == zero and not live,", "select(not live,"),
            "mark left in a pivot": ("uint32(found & ~mark), found < mark", "found, found < mark"),
        },
    ),
    *_breaks(
        LU_BLOCK,
        partial(test_getrf_cta.test_a_zero_pivot_multiplies_by_zero),
        {
            "zero pivot multiplies": (
                "            l = select(live, tile[address(place, r, j)], nothing)\n            take_all",
                "            l = tile[address(place, r, j)]\n            take_all",
            ),
            "zero pivot multiplies the next column": (
                "        l = select(live, tile[address(place, r, j)], nothing)\n        return",
                "        l = tile[address(place, r, j)]\n        return",
            ),
        },
    ),
    *_breaks(
        LU_BLOCK,
        partial(test_getrf_cta.test_an_infinite_pivot_divides_to_zero),
        {
            "first column updated": (
                "select(c == zero, raw, multiply_subtract(raw, l, upper))",
                "multiply_subtract(raw, l, upper)",
            ),
        },
    ),
    *_breaks(
        LU_BLOCK,
        partial(test_getrf_cta.test_a_panel_counts_from_its_base, "float32", test_getrf_cta.BLOCK),
        {
            "pivots count from the panel": (
                "int32(uint32(q + one) + uint32(base))",
                "int32(uint32(q + one))",
            ),
        },
    ),
    *_breaks(
        "getrf_cta",
        partial(test_getrf_cta.test_the_first_zero_pivot_of_all_panels_stays, test_getrf_cta.BLOCK),
        {
            "info counts from the panel": ("int32(uint32(first_zero) + uint32(base))", "int32(first_zero)"),
            "info of an earlier panel lost": (
                "elif first_zero != zero and info[item] == none:",
                "elif first_zero != zero:",
            ),
            "info not started afresh": ("if base == none:", "if base == none and first_zero != zero:"),
        },
    ),
    *_breaks(
        "getrf_cta",
        _cta(test_getrf_cta.WARP),
        {
            "items of a block aliased": (
                "at = uint32(member * uint32(area + uint32(ld * n)))",
                "at = uint32(member * uint32(0))",
            ),
            "items past the batch factored": ("if item < batch:", "if True:"),
        },
    ),
    *_breaks(
        "getrf_cta",
        _cta(),
        {
            "steps before the matrix is there": (
                "load(a, source, memory, tile, m, n, who)\n        meet()\n",
                "load(a, source, memory, tile, m, n, who)\n",
            ),
        },
    ),
    *_breaks(
        "getrf_cta",
        _cta(),
        {
            "even leading dimension": ("ld = uint32(m | one)", "ld = uint32(uint32(m + one) & ~one)"),
        },
        blind=True,
    ),
    *_breaks(
        TRANSFER,
        _cta(),
        {
            "lines past the last put": ("if this < lines:", "if True:"),
            "lines past the last taken": (
                "min(uint32(line + uint32(g) * warps), uint32(lines - one))",
                "uint32(line + uint32(g) * warps)",
            ),
        },
    ),
    *_breaks(
        TRANSFER,
        _cta(),
        {
            "lanes across lines": (
                "columns = abs(row_stride) <= abs(col_stride)",
                "columns = abs(row_stride) > abs(col_stride)",
            ),
        },
        blind=True,
    ),
    *_breaks(
        ARITHMETIC,
        partial(test_getrf_cta.test_the_pivot_metric_is_the_sum_of_parts, "complex64", 3),
        {
            "metric is the modulus, cta": (
                "bits(abs(z.real) + abs(z.imag), candidate)",
                "bits(abs(z), candidate)",
            ),
        },
    ),
    *_breaks(
        PANEL,
        _panel(test_getrf_panel.WARPS),
        {
            "eliminated rows of a panel are candidates": (
                "candidate = int32(row[r]) >= j",
                "candidate = row[r] != none",
            ),
            "threads past a panel are candidates": (
                "candidate = int32(row[r]) >= j",
                "candidate = int32(row[r]) >= j or row[r] == none",
            ),
            "rows of a panel not swapped": ("select(row[r] == uint32(j), p, row[r]))", "row[r])"),
            "both rows take the pivot's place": (
                "select(row[r] == p, uint32(j), select(",
                "select(row[r] == p, p, select(",
            ),
            "search before the swap": (
                "        relabel(j, row, p)\n",
                "",
                "        scale_rows(j, a, row, l, s, inverse, singular)\n",
                "        before = cuda.local.array(rows, np.uint32)\n"
                "        for r in range(rows):\n"
                "            before[r] = row[r]\n"
                "        relabel(j, row, p)\n"
                "        scale_rows(j, a, row, l, s, inverse, singular)\n",
                "find(j + int32(1), a, row, state,",
                "find(j + int32(1), a, before, state,",
            ),
            "offers of a panel without barrier": ("        cuda.syncthreads()\n", ""),
            "one set of offers": ("uint32(uint32(j & int32(1)) * slots)", "none"),
            "warps that are not there elect": ("min(lane, uint32(warps - uint32(1)))", "lane"),
            "pivot row of a panel scales itself": ("int32(row[r]) > j and", "int32(row[r]) >= j and"),
            "rows above the pivot updated": ("l[r] = select(below, quotient, zero)", "l[r] = a[at]"),
            "next column of a panel updated twice": ("if k > j:", "if k >= j:"),
        },
    ),
    *_breaks(
        PANEL,
        _panel(test_getrf_panel.WARP),
        {
            "offer of a warp without barrier": ("        cuda.syncwarp(full)\n", ""),
        },
    ),
    *_breaks(
        PANEL,
        _panel(test_getrf_panel.WARPS),
        {
            "whole rows offered": ("if k >= j:", "if True:"),
            "last warp elects many times": (
                "select(lane < warps, keys[code_of + slot], none)",
                "keys[code_of + slot]",
            ),
        },
        blind=True,
    ),
    *_breaks(
        PANEL,
        _panel_zeros(),
        {
            "zero pivot divides a panel": (
                "below = int32(row[r]) > j and not singular",
                "below = int32(row[r]) > j",
            ),
            "info of a panel is the last zero pivot": (
                "singular and state[FIRST_ZERO] == none",
                "singular",
            ),
        },
    ),
    *_breaks(
        PANEL,
        partial(test_getrf_panel.test_a_zero_pivot_multiplies_by_zero),
        {
            "zero pivot of a panel multiplies": (
                "l[r] = select(below, quotient, zero)",
                "l[r] = select(int32(row[r]) > j, select(singular, a[at], quotient), zero)",
            ),
        },
    ),
    *_breaks(
        PANEL,
        partial(test_getrf_panel.test_extreme_magnitudes, "float32", SMALLEST),
        {"pivot of a panel unscaled": ("s = scale(high)", "s = arith.real(1)")},
    ),
    *_breaks(
        PANEL,
        partial(test_getrf_panel.test_wide_panels, 3, 4, test_getrf_panel.WARP),
        {"steps past the last row of a panel": ("if j < steps:", "if True:")},
    ),
    *_breaks(
        PANEL,
        partial(
            test_getrf_panel.test_ties_of_several_warps_take_the_lowest_row,
            "float32",
            test_getrf_panel.TWO_ROWS,
            (12, 76),
        ),
        {
            "thread of a panel takes the highest row": (
                "(low == state[LOW] and code < state[CODE])",
                "low == state[LOW]",
            ),
        },
    ),
    *_breaks(
        PANEL,
        partial(test_getrf_panel.test_the_last_bit_decides_a_pivot, "float64", test_getrf_panel.TWO_ROWS),
        {
            "thread of a panel ignores the low word": (
                "nearer = low > state[LOW] or (low == state[LOW] and code < state[CODE])",
                "nearer = code < state[CODE]",
            ),
        },
    ),
    *_breaks(
        PANEL,
        partial(test_getrf_panel.test_a_panel_counts_from_its_base, "float32", test_getrf_panel.WARP),
        {
            "pivots count from the register panel": (
                "int32(base + int32(p) + int32(1))",
                "int32(int32(p) + int32(1))",
            ),
        },
    ),
    *_breaks(
        "getrf_panel",
        partial(test_getrf_panel.test_the_first_zero_pivot_of_all_panels_stays, test_getrf_panel.WARP),
        {
            "info counts from the register panel": ("int32(base + int32(first))", "int32(first)"),
            "info of an earlier register panel lost": (
                "elif first != none and info[item] == int32(0):",
                "elif first != none:",
            ),
            "info of a register panel not started afresh": (
                "if base == int32(0):",
                "if base == int32(0) and first != none:",
            ),
        },
    ),
    *_breaks(
        "getrf_panel",
        _panel(test_getrf_panel.WARPS),
        {
            "rows of a panel stored by thread": (
                "int32(int32(row[r]) * row_stride), col_stride, cols)",
                "int32(int32(r * threads + thread) * row_stride), col_stride, cols)",
            ),
            "origins stored by thread": (
                "moved[int32(row[r])] = int32(r * threads + thread)",
                "moved[int32(r * threads + thread)] = int32(row[r])",
            ),
            "columns past a panel loaded": ("min(k, int32(cols - int32(1)))", "k"),
            "columns past a panel stored": ("if k < cols:", "if True:"),
            "rows past a panel loaded": ("min(mine, int32(rows - int32(1)))", "mine"),
            "rows past a panel live": ("select(mine < rows, uint32(mine), nobody)", "uint32(mine)"),
            "threads past a panel store": ("if row[r] != nobody:", "if True:"),
            "room for one set of rows": ("2 * warps_most * mailbox", "warps_most * mailbox"),
            "room for one set of offers": ("6 * warps_most", "3 * warps_most"),
            "pivots of items aliased": (
                "at, limit = item * ipiv_stride",
                "at, limit = int64(0) * ipiv_stride",
            ),
        },
    ),
    *_breaks(
        "getrf_panel",
        _panel(test_getrf_panel.WARPS),
        {"columns past a panel hold copies": ("select(k < cols, value, zero)", "value")},
        blind=True,
    ),
    *_breaks(
        "lu_update",
        _update(40, 7, 4, 1),
        {
            "displaced rows not exchanged": ("if source < k:\n", "if source < int32(0):\n"),
            "rows not brought up": (
                "cuda.local.array(each, element), source < k",
                "cuda.local.array(each, element), lane >= 0",
            ),
            "update without barrier after staging": (
                "lane, warp, k, count)\n        cuda.syncthreads()\n        permute",
                "lane, warp, k, count)\n        permute",
            ),
            "update without barrier before the solve": (
                "lane, warp, k, count)\n        cuda.syncthreads()\n        if thread < tile",
                "lane, warp, k, count)\n        if thread < tile",
            ),
            "update without barrier after the solve": (
                "uint64(pitch))\n        cuda.syncthreads()\n",
                "uint64(pitch))\n",
            ),
            "unit triangle divides": (
                "lower_solve(spec.dtype, unit=True)",
                "lower_solve(spec.dtype, unit=False)",
            ),
            "triangle past the panel": (
                "select(lane < k and c < lane, value, zero)",
                "select(c < lane, value, zero)",
            ),
            "rows past the panel solved": ("select(lane < k, value, zero)", "value"),
            "last rows below not updated": (
                "int32(int32(rows - k + warp_size - one) // warp_size)",
                "int32(int32(rows - k) // warp_size)",
            ),
            "lanes past the last row store": (
                "if live and int32(column + c) < count:",
                "if int32(column + c) < count:",
            ),
            "columns past the tile stored": ("if live and int32(column + c) < count:", "if live:"),
            "columns past the tile loaded": (
                "sums[c] = a[int32(offset + min(int32(column + c), int32(count - int32(1))) * col_stride)]",
                "sums[c] = a[int32(offset + int32(column + c) * col_stride)]",
            ),
            "multipliers past the panel loaded": (
                "min(int32(first + i), int32(k - int32(1)))",
                "int32(first + i)",
            ),
            "rows below written with the first": (
                "            if lane < k:\n",
                "            if lane < warp_size:\n",
            ),
        },
    ),
    *_breaks(
        "lu_update",
        partial(test_lu_update.test_every_shape, 70, 5, 9),
        {"multipliers of other rows": ("if once and chunk != current:", "if once and current < int32(0):")},
    ),
    *_breaks(
        "lu_update",
        _update(40, 7, 4, 1),
        {
            "triangle staged whole": (
                "select(lane < k and c < lane, value, zero)",
                "select(lane < k, value, zero)",
            )
        },
        blind=True,
    ),
    *_breaks(
        "gemm_cta",
        _product_slices(),
        {
            "slice past the inner extent": ("int32(k - inner),", "k,"),
            "product without barrier before a slice": (
                "            cuda.syncthreads()\n            store_tile(left",
                "            store_tile(left",
            ),
            "product without barrier after a slice": (
                "            cuda.syncthreads()\n            subtract",
                "            subtract",
            ),
        },
    ),
    *_breaks(
        "gemm_cta",
        _product(),
        {
            "factor of the addend ignored": ("multiply(beta, c[", "(c["),
            "rows past the product stored": ("if row < m:", "if row >= int32(0):"),
            "columns past the product stored": ("if int32(column + i) < n:", "if True:"),
            "columns past the addend loaded": (
                "min(int32(column + i), int32(n - int32(1)))",
                "int32(column + i)",
            ),
        },
    ),
    *_breaks(
        "gemm_cta",
        partial(test_gemm_cta.test_an_addend_without_factor_is_not_read, "float32"),
        {"addend read without factor": ("if beta != zero:", "if True:")},
    ),
    *_breaks(
        TILES,
        _product(),
        {
            "rows past a factor loaded": ("min(i, max(int32(rows - int32(1)), int32(0)))", "i"),
            "columns past a factor loaded": ("min(j, max(int32(cols - int32(1)), int32(0)))", "j"),
            "elements past both factors staged": ("select(i < rows and j < cols,", "select(i >= int32(0),"),
        },
    ),
    *_breaks(
        TILES,
        _product(),
        {
            "lanes of a factor across lines": (
                "position = int32(e * step + thread)",
                "along_rows, position = not along_rows, int32(e * step + thread)",
            ),
            "even pitch of factors": ("TILE_PITCH = ORDER + 1", "TILE_PITCH = ORDER"),
            "rows past a factor staged": ("select(i < rows and j < cols,", "select(j < cols,"),
            "columns past a factor staged": ("select(i < rows and j < cols,", "select(i < rows,"),
        },
        blind=True,
    ),
    *_breaks(
        TILES,
        partial(test_trsm_cta.test_conjugates, False, False),
        {"factor unconjugated": ("select(conj != int32(0), -z.imag, z.imag)", "z.imag")},
    ),
    *_breaks(
        TILES,
        _triangle(unit=True),
        {
            "diagonal subtracted": ("if i > k:", "if i >= k:"),
            "unit diagonal scaled": ("select(divide, s, one)", "s"),
        },
    ),
    *_breaks(
        TILES,
        partial(test_trsm_cta.test_the_other_triangle_is_not_read, 6, False, True),
        {
            "unit diagonal inverted": (
                "select(divide, reciprocal(times_real(pivot, s)), unit)",
                "reciprocal(times_real(pivot, s))",
            ),
        },
    ),
    *_breaks(
        TILES,
        partial(test_trsm_cta.test_extreme_diagonals, "float32"),
        {"diagonal unscaled": ("s = scale(high)", "s = one")},
    ),
    *_breaks(
        "trsm_cta",
        _triangle(unit=True),
        {
            "unit diagonal divides": ("divide != int32(0) and thread < depth", "thread < depth"),
            "sides past the last stored": ("if j < count:", "if True:"),
        },
    ),
    *_breaks(
        "trsm_cta",
        _triangle(unit=False),
        {"rows past the triangle divided": ("divide != int32(0) and thread < depth", "divide != int32(0)")},
        blind=True,
    ),
    *_breaks(
        "trsm_cta",
        partial(test_trsm_cta.test_conjugates, False, False),
        {
            "triangle unconjugated": (
                "load_a(held, rows_at, a_row, a_col, left, n, one, conj, thread)",
                "load_a(held, rows_at, a_row, a_col, left, n, one, int32(0), thread)",
            ),
        },
    ),
    *_breaks(
        "trsm_cta",
        partial(test_trsm_cta.test_on_every_schedule, False),
        {
            "tile of the triangle without barrier": (
                "                meet()\n                after",
                "                after",
            ),
            "tile of the triangle overwritten": (
                "                meet()\n                j = after",
                "                j = after",
            ),
            "diagonal without barrier": (
                "            meet()\n            solve_diagonal",
                "            solve_diagonal",
            ),
            "inverses without barrier": (
                "scales, inverses)\n        meet()\n",
                "scales, inverses)\n",
            ),
            "block row without barrier": (
                "at + uint64(lane), pitch)\n        meet()\n",
                "at + uint64(lane), pitch)\n",
            ),
        },
    ),
    *_breaks(
        "getrs_cta",
        _narrow_exact("N"),
        {
            "unit diagonal in the other triangle": (
                "n, back != transposed, who)",
                "n, back == transposed, who)",
            ),
            "sides left upside up": ("            overturn(memory, places[2], n, False, who)\n", ""),
        },
    ),
    *_breaks(
        "getrs_cta",
        _narrow_exact("T"),
        {"interchanges of a transpose forward": ("zero, n, n, across, who)", "zero, n, n, False, who)")},
    ),
    *_breaks(
        "getrs_cta",
        partial(test_getrs_cta.test_conjugation_by_hand, "C", [1j, 2], "complex64"),
        {"sides unconjugated": ("transposed != zero, conj != zero", "transposed != zero, conj < zero")},
    ),
    *_breaks(
        "getrs_cta",
        _narrow(),
        {
            "overturn without barrier": ("            meet(who[2])\n", ""),
            "one triangle kept for all": ("back and n <= order", "back"),
        },
    ),
    *_breaks(
        "getrs_cta",
        _narrow_warps(),
        {
            "items past the batch solved": ("if item < batch:", "if item >= int64(0):"),
            "sides of a block aliased": ("begin = int32(member * area)", "begin = zero"),
        },
    ),
    *_breaks(
        SIDES,
        _narrow_exact("N"),
        {"sides permuted on the wrong side": ("select(plain, i, rows[at])", "select(plain, rows[at], i)")},
    ),
    *_breaks(
        SIDES,
        _narrow_warps(),
        {
            "sides past the last written": (
                "        if q < nrhs:\n            x[",
                "        if q >= int32(0):\n            x[",
            ),
            "sides past the last read": ("min(q, int32(nrhs - one))", "q"),
        },
    ),
    *_breaks(
        NARROW,
        _narrow(),
        {
            "narrow solve without barrier before": (
                "            meet(warps)\n            if warp == zero:",
                "            if warp == zero:",
            ),
            "narrow solve without barrier after": (
                "            meet(warps)\n            start =",
                "            start =",
            ),
            "eliminated rows subtracted again": (
                "            if lane >= dead:\n                columns(",
                "            if lane >= int32(0):\n                columns(",
            ),
            "solved row eliminated": (
                "select(lane > k, multiply_subtract",
                "select(lane >= k, multiply_subtract",
            ),
            "last rows past the end": ("top = min(row, int32(n - order))", "top = row"),
        },
    ),
    *_breaks(
        NARROW,
        _narrow(STAGED),
        {
            "slice without barrier before, narrow": (
                "        cuda.syncwarp(full)\n        put_all_across(",
                "        put_all_across(",
            ),
            "slice without barrier after, narrow": (
                "        cuda.syncwarp(full)\n        take_all_back(",
                "        take_all_back(",
            ),
        },
    ),
    *_breaks(
        NARROW,
        partial(test_getrs_cta.test_around_the_edges_of_blocks, 65, "N", STAGED),
        {"one slice for all warps": ("int32(slices + int32(warp * area))", "slices")},
    ),
    *_breaks(
        NARROW,
        _narrow_warps(),
        {
            "lines past the triangle put": (
                "        if g < left:\n            memory[",
                "        if g >= int32(0):\n            memory[",
            ),
            "lines past the triangle taken": (
                "        if g < left:\n            value",
                "        if g >= int32(0):\n            value",
            ),
            "lanes past the triangle": (
                "            if lane < order:\n                take_all(",
                "            if lane >= int32(0):\n                take_all(",
            ),
            "rows past the triangle put": (
                "        if lane < order:\n            put(x,",
                "        if lane >= int32(0):\n            put(x,",
            ),
            "diagonal of another lane": ("at + int32(mine * col_step)", "at"),
        },
    ),
    *_breaks(
        NARROW,
        partial(test_getrs_cta.test_extreme_pivots, SMALLEST, "float32"),
        {"narrow pivot unscaled, smallest": ("s = scale(high)", "s = scale(high) * 0 + 1")},
    ),
    *_breaks(
        NARROW,
        partial(test_getrs_cta.test_extreme_pivots, LARGEST, "float32"),
        {"narrow pivot unscaled, largest": ("s = scale(high)", "s = scale(high) * 0 + 1")},
    ),
    *_breaks(
        "relayout",
        _copies(),
        {
            "rows past the tile copied": (
                "if row0 + i < rows and col0 + j < cols:\n                at = item * t_batch",
                "if col0 + j < cols:\n                at = item * t_batch",
            ),
            "tiles counted along rows": ("int32(part // tile_rows) * edge", "int32(part % tile_rows) * edge"),
        },
    ),
    *_breaks(
        "relayout",
        partial(test_relayout.test_on_every_schedule, "F-ld", "C-ld"),
        {
            "relayout without barrier": ("        cuda.syncthreads()\n", ""),
        },
    ),
    *_breaks(
        "relayout",
        _copies(),
        {
            "even relayout pitch": ("TILE + 1", "TILE"),
        },
        blind=True,
    ),
    *_breaks(
        "batch_tools",
        partial(test_batch_tools.test_pointers_step_through_the_batch, 300),
        {
            "pointers past the batch": ("if item < batch:", "if True:"),
        },
    ),
    *_breaks(
        "batch_tools",
        partial(test_batch_tools.test_failed_items_alone_become_nan, "float32", "F-ld"),
        {
            "regular items invalidated": ("info[item] > int32(0)", "info[item] >= int32(0)"),
        },
    ),
    *(broken for plan in (*GETRI, *CHOLESKY) for broken in _breaks(*plan)),
    *_breaks(
        "device.jit",
        _registers(),
        {
            "loops left rolled": (
                r"""calls = "".join(f"    body(int32({step}), {arguments})\n" for step in steps)""",
                r"""calls = f"    for k in {(*steps,) or 'range(0)'}:\n"""
                r"""        body(int32(k), {arguments})\n" """,
            ),
        },
    ),
    *(one for group in QR_BREAKS for one in _breaks(*group)),
)
