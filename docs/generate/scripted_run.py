"""A run of scripted models over the bundled items of MoodBench: for the pictures, and for the run to click through.

A model `scripted-75` knows the gold of every item and gives it in 75 of 100 replies, by the hash of the prompt, and a wrong one
otherwise; one of them judges. No weights, no network.
"""

import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any
from zlib import crc32

from tasks.scoring.blueprints import load_blueprint
from tests.flows.scripted import Policy, policy, reply_in_part
from tests.model_server import ModelServer

BENCHMARK, JUDGE = "moodbench-mini", "judge"
Command = Callable[[list[str]], None]
"""The command `moodflow`, from its arguments."""

UNREAD = ("Sorry, this cannot be answered.", "It depends on the person.", "?!... %% ---")
"""Replies without an answer."""

SHOWN, WRONG_ROWS = (90, 70, 40), 20
"""Models of the run to click through, and wrong replies that have a page."""


def name_models(qualities: Iterable[int]) -> dict[str, int]:
    """Return names for models of these qualities."""
    return {f"scripted-{quality}": quality for quality in qualities}


def reply_unread(messages: list[dict[str, str]]) -> str:
    """Return a reply that no parser can read."""
    return UNREAD[crc32(messages[-1]["content"].encode()) % len(UNREAD)]


def run_models(folder: Path, qualities: Mapping[str, int], benchmark: str = BENCHMARK, unread: Collection[str] = ()) -> Command:
    """Run models of these qualities into the lake `folder / "lake"`; return the command, which has no Prefect but this run's.

    `unread`: models of whose wrong replies half cannot be read.
    """
    os.environ["PREFECT_HOME"] = str((folder / "prefect").absolute())
    from flows.commands.app import app  # noqa: PLC0415  reads the variable

    command: Command = partial(app, standalone_mode=False)
    good, bad = (policy(tuple(load_blueprint(BENCHMARK).datasets), behaviour) for behaviour in ("gold", "wrong"))
    worse = partial(reply_in_part, 50, bad, reply_unread)
    models: dict[str, Policy] = {
        name: partial(reply_in_part, quality, good, worse if name in unread else bad) for name, quality in qualities.items()
    }
    models[JUDGE] = good
    with ExitStack() as stack:
        urls = {name: stack.enter_context(ModelServer(reply)).base_url for name, reply in models.items()}
        entries = [{"name": name, "base_url": url} for name, url in urls.items()]
        config = folder / "models.json"
        config.write_text(json.dumps({"models": entries[:-1], "roles": {JUDGE: entries[-1]}}), encoding="utf-8")
        command(["run", benchmark, "--config", str(config), "--lake", str(folder / "lake")])
    return command


def short_blueprint() -> dict[str, Any]:
    """Return the benchmark with one task of two sub-abilities of each ability: what takes time is the number of datasets."""
    blueprint = load_blueprint(BENCHMARK).model_dump(mode="json", exclude_defaults=True)
    kept = [name for ability in blueprint["abilities"] for name in shorten(ability)]
    datasets = {name: blueprint["datasets"][name] for name in kept}
    return blueprint | {"name": "moodbench-demo", "title": "MoodBench 1.0, a few bundled items", "datasets": datasets}


def shorten(ability: dict[str, Any]) -> list[str]:
    """Leave one task, or two abilities, in each ability that has any; return the datasets that are left."""
    if "tasks" in ability:
        ability["tasks"] = ability["tasks"][:1]
        return [dataset["id"] for task in ability["tasks"] for dataset in task["datasets"]]
    ability["children"] = ability.get("children", [])[:2]
    return [name for child in ability["children"] for name in shorten(child)]


def write_demo() -> None:
    """Run the models of the run to click through in the current folder, and write its pages below `pages`.

    Paths are relative, since the pages print commands with them.
    """
    blueprint, pages = Path("moodbench-demo.yaml"), Path("pages")
    blueprint.write_text(json.dumps(short_blueprint()), encoding="utf-8")
    command = run_models(Path(), name_models(SHOWN), str(blueprint), unread=("scripted-40",))
    pages.mkdir()
    (report,) = Path("lake").glob("runs/*/report.html")
    (pages / "report.html").write_bytes(report.read_bytes())
    leaderboard = pages / "leaderboard.html"
    command(["leaderboard", str(blueprint), "--html", str(leaderboard), "--lake", "lake"])
    linked = leaderboard.read_text(encoding="utf-8").replace(f"../{report.as_posix()}", "report.html")
    leaderboard.write_text(linked, encoding="utf-8")
    command(["view", "latest", "--to", str(pages / "view"), "--limit", str(WRONG_ROWS), "--lake", "lake"])


if __name__ == "__main__":
    write_demo()
