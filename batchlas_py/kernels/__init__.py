"""Kernels: factories of `cuda.jit` functions, one module a family; `specs` says how they are specialised."""
