"""NumPy-shaped calls over batches, made of those of `lapack`."""

from __future__ import annotations

from .qr import QRResult, qr

__all__ = ["QRResult", "qr"]
