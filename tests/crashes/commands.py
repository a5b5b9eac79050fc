"""The real command in processes of its own, and what it left behind in its lake."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from prefect.settings import PREFECT_API_AUTH_STRING

from schemas.lineage import CodeVersion, PartitionRef
from schemas.tables.layers import AGGREGATED, LAYERS
from tasks.lake.lake import Lake
from tests.flows.command import Ended, ended
from tests.flows.scripted import policy
from tests.flows.served import ENTRY_POINT, LIMIT_S, ROOT
from tests.model_server import ModelServer

DATASETS = ("mini_user_safety", "mini_text_matching", "mini_summarization", "mini_eq_test", "mini_sequence_order_recall")
CALLS = 52
"""8 + 8 + 8 + 12 + 8 items, and a rating of each of the 8 summaries."""

MANY_DATASETS = (
    *DATASETS,
    *("mini_bias_detection", "mini_commonsense_qa", "mini_complex_logical_reasoning", "mini_content_safety"),
    *("mini_daily_scenario_qa", "mini_coreference_resolution", "mini_emotion_cause_analysis", "mini_irony_detection"),
    *("mini_morality_detection", "mini_metaphor_detection", "mini_physical_commonsense", "mini_sentiment_polarity"),
    "mini_textual_entailment",
)

CONCURRENCY = 4
WRITTEN = ("items", "responses", "answers", "judgements", "item_scores", "dimension_scores", *AGGREGATED)
"""Layers of a run without long contexts."""


class Gold:
    """A perfect model and a content judge; counts its answers just before they are sent."""

    def __init__(self, datasets: tuple[str, ...]) -> None:
        self._reply = policy(datasets, "gold")
        self._lock = threading.Lock()
        self.answers = 0

    def __call__(self, messages: list[dict[str, str]]) -> str:
        with self._lock:
            self.answers += 1
        return self._reply(messages)


OBEDIENT = ("setpriv", "--bounding-set", "-dac_override") if os.geteuid() == 0 else ()
"""Runs a command for which file permissions hold, though it is root's."""


def server_variables(prefect_server: str) -> dict[str, str]:
    """Variables by which a process uses the Prefect server of the tests."""
    server = {"PREFECT_API_URL": prefect_server, "PREFECT_API_AUTH_STRING": PREFECT_API_AUTH_STRING.value()}
    return {**server, "PREFECT_LOGGING_TO_API_ENABLED": "false"}


def start(arguments: Sequence[str], prefect_server: str, limits: Sequence[str] = ()) -> subprocess.Popen[str]:
    """Start `moodflow` with a Prefect server; `limits`: a program, with its options, that runs it under limits."""
    return subprocess.Popen(
        [*limits, sys.executable, "-c", ENTRY_POINT, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **server_variables(prefect_server)},
        cwd=ROOT,
    )


@dataclass(frozen=True)
class Bench:
    """A model server that also judges, and the Prefect server the commands use."""

    server: ModelServer
    prefect_server: str

    def start(self, lake: Path, *, limits: Sequence[str] = (), **options: Any) -> subprocess.Popen[str]:
        """Start `moodflow run` on a lake."""
        return start(self._arguments(lake, **options), self.prefect_server, limits)

    def _arguments(self, lake: Path, *, datasets: Sequence[str] = DATASETS, concurrency: int = CONCURRENCY) -> list[str]:
        url = self.server.base_url
        models = ["--model", "scripted", "--base-url", url, "--judge", "scripted", "--judge-base-url", url]
        few = ["--datasets", ",".join(datasets), "--concurrency", str(concurrency)]
        return ["run", "moodbench-mini", *models, *few, "--lake", str(lake), "--json"]

    def run(self, lake: Path, **options: Any) -> Ended:
        return end_of(self.start(lake, **options))

    def run_here(self, lake: Path) -> Ended:
        """Run it in this process, which has imported what a new one takes seconds for."""
        return ended(*self._arguments(lake))


def end_of(process: subprocess.Popen[str]) -> Ended:
    try:
        out, err = process.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return Ended(process.returncode, out, err)


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def kept_replies(lake: Path, copy: Path) -> int:
    """Replies in the journal, whose integrity is checked; in a copy, so that the next run finds what a crash left."""
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir(parents=True)
    for file in (lake / "journal").glob("replies.sqlite*"):
        shutil.copy(file, copy)
    with closing(sqlite3.connect(copy / "replies.sqlite")) as journal:
        assert journal.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        begun = journal.execute("SELECT 1 FROM sqlite_master WHERE name = 'replies'").fetchone()
        return int(journal.execute("SELECT count(*) FROM replies").fetchone()[0]) if begun else 0


def partitions(folder: Path) -> dict[str, str]:
    """Path -> hash of the rows, without measured columns, of every partition, each read, validated and hashed again."""
    lake = Lake(folder, CodeVersion("test", None))
    found = {}
    for path in sorted(path for layer in layers(folder) for path in (folder / layer).rglob("*.parquet")):
        footer = json.loads(pl.read_parquet_metadata(path)["moodflow"])
        ref = PartitionRef.model_validate(footer["partition"])
        assert ref.path == path.relative_to(folder).as_posix()
        lake.read(ref, LAYERS[ref.layer].schema)
        found[ref.path] = ref.content_sha256
    return found


def layers(folder: Path) -> set[str]:
    """Names of the layers that have files; the tables of a run are in none."""
    return {path.relative_to(folder).parts[0] for path in folder.rglob("*.parquet")} - {"runs"}


def unfinished(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.tmp"))
