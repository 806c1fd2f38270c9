"""Routing: which family runs a problem, and why."""
