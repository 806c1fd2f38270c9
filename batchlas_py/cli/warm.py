"""``batchlas warm``: compile the shipped kernels into the cache."""

from __future__ import annotations

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from .. import config
from ..errors import ArgumentError
from ..ops.catalogue import catalogue
from ..runtime.device import cuda_unavailable, describe_device
from ..runtime.warm import FamilyReport, Target
from ..runtime.warm import warm as fill

__all__ = ["warm"]


def warm(*, arch: str = "", families: str = "", jobs: int = 0) -> None:
    """Compile kernels for an architecture; needs the compiler, but no GPU.

    Parameters
    ----------
    arch : str
        Comma-separated, such as ``sm_90,sm_89``; by default that of the current device.
    families : str
        Comma-separated names from the report's first column; by default all.
    jobs : int
        Processes; by default one a core.
    """
    archs = _archs(arch)
    chosen = _chosen(families, archs)
    console = Console(highlight=False)
    with Progress(console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task("compiling", total=sum(map(len, chosen.values())))
        reports = fill(chosen, jobs=jobs or None, progress=lambda: bar.advance(task))
    console.print(_table(reports, archs))
    console.print(f"cache: {config.current().cache_dir}", markup=False, soft_wrap=True)


def _archs(text: str) -> tuple[str, ...]:
    if text:
        return tuple(text.split(","))
    if cuda_unavailable():
        raise ArgumentError(f"arch: none given and no device to ask ({cuda_unavailable()}); say --arch sm_90")
    return (describe_device().arch,)


def _chosen(text: str, archs: tuple[str, ...]) -> dict[str, list[Target]]:
    known = list(catalogue(archs[0]))
    names = text.split(",") if text else known
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ArgumentError(f"families: got {', '.join(unknown)}, accepted are {', '.join(known)}")
    return {name: [(source, arch) for arch in archs for source in catalogue(arch)[name]] for name in names}


def _table(reports: dict[str, FamilyReport], archs: tuple[str, ...]) -> Table:
    table = Table(title=f"Kernels for {', '.join(archs)}", title_justify="left")
    for column in ("family", "kernels", "compile s", "longest s", "cubin KiB"):
        table.add_column(column, justify="left" if column == "family" else "right")
    for name, one in reports.items():
        table.add_row(
            name,
            str(one.kernels),
            f"{one.seconds:.1f}",
            f"{one.longest:.1f}",
            f"{one.cubin_bytes / 1024:.0f}",
        )
    return table
