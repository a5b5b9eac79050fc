"""Wheels of a copy of the repository that has nothing built: `make wheel` puts the documentation in, pip alone leaves it out."""

import os
import sys
import tarfile
from pathlib import Path

import pytest

from tests.docs.pages import ROOT
from tests.flows.command import assert_one_message
from tests.installed import Install, install
from tests.installing.environments import ended_process

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the source distribution has, without a site."""
    folder = tmp_path_factory.mktemp("sources")
    built = ended_process([sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", folder], ROOT)
    assert built.status == 0, built.err
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        files.extractall(folder, [file for file in files if "/build/" not in file.name], filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


def test_pip_installs_a_copy_without_documentation(copy: Path, tmp_path: Path) -> None:
    install(copy, tmp_path / "site")
    installed = Install(tmp_path, tmp_path / "site", tmp_path / "none")
    assert_one_message(installed.run("docs"), "this install has no documentation", "run make wheel in a checkout")


def test_make_wheel_has_the_documentation(copy: Path, tmp_path: Path) -> None:
    # The copy gets no environment of its own: this one has all that is needed.
    has_all = (f"VENV={sys.prefix}", *(f"--old-file={sys.prefix}/{name}" for name in (".installed", ".installed-dev")))
    made = ended_process(["make", "wheel", *has_all], copy, PATH=os.environ["PATH"])
    assert made.status == 0, made.err
    (wheel,) = (copy / "dist").glob("moodflow-*.whl")
    install(wheel, tmp_path / "site")
    installed = Install(tmp_path, tmp_path / "site", tmp_path / "none")
    for page in ("failures", "reference/plan", "benchmarks/demo"):
        assert installed.run("docs", page).out == f"{tmp_path}/site/data/site/{page}.html\n"
        assert (tmp_path / "site" / "data" / "site" / page).with_suffix(".html").is_file()
