"""Grids as typed on the command line: ``4:32``, ``4:32:4``, ``1024:131072:x2``, ``8,16,24``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from batchlas_py.dtypes import DTYPES, canonical_dtype
from batchlas_py.errors import ArgumentError
from batchlas_py.problem import Layout, Problem

__all__ = ["parse_dtypes", "parse_sizes", "parse_sizes_by_dtype", "problems"]

_ITEM = re.compile(r"(?P<first>\d+)(:(?P<last>\d+)(:(?P<times>x?)(?P<step>\d+))?)?")
_ACCEPTED = "accepted are positive sizes such as 4:32, 4:32:4, 1024:131072:x2 or 8,16,24"


def parse_sizes(text: str, argument: str) -> tuple[int, ...]:
    """Sizes of a comma-separated list of numbers and inclusive ranges.

    Parameters
    ----------
    text : str
        ``first:last``, ``first:last:step`` or ``first:last:xfactor``, or numbers, in any mixture.
    argument : str
        The option's name, for the error message.

    Returns
    -------
    tuple of int
        In the order written, each size once.
    """
    items = (_item(item.strip(), argument) for item in text.split(","))
    return tuple(dict.fromkeys(size for sizes in items for size in sizes))


def parse_sizes_by_dtype(text: str, dtypes: Iterable[str], argument: str) -> dict[str, tuple[int, ...]]:
    """Sizes by dtype: ``131072,complex128=65536`` gives complex128 a list of its own.

    Parameters
    ----------
    text : str
        As for `parse_sizes`; an item may start with ``dtype=``. A dtype that has such items takes
        only these, every other dtype takes the items without a name.
    dtypes : iterable of str
        The dtypes to answer for.
    argument : str
        The option's name, for the error message.

    Returns
    -------
    dict of str to tuple of int
    """
    items: dict[str, list[str]] = {}
    for item in text.split(","):
        name, equals, sizes = item.rpartition("=")
        items.setdefault(canonical_dtype(name.strip(), argument) if equals else "", []).append(sizes)
    return {dtype: _sizes_of(dtype, items, argument) for dtype in dtypes}


def parse_dtypes(text: str) -> tuple[str, ...]:
    """``"all"``, or a comma-separated list of dtypes."""
    if text.strip() == "all":
        return DTYPES
    return tuple(dict.fromkeys(canonical_dtype(name.strip()) for name in text.split(",")))


def problems(
    op: str,
    n: tuple[int, ...],
    batch: Mapping[str, tuple[int, ...]],
    nrhs: tuple[int, ...],
    layout: Layout,
    m: int = 0,
) -> Iterator[Problem]:
    """The grid dtype by dtype in the order of ``batch``'s keys; square problems, or such with m rows."""
    for dtype, batches in batch.items():
        for size in n:
            for columns in nrhs:
                for count in batches:
                    yield Problem(op, dtype, m or size, size, count, columns, layout=layout)


def _sizes_of(dtype: str, items: Mapping[str, list[str]], argument: str) -> tuple[int, ...]:
    chosen = items.get(dtype) or items.get("")
    if not chosen:
        raise ArgumentError(f"{argument}: no size for {dtype}; add one without a dtype in front")
    return parse_sizes(",".join(chosen), argument)


def _item(item: str, argument: str) -> Iterable[int]:
    match = _ITEM.fullmatch(item)
    sizes = _range(match) if match else ()
    if not sizes or min(sizes) < 1:
        raise ArgumentError(f"{argument}: got {item!r}, {_ACCEPTED}")
    return sizes


def _range(match: re.Match[str]) -> tuple[int, ...]:
    first, last = int(match["first"]), int(match["last"] or match["first"])
    step = int(match["step"] or 1)
    if match["times"]:
        return tuple(_powers(first, last, step))
    return tuple(range(first, last + 1, step)) if step else ()


def _powers(first: int, last: int, factor: int) -> Iterator[int]:
    while factor > 1 and 0 < first <= last:
        yield first
        first *= factor
