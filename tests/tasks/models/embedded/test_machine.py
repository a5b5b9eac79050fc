"""Cores and memory, read from folders laid out as Linux does."""

import os
from pathlib import Path

import pytest

from tasks.models.embedded.machine import read_machine

GIB = 2**30


@pytest.fixture(autouse=True)
def eight_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)


def lay_out(root: Path, **texts: str) -> Path:
    """Write files of text; `__` in a name stands for a slash."""
    for name, text in {"proc__meminfo": "MemTotal:  16777216 kB\nMemAvailable:  8388608 kB\n", **texts}.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="ascii")
    return root


def limit(folder: Path, **texts: str) -> None:
    """Write a control group's files; `_` in a name stands for its dot."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name.replace("_", ".", 1)).write_text(text, encoding="ascii")


def test_without_limits_it_is_the_machine(tmp_path: Path) -> None:
    assert read_machine(lay_out(tmp_path)) == (8, 8 * GIB)


def test_the_limits_of_a_container_hold(tmp_path: Path) -> None:
    top = lay_out(tmp_path, proc__self__cgroup="0::/\n") / "sys/fs/cgroup"
    limit(top, cpu_max="250000 100000\n", memory_max=f"{4 * GIB}\n", memory_current=f"{3 * GIB}\n")
    # 2.5 cores are 2 whole ones; 4 GiB less 3 GiB used, of which half a GiB is cached files.
    limit(top, memory_stat=f"anon 1\ninactive_file {GIB // 2}\n")
    assert read_machine(tmp_path) == (2, 3 * GIB // 2)


def test_the_narrowest_of_nested_groups_counts(tmp_path: Path) -> None:
    top = lay_out(tmp_path, proc__self__cgroup="1:cpu:/old\n0::/user.slice/job\n") / "sys/fs/cgroup"
    limit(top / "user.slice", cpu_max="50000 100000", memory_max="max", memory_current=f"{3 * GIB}")
    limit(top / "user.slice/job", cpu_max="max 100000", memory_max=f"{2 * GIB}", memory_current=f"{5 * GIB // 2}")
    limit(top / "other", cpu_max="10000 100000", memory_max="1", memory_current="1")
    # Half a core still is one thread; a group that is over its limit has nothing left.
    assert read_machine(tmp_path) == (1, 0)


def test_a_group_outside_of_what_is_mounted_is_looked_for_at_the_top(tmp_path: Path) -> None:
    top = lay_out(tmp_path, proc__self__cgroup="0::/../neighbour\n") / "sys/fs/cgroup"
    limit(top, cpu_max="300000 100000")
    assert read_machine(tmp_path) == (3, 8 * GIB)


def test_where_the_system_does_not_say_what_is_available_it_is_what_is_installed(tmp_path: Path) -> None:
    assert read_machine(tmp_path).memory_bytes == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
