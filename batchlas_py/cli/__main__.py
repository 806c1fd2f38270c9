"""``python -m batchlas_py.cli`` is ``batchlas``."""

from .app import main

main()
