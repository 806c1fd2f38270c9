"""The command line: ``batchlas info``, ``explain``, ``warm``, ``demo`` and ``bench``."""
