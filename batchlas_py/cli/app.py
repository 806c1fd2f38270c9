"""The `batchlas` command. Each command's module is imported when that command is asked for."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from cyclopts import App

from .._version import __version__
from ..errors import BatchlasError

__all__ = ["app", "main"]

COMMANDS = {
    "info": "What runs here: devices, libraries, settings; and if CUDA cannot be used, why.",
    "explain": "Why a problem takes the route it takes; needs no GPU.",
    "warm": "Compile kernels into the cache, for any architecture and on any machine.",
    "demo": "Solve real systems of combustion chemistry and check the answers.",
    "bench": "Time routes against each other and against the roof.",
    "compare": "Which cells of two result files differ by more than noise.",
}

app = App(
    name="batchlas",
    help="Very many small dense systems at once: LAPACK, batched, on NVIDIA GPUs.",
    version=__version__,
)
for command, summary in COMMANDS.items():
    app.command(f"{__package__}.{command}:{command}", help=summary)


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the console script; an error of this package is one line, without a traceback."""
    try:
        app(arguments)
    except BatchlasError as error:
        sys.exit(f"batchlas: {error}")
