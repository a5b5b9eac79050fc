"""What this process may use of the machine: cores and memory, with the limits of a container (cgroup version 2)."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Machine(NamedTuple):
    """Whole cores, 1 or more, and available memory."""

    cores: int
    memory_bytes: int


def read_machine(root: Path = Path("/")) -> Machine:
    """Cores and memory as they are now.

    Args:
        root: folder that has `proc` and `sys`.
    """
    groups = list(_groups(root))
    return Machine(
        cores=min([_allowed_cores(), *_quotas(groups)]),
        memory_bytes=max(0, min([_available_bytes(root), *_rooms(groups)])),
    )


def _allowed_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _available_bytes(root: Path) -> int:
    """What can be had without swapping; where the system does not say so, what is installed."""
    if text := _text(root / "proc" / "meminfo"):
        for line in text.splitlines():
            name, _, value = line.partition(":")
            if name == "MemAvailable":
                return int(value.split()[0]) * 1024
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _groups(root: Path) -> Iterator[Path]:
    """Folders of this process's control group and of those around it: each of their limits holds."""
    top = root / "sys" / "fs" / "cgroup"
    for line in (_text(root / "proc" / "self" / "cgroup") or "").splitlines():
        if line.startswith("0::/"):
            names = [name for name in line[4:].split("/") if name]
            # Seen from inside a container, a group may lie outside of what is mounted.
            depth = 0 if ".." in names else len(names)
            yield from (top.joinpath(*names[:length]) for length in range(depth + 1))


def _quotas(groups: list[Path]) -> Iterator[int]:
    """Whole cores: threads that share a fraction of one wait for each other."""
    for group in groups:
        quota, _, period = (_text(group / "cpu.max") or "max").partition(" ")
        if quota.strip() != "max":
            yield max(1, int(quota) // int(period))


def _rooms(groups: list[Path]) -> Iterator[int]:
    """Bytes to each limit. Cached files that have not been read again count as free: the kernel drops them first."""
    for group in groups:
        limit, used = _text(group / "memory.max"), _text(group / "memory.current")
        if limit is not None and used is not None and limit.strip() != "max":
            statistics = dict(line.split() for line in (_text(group / "memory.stat") or "").splitlines())
            yield int(limit) - int(used) + int(statistics.get("inactive_file", 0))


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="ascii")
    except OSError:
        return None
