"""Device functions that kernels are made of."""
