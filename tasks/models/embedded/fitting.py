"""Fit the size of the embedded model server to the cores and memory of a machine or container (cgroup version 2).

Measured with xllamacpp 2026.10 and SmolLM2-135M on 2 cores. Memory of the server's process, nothing asked yet:

    slots x tokens   1 x 2048   4 x 2048   1 x 8192   2 x 8192   4 x 8192   8 x 8192
    MiB                   193        329        328        508        869      1,590

That is 150 MiB and 22.5 KiB per token (30 layers, 3 heads of 64 keys and 64 values in 2 bytes each: 23,040 bytes), all of it
taken at the start. Four prompts of 4,000 tokens at once add 25 MiB. A core needs this long for one token of a reply, on an idle
machine, and next to about four other busy processes (replies of 24 tokens, their short prompts included):

    slots         1     2     4     8    16
    ms, idle     17     -    11    10     -
    ms, busy     34    25    21    15    14

Prompts cost the same in 1, 2 and 4 slots. Beyond 2 cores nothing was measured: two slots per core is an extrapolation.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from schemas.errors import EndpointError

MIB = 2**20

SLOTS = 4
"""What pays on up to two cores; on idle ones, four more save a tenth of the time and cost 720 MiB."""

SLOTS_PER_THREAD = 2

MOST_SLOT_TOKENS = 8192
"""What the model was trained on. Chinese texts of the real datasets need it: their characters take two or three tokens each."""

LEAST_SLOT_TOKENS = 2048
"""Most items of the datasets fit; with less a run would be mostly failures."""

MOST_THREADS = 8
"""A model this small keeps few cores busy; the others would wait at barriers."""

TOKEN_BYTES = 23_040
FIXED_BYTES = 200 * MIB
"""150 MiB at the start and 25 MiB under load as measured, and 25 MiB to spare."""

SHARE = 2
"""The server gets one part in two of the memory available; the run that asks it needs the other."""

BLOCK = 256
"""llama.cpp rounds a context up to a multiple of this."""


@dataclass(frozen=True)
class ServerSize:
    """How much of the machine the server takes."""

    slots: int
    """Calls answered at once."""

    slot_tokens: int
    """Longest prompt and reply of one call together."""

    threads: int


def fit_server(cores: int, memory_bytes: int) -> ServerSize:
    """Choose the size of the embedded server for whole cores and the bytes of memory that are available, not installed.

    Fewer slots cost only time, a shorter context fails longer items: it is shortened only when one slot is left. EndpointError:
    the memory does not hold one slot of LEAST_SLOT_TOKENS.
    """
    threads = min(cores, MOST_THREADS)
    tokens = (memory_bytes // SHARE - FIXED_BYTES) // TOKEN_BYTES
    if slots := max(0, tokens) // MOST_SLOT_TOKENS:
        return ServerSize(min(slots, max(SLOTS, SLOTS_PER_THREAD * threads)), MOST_SLOT_TOKENS, threads)
    slot_tokens = tokens // BLOCK * BLOCK
    if slot_tokens < LEAST_SLOT_TOKENS:
        needed = (FIXED_BYTES + LEAST_SLOT_TOKENS * TOKEN_BYTES) * SHARE
        raise EndpointError(
            "there is not enough memory for the embedded model server",
            where="this machine, or the limit of its container",
            expected=f"{-(-needed // MIB)} MiB available, half of them for the server",
            got=f"{memory_bytes // MIB} MiB",
            next_step="free memory, or use a server with --base-url",
        )
    return ServerSize(1, slot_tokens, threads)


def read_machine(root: Path = Path("/")) -> tuple[int, int]:
    """Read the whole cores, 1 or more, and the bytes of memory that this process may use now; `root` has `proc` and `sys`."""
    groups = list(_groups(root))
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    free = min([psutil.virtual_memory().available, *_free_bytes(groups)])
    return min([allowed, *_quotas(groups)]), max(0, free)


def _groups(root: Path) -> Iterator[Path]:
    """Yield the folders of this process's control group and of those around it: each of their limits holds."""
    top = root / "sys" / "fs" / "cgroup"
    for line in (_text(root / "proc" / "self" / "cgroup") or "").splitlines():
        if line.startswith("0::/"):
            names = [name for name in line[4:].split("/") if name]
            # Seen from inside a container, a group may lie outside of what is mounted.
            depth = 0 if ".." in names else len(names)
            yield from (top.joinpath(*names[:length]) for length in range(depth + 1))


def _quotas(groups: list[Path]) -> Iterator[int]:
    """Yield the whole cores of each limit: threads that share a fraction of one wait for each other."""
    for group in groups:
        quota, _, period = (_text(group / "cpu.max") or "max").partition(" ")
        if quota.strip() != "max":
            yield max(1, int(quota) // int(period))


def _free_bytes(groups: list[Path]) -> Iterator[int]:
    """Yield the bytes to each limit. Cached files that have not been read again are free: the kernel drops them first."""
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
