"""Breaks of the QR kernels: module, check, and by name old text and new text in turns."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from ..kernels import test_geqrf_panel, test_qr_apply, test_qr_tiny
from ..kernels.inputs import LARGEST

__all__ = ["QR_BREAKS"]

Group = tuple[str, partial[None], Mapping[str, tuple[str, ...]]]

REFLECTORS, TINY, PANEL, IO = "device.reflectors", "device.tiny_qr", "device.panel_qr", "device.column_io"
STACKED, SIDE_BY_SIDE = test_geqrf_panel.STACKED, test_geqrf_panel.SIDE_BY_SIDE


def _factors(dtype: str, shape: tuple[int, int] = (7, 6), layout: str = "F-ld") -> partial[None]:
    return partial(test_qr_tiny.test_factors_on_every_schedule, dtype, shape, layout)


def _lapack(dtype: str) -> partial[None]:
    return partial(test_qr_tiny.test_reflectors_are_those_of_lapack, dtype, (5, 8))


def _triangle() -> partial[None]:
    return partial(test_qr_tiny.test_a_triangle_is_its_own_factor, "float32")


def _vanishing() -> partial[None]:
    return partial(test_qr_tiny.test_squares_that_vanish, "float32", (7, 6))


def _scaled() -> partial[None]:
    return partial(test_qr_tiny.test_columns_may_be_scaled_apart, "float32")


def _q(dtype: str = "complex64") -> partial[None]:
    return partial(test_qr_tiny.test_columns_of_q, dtype, (7, 6), "F-ld")


def _panel(way: test_geqrf_panel.Way, shape: tuple[int, int]) -> partial[None]:
    return partial(test_geqrf_panel.test_factors_on_every_schedule, "float32", way, shape)


def _panel_vanishing() -> partial[None]:
    return partial(test_geqrf_panel.test_squares_that_vanish, "float32", STACKED, (19, 6))


def _applied(way: str) -> partial[None]:
    return partial(test_qr_apply.test_on_every_schedule, "complex64", way)


QR_BREAKS: Final[tuple[Group, ...]] = (
    (
        REFLECTORS,
        partial(test_qr_tiny.test_the_diagonal_has_the_other_sign, "float32"),
        {
            "beta of the same sign": (
                "beta = -math.copysign(size, alpha)",
                "beta = math.copysign(size, alpha)",
            ),
        },
    ),
    (
        REFLECTORS,
        partial(test_qr_tiny.test_a_complex_diagonal_becomes_real, "complex64"),
        {"imaginary part overlooked": ("return z.imag != 0", "return False")},
    ),
    (
        REFLECTORS,
        _lapack("complex64"),
        {
            "product unconjugated": (
                "re = cuda.fma(x.imag, a.imag,",
                "re = cuda.fma(-x.imag, a.imag,",
            ),
        },
    ),
    (
        REFLECTORS,
        _triangle(),
        {"vanished column reflected": ("select(exists, tau, none)", "tau")},
    ),
    (TINY, _lapack("complex64"), {"tau unconjugated": ("multiply(conjugate(tau), ", "multiply(tau, ")}),
    (
        TINY,
        _vanishing(),
        {
            "tiny squares trusted": ("cuda.any_sync(full, small)", "cuda.any_sync(full, False)"),
            "vanished squares are no column": (
                "some or (high | low) != zero",
                "some",
            ),
            "second scale forgotten in beta": ("beta * powers[DOWN]", "beta"),
        },
    ),
    (
        TINY,
        _scaled(),
        {"columns unscaled": ("power = scale(keys[0])", "power = one")},
    ),
    (
        TINY,
        partial(test_qr_tiny.test_powers_of_two_change_nothing, "float32", LARGEST),
        {
            "columns never scaled back": (
                "scales[BACK], scales[PULL] = invert(power), one",
                "scales[BACK], scales[PULL] = one, one",
            )
        },
    ),
    (
        TINY,
        _factors("float32"),
        {
            "one column mailbox": (
                "slot = uint32(base + uint32(j & one_step) * pitch)\n            if lane == j",
                "slot = base\n            if lane == j",
            ),
            "column without barrier": (
                "            cuda.syncwarp(full)\n            total",
                "            total",
            ),
            "finished columns reflected": (
                "if lane > j:\n            subtract(j, a, multiply",
                "if lane != j:\n            subtract(j, a, multiply",
            ),
        },
    ),
    (
        TINY,
        _q(),
        {
            "one mailbox of q": (
                "slot = uint32(base + uint32(j & int32(1)) * pitch)\n            if lane == j:\n"
                "                mailbox",
                "slot = base\n            if lane == j:\n                mailbox",
            ),
            "columns left of q's own": (
                "if lane > j:\n                w =",
                "if lane >= j:\n                w =",
            ),
            "q without vectors' ones": (
                "value(i, a, own, scales, lane), unit)",
                "value(i, a, own, scales, lane), zero)",
            ),
        },
    ),
    (
        IO,
        _factors("float32"),
        {
            "columns past n loaded for qr": ("min(c, int32(n - one))", "c"),
            "rows past m loaded for qr": ("min(r, int32(m - one))", "r"),
            "rows past m counted": ("select(r < m and c < n, source[at], zero)", "source[at]"),
            "columns past n stored for qr": ("if r < m and c < n:", "if r < m:"),
            "rows past m stored for qr": ("if r < m and c < n:", "if c < n:"),
            "tile read unwritten": ("        cuda.syncwarp(full)\n        take_all", "        take_all"),
        },
    ),
    (
        PANEL,
        _panel(STACKED, (19, 6)),
        {
            "one set of mailboxes": ("int32(int32(turn * groups) + group)", "group"),
            "one set of sums": ("int32(turn * int32(groups + one))", "int32(0)"),
            "rows above the panel's diagonal": ("(i <= u or i >= live)", "i >= live"),
            "rows done with": ("(i <= u or i >= live)", "i <= u"),
            "sums without barrier": (
                "            cuda.syncthreads()\n            total, squares",
                "            total, squares",
            ),
        },
    ),
    (
        PANEL,
        partial(test_geqrf_panel.test_every_shape, SIDE_BY_SIDE, (9, 3)),
        {"registers left turned": ("while uint32(turned % depth) != none:", "while False:")},
    ),
    (
        PANEL,
        _panel(SIDE_BY_SIDE, (18, 13)),
        {"mailbox read by groups beside": ("return meet_block if wide else meet_warp", "return meet_warp")},
    ),
    (
        PANEL,
        _panel_vanishing(),
        {
            "tiny squares trusted by a block": ("== fresh and below < least", "== fresh and False"),
            "low words of a block": ("uint32(high | min(low, one))", "zero"),
        },
    ),
    (
        "geqrf_tiny",
        partial(test_qr_tiny.test_spare_members_store_nothing, "F-ld"),
        {"spare members of qr store": ("width = n if item < batch else int32(0)", "width = n")},
    ),
    (
        "geqrf_tiny",
        partial(test_qr_tiny.test_a_complex_diagonal_becomes_real, "complex64"),
        {"last row without reflector": ('return 0 if np.dtype(dtype).kind == "c" else 1', "return 1")},
    ),
    (
        "qr_apply",
        _applied("L N"),
        {
            "vectors forward for q": ("step = select(backward != none, int32(-1), one)", "step = one"),
            "vector without its one": ("select(row == j, one, zero)", "zero"),
            "partial tile stored whole": ("int32(n - first_col)", "n"),
            "vector without barrier": (
                "            put(held, memory, mail, lane)\n            cuda.syncwarp(full)",
                "            put(held, memory, mail, lane)",
            ),
        },
    ),
    (
        "qr_apply",
        partial(test_qr_apply.test_widths_of_tiles, 32, "F-ld"),
        {"one set of sums of a tile": ("sums, next_sums = next_sums, sums", "pass")},
    ),
    (
        "qr_apply",
        _applied("L C"),
        {
            "weights unconjugated": (
                "conj_tau != none, conjugate(weight), weight",
                "conj_tau != none, weight, weight",
            )
        },
    ),
    (
        "qr_apply",
        _applied("R N"),
        {
            "vectors unconjugated": (
                "conj != int32(0), conjugate(value), value",
                "conj != int32(0), value, value",
            )
        },
    ),
    (
        "qr_apply",
        partial(test_qr_apply.test_from_the_identity, "float32", 19),
        {"vectors passed over too soon": ("min(k, int32(first_col + lanes))", "min(k, first_col)")},
    ),
    (
        "upper",
        partial(test_qr_apply.test_the_upper_triangle_alone_is_copied, 5, "F-ld"),
        {
            "below the diagonal copied": ("if i <= j:", "if True:"),
            "copies past the batch": ("if item < batch:", "if True:"),
        },
    ),
)
