"""What is broken on purpose, and the test of the ordinary suite that must notice; why: docs/breaks.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from ..kernels import test_batch_tools, test_gesv_tiny, test_getrf_tiny, test_relayout, test_resources
from ..kernels.inputs import LARGEST, SMALLEST
from .mutation import Edit

__all__ = ["BREAKS", "Break"]

Check = Callable[[], None]
Edits = tuple[str, ...]

LU, ROWS, PIVOT, ARITHMETIC = "device.lu_rows", "device.rows", "device.pivot", "device.arithmetic"
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
    code = next(code for code in test_resources.shipped() if str(code) == "getrf_tiny-float32-32-32-False-0")
    return partial(test_resources.test_every_kernel_lives_in_registers, code)


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
)
