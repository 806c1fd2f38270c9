"""The edge of the package: arrays and streams of other libraries."""
