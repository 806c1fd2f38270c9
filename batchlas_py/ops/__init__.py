"""LAPACK operations: their families, capabilities and launchers."""
