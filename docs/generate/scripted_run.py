"""A run of scripted models over the bundled items of MoodBench: for the pictures, and for the run to click through.

A model `scripted-75` knows the gold of every item and gives it in 75 of 100 replies, by the hash of the prompt, and a wrong one
otherwise; one of them judges. No weights, no network.
"""

import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from zlib import crc32

from tasks.scoring.blueprints import load_blueprint
from tests.flows.scripted import Policy, policy
from tests.model_server import ModelServer

BENCHMARK, JUDGE = "moodbench-mini", "judge"
Command = Callable[[list[str]], None]
"""The command `moodflow`, from its arguments."""

SHOWN, ITEMS, WRONG_ROWS = (90, 70, 40), 4, 60
"""Models of the run to click through, items of each dataset, and wrong rows that have a page."""


def reply_in_part(quality: int, good: Policy, bad: Policy, messages: list[dict[str, str]]) -> str:
    """Return the right reply to as many of 100 prompts as the quality says."""
    drawn = crc32(f"{quality} {json.dumps(messages, ensure_ascii=False)}".encode()) % 100
    return (good if drawn < quality else bad)(messages)


def run_models(folder: Path, qualities: Sequence[int], *options: str) -> Command:
    """Run the models into the lake `folder / "lake"`, and return the command, which has no Prefect but this run's."""
    os.environ["PREFECT_HOME"] = str(folder / "prefect")
    from flows.commands.app import app  # noqa: PLC0415  reads the variable

    command: Command = partial(app, standalone_mode=False)
    good, bad = (policy(tuple(load_blueprint(BENCHMARK).datasets), behaviour) for behaviour in ("gold", "wrong"))
    models = {f"scripted-{quality}": partial(reply_in_part, quality, good, bad) for quality in qualities} | {JUDGE: good}
    with ExitStack() as stack:
        urls = {name: stack.enter_context(ModelServer(reply)).base_url for name, reply in models.items()}
        entries = [{"name": name, "base_url": url} for name, url in urls.items()]
        config = folder / "models.json"
        config.write_text(json.dumps({"models": entries[:-1], "roles": {JUDGE: entries[-1]}}), encoding="utf-8")
        command(["run", BENCHMARK, "--config", str(config), "--lake", str(folder / "lake"), *options])
    return command


def write_demo(folder: Path, pages: Path) -> None:
    """Run the models of the run to click through in a folder, and write its report and leaderboard as `pages`."""
    command, lake = run_models(folder, SHOWN, "--sample", str(ITEMS)), folder / "lake"
    pages.mkdir()
    (report,) = lake.glob("runs/*/report.html")
    (pages / "report.html").write_bytes(report.read_bytes())
    command(["leaderboard", BENCHMARK, "--html", str(pages / "leaderboard.html"), "--lake", str(lake)])


if __name__ == "__main__":
    write_demo(Path(sys.argv[1]), Path(sys.argv[2]))
