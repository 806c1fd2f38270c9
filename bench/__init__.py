"""Benchmarks, the tuner, and the real systems that the demonstration solves."""
