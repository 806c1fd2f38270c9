"""Breaks of the Cholesky kernels: module, check, and what is changed, as `catalogue` has them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from ..kernels import test_posv_tiny, test_potrf_cta, test_potrf_tiny, test_potrs_cta, test_triangles
from ..kernels.cholesky import cta, lpanel

__all__ = ["PLANS"]

PLANS: Final[tuple[tuple[str, partial[None], Mapping[str, tuple[str, ...]]], ...]] = (
    (
        "device.cholesky_rows",
        partial(test_potrf_tiny.test_factors_on_every_schedule, "complex64", 5, "L", "F-ld"),
        {
            "Cholesky step without barrier": (
                "int32(first + uint32(j)))\n        cuda.syncwarp(full)",
                "int32(first + uint32(j)))",
            ),
            "rows of L not conjugated": (
                "conjugate(tile[start + uint32(k)], True)",
                "conjugate(tile[start + uint32(k)], False)",
            ),
            "last column not conjugated": (
                "conjugate(tile[start + uint32(j - 1)], True)",
                "conjugate(tile[start + uint32(j - 1)], False)",
            ),
            "lanes past n have pivots": ("live and not pivot > zero", "not pivot > zero"),
        },
    ),
    (
        "device.cholesky_rows",
        partial(test_potrf_tiny.test_nan_is_not_positive_and_stays_in_its_item, "float32", 5),
        {
            "NaN counts as positive": ("not pivot > zero", "pivot <= zero"),
        },
    ),
    (
        "device.cholesky_rows",
        partial(test_potrf_tiny.test_the_first_failure_counts, 9, "L", "F-ld"),
        {
            "last failure counts": (
                "cuda.ffs(uint32(failed >> first) & mask)",
                "32 - cuda.clz(uint32(failed >> first) & mask)",
            ),
        },
    ),
    (
        "device.triangle_rows",
        partial(test_potrf_tiny.test_factors_on_every_schedule, "complex64", 5, "L", "F-ld"),
        {
            "diagonal with an imaginary part": ("select(k == row, element(diagonal), rows[k])", "rows[k]"),
            "other triangle stored": ("if k <= row:\n            value", "if True:\n            value"),
        },
    ),
    (
        "device.triangle_rows",
        partial(test_potrf_tiny.test_factors_on_every_schedule, "complex64", 5, "L", "C-ld"),
        {
            "other triangle flushed": (
                "if uint32(uint32(i) - lane) < left:",
                "if uint32(i) < uint32(left + lane):",
            ),
        },
    ),
    (
        "potrf_tiny",
        partial(test_potrf_tiny.test_factors_on_every_schedule, "float32", 5, "L", "F-ld"),
        {
            "lanes past n store Cholesky rows": ("if valid and lane < n:", "if valid:"),
        },
    ),
    (
        "potrf_tiny",
        partial(test_potrf_tiny.test_spare_members_store_nothing, 5, "F-ld"),
        {
            "spare members store factors": ("if valid and lane < n:", "if lane < n:"),
        },
    ),
    (
        "posv_tiny",
        partial(test_posv_tiny.test_solutions_on_every_schedule, "complex64", 5, "U", "F-ld"),
        {
            "sides of the conjugate system": (
                "b[q] = conjugate(source[int32(offset + int32(column * col_stride))], conj)",
                "b[q] = source[int32(offset + int32(column * col_stride))]",
            ),
            "back substitution past n": (
                "above = select(uint32(j) < n, uint32(j), none)",
                "above = uint32(j)",
            ),
        },
    ),
    (
        "potrf_cta",
        partial(test_potrf_cta.test_every_schedule, cta),
        {
            "tiles solved before the diagonal": (
                "tiles, who, failed)\n            cuda.syncthreads()",
                "tiles, who, failed)",
            ),
            "tiles updated before they are solved": (
                "            solve(memory, inverses, at, j, tiles, who)\n            cuda.syncthreads()",
                "            solve(memory, inverses, at, j, tiles, who)",
            ),
        },
    ),
    (
        "potrf_cta",
        partial(test_potrf_cta.test_the_first_failure_counts, "L", cta),
        {
            "info within its tile": ("int32(uint32(failed) + uint32(j * width))", "failed"),
            "info of the last tile": (
                "if info == int32(0) and failed != int32(0):",
                "if failed != int32(0):",
            ),
        },
    ),
    (
        "device.triangle_tiles",
        partial(test_potrf_cta.test_factors_of_orders_at_the_edges, "float32", 33, cta),
        {
            "last tile not padded": ("select(row == column, one, zero)", "zero"),
            "other triangle of the tiles stored": (
                "if row < n and column <= row:\n            a",
                "if row < n and column < n:\n            a",
            ),
        },
    ),
    (
        "device.triangle_tiles",
        partial(test_potrf_cta.test_triangles_in_every_layout, "L", "F-ld", cta),
        {
            "product of tiles not conjugated": (
                "conjugate(memory[at + uint32(d)], True)",
                "conjugate(memory[at + uint32(d)], False)",
            ),
        },
    ),
    (
        "potrf_lpanel",
        partial(test_potrf_cta.test_every_schedule, lpanel(8)),
        {
            "slice overwritten": ("cuda.syncthreads()\n                stage(", "stage("),
            "slice read before it is there": (
                "slice_, row, threads)\n                cuda.syncthreads()",
                "slice_, row, threads)",
            ),
            "panel solved before the diagonal": (
                "factor(x, tile, inverses, status, p, lane, n)\n            cuda.syncthreads()",
                "factor(x, tile, inverses, status, p, lane, n)",
            ),
        },
    ),
    (
        "potrf_lpanel",
        partial(test_potrf_cta.test_the_first_failure_counts, "L", lpanel(8)),
        {
            "info within its panel": ("status[0] = int32(p + failed)", "status[0] = failed"),
            "info of the last panel": ("failed != int32(0) and status[0] == int32(0)", "failed != int32(0)"),
        },
    ),
    (
        "potrf_lpanel",
        partial(test_potrf_cta.test_factors_of_orders_at_the_edges, "float32", 33, lpanel(8)),
        {
            "rows past n fail": ("row < uint32(n - p)", "True"),
        },
    ),
    (
        "triangles",
        partial(
            test_triangles.test_a_block_comes_to_its_place_and_its_info_counts_from_there, "float32", "L"
        ),
        {
            "info of a later block": (
                "and info[item] == none and part[item] > none",
                "and part[item] > none",
            ),
            "block copied whole": ("if i >= j:", "if True:"),
        },
    ),
    (
        "triangles",
        partial(test_triangles.test_a_factor_alone_and_nan_where_it_failed, "float32", "L"),
        {
            "failed factors kept": ("if failed or i < j:", "if i < j:"),
        },
    ),
    (
        "potrs_cta",
        partial(test_potrs_cta.test_solutions_on_every_schedule, "complex64", "U", "C-ld"),
        {
            "sides of L^H unconjugated": (
                "n, True, who)\n            meet",
                "n, False, who)\n            meet",
            ),
            "conjugate matrix taken for the matrix": ("conj != none", "conj < none"),
            "L read twice": ("rows = select(back, int32(-col_stride), row_stride)", "rows = row_stride"),
            "sides of Cholesky overturned without barrier": ("            meet(who[2])\n", ""),
        },
    ),
    (
        "potrs_cta",
        partial(test_potrs_cta.test_a_warp_a_matrix, "complex64", "L", "F-ld"),
        {
            "triangle kept from its first element": (
                "select(staged, int32(last * int32(one + pitch)), zero)",
                "zero",
            ),
            "items past the batch solved by Cholesky": ("if item < batch:", "if item >= int64(0):"),
            "sides of a block of Cholesky aliased": ("int32(member * area), conj", "int32(0), conj"),
        },
    ),
    (
        "device.narrow_sides",
        partial(test_potrs_cta.test_a_warp_a_matrix, "complex64", "L", "F-ld"),
        {"middle side overlooked": ("int32(0 if permuted else 1)", "int32(0)")},
    ),
)
