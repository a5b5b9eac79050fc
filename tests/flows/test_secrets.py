"""A key never reaches anything that is written, even if the server repeats it in errors and in its answers."""

import os
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.flows.command import ask_all, ended
from tests.flows.served import ENTRY_POINT, LIMIT_S
from tests.model_server import Fault, ModelServer
from tests.prefect_server import PrefectServer

MARK = "SECRET4711"
KEY = f"sk-{MARK}/abc+def=="
"""With characters that JSON may write in other ways, too."""

MARKS = (MARK, MARK.encode().hex(), *(b64encode(bytes(place) + MARK.encode()).decode()[4:12] for place in range(3)))
"""It in hexadecimal and, wherever it begins, in base64, too."""


class Escaping(ModelServer):
    """Repeats the key in every text of an answer, written as JSON allows: `/` as `\\/` and `+` as `\\u002b`."""

    def choice(self, model: str | None, *, message: dict[str, Any], finish_reason: str = "stop", logprobs: Any = None) -> bytes:
        thought = {**message, "reasoning_content": f"I was given {KEY} to use."}
        body = super().choice(f"{model} of {KEY}", message=thought, finish_reason=finish_reason, logprobs=logprobs)
        return body.replace(b"/", rb"\/").replace(b"+", rb"\u002b")


def written(folder: Path) -> Iterator[tuple[Path, str]]:
    """Every file below a folder as text; Parquet, which compresses, as its rows and its footer."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path, path.read_bytes().decode("utf-8", "replace")
            if path.suffix == ".parquet":
                yield path, pl.read_parquet(path, hive_partitioning=False).write_ndjson()
                yield path, str(pl.read_parquet_metadata(path))


def escaping() -> Escaping:
    faults: dict[int, Fault] = {0: "echo", 3: "echo", 5: "500", 6: "not_json"}
    encoded = f"{b64encode(KEY.encode()).decode()} or {KEY.encode().hex()}"
    return Escaping(lambda _: f"B, and your key is {KEY}, {encoded}.", fault=faults.get)


BEARER = ("--api-key-env", "MARKED_KEY")
AZURE = (
    "--set",
    "models.headers_env={api-key: MARKED_KEY}",
    "--set",
    "models.query_env=code=MARKED_KEY",
    "--set",
    "models.query=v=1",
)


def options(server: ModelServer, folder: Path, sent: tuple[str, ...] = BEARER) -> list[str]:
    asked = ["--datasets", "mini_eq_test", *sent, "--set", "bootstrap=0"]
    model = ["--model", "m", "--base-url", server.base_url]
    return ["moodbench-mini", *model, *asked, "--lake", str(folder / "lake"), "--json"]


def test_a_marked_key_is_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARKED_KEY", KEY)
    with escaping() as server:
        done = ended("run", *options(server, tmp_path))
    assert {headers["Authorization"] for headers in server.headers} == {f"Bearer {KEY}"}
    assert_scored_nowhere(tmp_path, done.out, done.err)


def test_a_marked_key_in_header_and_query_is_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However it is sent, what the server repeats is rewritten before it is stored, and the report is made of what is stored."""
    monkeypatch.setenv("MARKED_KEY", KEY)
    with escaping() as server:
        done = ask_all(*options(server, tmp_path, AZURE))
    assert {headers["api-key"] for headers in server.headers} == {KEY}
    assert_nowhere(tmp_path, done.out, done.err)


@pytest.mark.long
def test_prefect_writes_no_marked_key(started_prefect: PrefectServer, tmp_path: Path) -> None:
    home = started_prefect.new_home(tmp_path / "prefect")
    environment = {**os.environ, "MARKED_KEY": KEY, "PREFECT_HOME": str(home), "HOME": str(tmp_path)}
    environment.pop("PREFECT_API_URL", None)
    with escaping() as server:
        program = [sys.executable, "-c", ENTRY_POINT, "run", *options(server, tmp_path)]
        done = subprocess.run(program, env=environment, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    assert {headers["Authorization"] for headers in server.headers} == {f"Bearer {KEY}"}
    assert_scored_nowhere(tmp_path, done.stdout, done.stderr)
    assert list(home.glob("*.db"))


def assert_scored_nowhere(folder: Path, out: str, err: str) -> None:
    assert '"raw_scores"' in out
    assert {path.suffix for path in folder.rglob("*")} >= {".html", ".json", ".md"}
    assert_nowhere(folder, out, err)


def assert_nowhere(folder: Path, out: str, err: str) -> None:
    files = list(written(folder))
    # What was answered is written: layers, journal, and a report if there is one.
    assert {path.suffix for path, _ in files} >= {".parquet", ".sqlite"}
    assert any("your key is [key], [key] or [key]." in text for _, text in files)
    assert any("I was given [key] to use." in text for _, text in files)
    assert any("m of [key]" in text for path, text in files if path.suffix == ".parquet")
    # No part of it either, however it may be written.
    assert [path for path, text in files for part in MARKS if part in text] == []
    assert MARK not in out + err
