"""Settings free of the machine's own."""

from __future__ import annotations

from ..lapack.conftest import default_settings

__all__ = ["default_settings"]
