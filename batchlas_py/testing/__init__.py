"""What tests and benchmarks judge results by: an oracle, LAPACK's test ratios, LAPACK's test matrices."""
