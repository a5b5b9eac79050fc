"""A key never reaches anything that is written, even if the server repeats it in errors and in its answers."""

import os
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

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


def test_a_marked_key_is_nowhere(started_prefect: PrefectServer, tmp_path: Path) -> None:
    faults: dict[int, Fault] = {0: "echo", 3: "echo", 5: "500", 6: "not_json"}
    home = started_prefect.new_home(tmp_path / "prefect")
    environment = {**os.environ, "MARKED_KEY": KEY, "PREFECT_HOME": str(home), "HOME": str(tmp_path)}
    environment.pop("PREFECT_API_URL", None)
    with Escaping(
        lambda _: f"B, and your key is {KEY}, {b64encode(KEY.encode()).decode()} or {KEY.encode().hex()}.", fault=faults.get
    ) as server:
        command = [sys.executable, "-c", ENTRY_POINT, "run", "moodbench-mini", "--model", "m", "--base-url", server.base_url]
        asked = ["--datasets", "mini_eq_test,mini_text_matching", "--api-key-env", "MARKED_KEY", "--set", "bootstrap=0"]
        ended = subprocess.run(
            [*command, *asked, "--lake", str(tmp_path / "lake"), "--json"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT_S,
        )
    assert {headers["Authorization"] for headers in server.headers} == {f"Bearer {KEY}"}
    assert '"raw_scores"' in ended.stdout
    files = list(written(tmp_path))
    # The run did write what it was answered: layers, journal, Prefect's database, report.
    assert {path.suffix for path, _ in files} >= {".parquet", ".sqlite", ".db", ".html", ".json", ".md"}
    assert any("your key is [key], [key] or [key]." in text for _, text in files)
    assert any("I was given [key] to use." in text for _, text in files)
    assert any("m of [key]" in text for path, text in files if path.suffix == ".parquet")
    # No part of it either, however it may be written.
    assert [path for path, text in files for part in MARKS if part in text] == []
    assert MARK not in ended.stdout + ended.stderr
