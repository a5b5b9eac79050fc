"""What a machine gets, worked out by hand: 200 MiB fixed and 23,040 bytes per token, out of half the memory available."""

import os
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from schemas.errors import EndpointError
from tasks.models.embedded.fitting import MIB, ServerSize, fit_server, read_machine

GIB = 1024 * MIB
SLOT = 180 * MIB
"""8192 tokens of 23,040 bytes: 188,743,680 bytes = 180 MiB."""


@pytest.mark.parametrize(
    ("cores", "memory_bytes", "size"),
    [
        (1, 24 * GIB, ServerSize(slots=4, slot_tokens=8192, threads=1)),
        # More threads than 8 do not help, and slots follow threads.
        (64, 512 * GIB, ServerSize(slots=16, slot_tokens=8192, threads=8)),
        # 2 x (200 + 4 x 180) MiB = 1840 MiB hold four slots; with a byte less there are three, of the same length.
        (2, 1840 * MIB, ServerSize(slots=4, slot_tokens=8192, threads=2)),
        (2, 1840 * MIB - 1, ServerSize(slots=3, slot_tokens=8192, threads=2)),
        (2, 2 * (200 * MIB + SLOT), ServerSize(slots=1, slot_tokens=8192, threads=2)),
        # Half of 600 MiB less 200 MiB = 104,857,600 bytes = 4551.1 tokens, of which 17 x 256 are used.
        (2, 600 * MIB, ServerSize(slots=1, slot_tokens=4352, threads=2)),
        # 2 x (200 + 45) MiB hold one slot of 2048 tokens.
        (2, 490 * MIB, ServerSize(slots=1, slot_tokens=2048, threads=2)),
    ],
)
def test_slots_follow_cores_and_context_is_shortened_last(cores: int, memory_bytes: int, size: ServerSize) -> None:
    assert fit_server(cores, memory_bytes) == size


@pytest.mark.parametrize(("memory_bytes", "got"), [(490 * MIB - 1, "489 MiB"), (0, "0 MiB")])
def test_too_little_memory_names_the_need(memory_bytes: int, got: str) -> None:
    with pytest.raises(EndpointError, match="not enough memory for the embedded") as caught:
        fit_server(2, memory_bytes)
    assert caught.value.expected == "490 MiB available, half of them for the server"
    assert caught.value.got == got


@pytest.fixture(autouse=True)
def eight_cores_and_gib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=8 * GIB))


def limit(folder: Path, **texts: str) -> None:
    """Write a control group's files; `_` in a name stands for its dot."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name.replace("_", ".", 1)).write_text(text, encoding="ascii")


def top_group(root: Path, groups: str) -> Path:
    """Write the control groups of this process, and return the folder of the top group."""
    limit(root / "proc/self", cgroup=groups)
    return root / "sys/fs/cgroup"


def test_machine_counts_without_limits(tmp_path: Path) -> None:
    assert read_machine(tmp_path) == (8, 8 * GIB)


def test_limits_of_a_container_hold(tmp_path: Path) -> None:
    top = top_group(tmp_path, "0::/\n")
    limit(top, cpu_max="250000 100000\n", memory_max=f"{4 * GIB}\n", memory_current=f"{3 * GIB}\n")
    # 2.5 cores are 2 whole ones; 4 GiB less 3 GiB used, of which half a GiB is cached files.
    limit(top, memory_stat=f"anon 1\ninactive_file {GIB // 2}\n")
    assert read_machine(tmp_path) == (2, 3 * GIB // 2)


def test_narrowest_of_nested_groups_counts(tmp_path: Path) -> None:
    top = top_group(tmp_path, "1:cpu:/old\n0::/user.slice/job\n")
    limit(top / "user.slice", cpu_max="50000 100000", memory_max="max", memory_current=f"{3 * GIB}")
    limit(top / "user.slice/job", cpu_max="max 100000", memory_max=f"{2 * GIB}", memory_current=f"{5 * GIB // 2}")
    limit(top / "other", cpu_max="10000 100000", memory_max="1", memory_current="1")
    # Half a core still is one thread; a group that is over its limit has nothing left.
    assert read_machine(tmp_path) == (1, 0)


def test_group_outside_mount_is_the_top(tmp_path: Path) -> None:
    top = top_group(tmp_path, "0::/../neighbour\n")
    limit(top, cpu_max="300000 100000")
    assert read_machine(tmp_path) == (3, 8 * GIB)
