"""Every command with parameters of any kind: it ends with 0, 1 or 2, and says why without a traceback."""

import resource
from collections.abc import Iterator
from shutil import copytree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flows.commands import models, stages, view
from flows.service import session
from schemas.errors import EndpointError
from tests.flows.command import all_commands, ended
from tests.flows.commands.past_runs import past_runs

ODD = (
    *("", ".", "x" * 5000, "\0", "\udcff", "9" * 5000, "汉" * 120, "-1", "0", "nan", "1e999", str(2**63), "[/bold]", "\x1b[31m"),
    *("{a: [", "*a", "[" * 99, "s3://", "http://[", "%00", "\n", "a=b", "models.0.name=", "seed=1e9", "null", "runs", "items"),
    *("smollm2", "moodbench-mini", "mini_eq_test", "base,rag", "plan.yaml", "http://localhost:9/v1", "openai", "judge={name: 1}"),
)
VALUES = st.one_of(st.sampled_from(ODD), st.text(max_size=30), st.integers().map(str), st.floats().map(str)).filter(
    lambda text: ".." not in text and not text.startswith(("/", "~"))  # the machine's own files are no lake
)
FILES = {"plan.yaml": "seed: [", "items": "{", "runs": "\0"}


COMMANDS = all_commands()


@st.composite
def invocations(draw: st.DrawFn) -> list[str]:
    path, command = draw(st.sampled_from(COMMANDS))
    words = [*path, *(["--offline"] if path == ("datasets", "check") else [])]
    options = [one for one in command.params if one.param_type_name == "option"]
    for option in draw(st.lists(st.sampled_from(options), max_size=4)) if options else ():
        words += [draw(st.sampled_from(option.opts)), *([] if getattr(option, "is_flag", False) else [draw(VALUES)])]
    return words + [draw(VALUES) for one in command.params if one.param_type_name == "argument" and draw(st.integers(0, 9))]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A lake in the current folder, and nothing that a command may start."""
    folder = tmp_path_factory.mktemp("fuzzed")
    copytree(past_runs(tmp_path_factory.getbasetemp()).lake, folder / "parquet")
    for name, text in FILES.items():
        (folder / name).write_text(text)

    async def no_probe(*_: object) -> None:
        raise EndpointError("nothing is asked here", next_step="none")

    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        patched.setattr(stages, "execute", lambda *_, **__: None)
        patched.setattr(session, "serve_session", lambda *_: 0)
        patched.setattr(models, "_probe", no_probe)
        patched.setattr(view, "serve_pages", lambda *_, **__: None)
        yield


@pytest.mark.usefixtures("lake")
@pytest.mark.parametrize("examples", [25, pytest.param(1000, marks=pytest.mark.long)])
def test_a_command_with_any_parameters(examples: int) -> None:
    @settings(max_examples=examples, suppress_health_check=list(HealthCheck), database=None)
    @given(invocations())
    def any_command(words: list[str]) -> None:
        done = ended(*words)
        assert done.status in {0, 1, 2}
        assert "Traceback" not in done.err
        assert done.status != 2 or done.err

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    any_command()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**20  # KiB
