"""What stands in place of a result that does not exist."""

from __future__ import annotations

from typing import Any

import numpy as np

from .dtypes import is_complex

__all__ = ["not_a_number"]


def not_a_number(dtype: str) -> Any:
    """NaN of a dtype; of a complex one, in both parts."""
    value = complex(np.nan, np.nan) if is_complex(dtype) else np.nan
    return np.dtype(dtype).type(value)
