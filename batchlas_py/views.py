"""Strided batches of matrices: the only array type that ops, kernels and vendor calls see."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .dtypes import itemsize

if TYPE_CHECKING:
    import numpy as np

    from .problem import Layout


class BatchView(NamedTuple):
    """A batch of ``rows x cols`` matrices at ``ptr``; strides count elements.

    Attributes
    ----------
    ptr : int
        Address of element (0, 0, 0), on the device or on the host.
    dtype : str
        NumPy name of the element type (``"int32"`` for pivots and info).
    batch, rows, cols : int
        Extents. A vector per item has ``cols == 1``, a scalar per item also ``rows == 1``.
    batch_stride, row_stride, col_stride : int
        Distance, in elements, to the next matrix, row and column.
    array : numpy.ndarray or None
        On the host backend the same data as an array of shape (batch, rows, cols).
    """

    ptr: int
    dtype: str
    batch: int
    rows: int
    cols: int
    batch_stride: int
    row_stride: int
    col_stride: int
    array: np.ndarray | None = None

    @property
    def layout(self) -> Layout:
        """``"F"``, ``"C"`` or ``"strided"``; what is both, such as one column, counts as ``"F"``."""
        if _dense(self.rows, self.row_stride, self.cols, self.col_stride):
            return "F"
        return "C" if _dense(self.cols, self.col_stride, self.rows, self.row_stride) else "strided"

    @property
    def ld(self) -> int:
        """Leading dimension of a column-major (``"F"``) or row-major (``"C"``) batch."""
        if self.layout == "F":
            return max(self.col_stride if self.cols > 1 else 0, self.rows, 1)
        return max(self.row_stride if self.rows > 1 else 0, self.cols, 1)


def transposed(view: BatchView) -> BatchView:
    """The transposes of a batch's matrices, at the same place."""
    return view._replace(
        rows=view.cols, cols=view.rows, row_stride=view.col_stride, col_stride=view.row_stride
    )


def block(view: BatchView, rows: slice, cols: slice) -> BatchView:
    """Rows and columns ``start`` to ``stop`` of a batch's matrices on the device, at their place."""
    first = rows.start * view.row_stride + cols.start * view.col_stride
    return view._replace(
        ptr=view.ptr + itemsize(view.dtype) * first, rows=rows.stop - rows.start, cols=cols.stop - cols.start
    )


def _dense(inner: int, inner_stride: int, outer: int, outer_stride: int) -> bool:
    """Whether the inner dimension has unit stride and the outer one steps over it."""
    return (inner <= 1 or inner_stride == 1) and (outer <= 1 or outer_stride >= inner)
