"""Libraries of others: cuBLAS through nvmath-python, LAPACK through SciPy."""
