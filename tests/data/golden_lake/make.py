"""Write lake.tar.xz, or whole.tar.xz, with a checkout of the state that it is to record, from that checkout's folder:

.venv/bin/python PATH/OF/make.py [whole]

What the models say follows from what they are asked, so that another lake differs in times alone.
"""

import json
import os
import re
import sys
import tarfile
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, os.curdir)
import polars as pl
import yaml

from tasks.lake.seal import PICTURE, seal_run
from tests.flows import annotating
from tests.flows import scripted_roles as roles
from tests.flows.command import ended
from tests.flows.scripted import policy_of_lake
from tests.flows.test_esc_eval import Cast, cards_of
from tests.model_server import ModelServer

HERE = Path(__file__).resolve().parent
WHOLE = "attunebench-mini"
"""Whose lake is kept with its layers and its run."""

LAYERS = ("raw_scores", "dimension_scores", "ability_scores", "totals", "setting_gains", "agreements")
LETTERS = re.compile(r"[A-Z](?:, [A-Z])*")
WORDINGS = ("{}", "The answer is {}.", "**{}**", "答案是{}。", '{{"answer": "{}"}}', "Answer: {}\n\nIt fits the text best.")
Messages = list[dict[str, str]]


def tested(lake: Path) -> roles.Reply:
    """Return a model that is right on two of three items and words its letters in several ways."""
    right, wrong = policy_of_lake(lake, "gold"), policy_of_lake(lake, "wrong")

    def reply(messages: Messages) -> str:
        drawn = int(sha256(messages[-1]["content"].encode()).hexdigest(), 16)
        text = (right if drawn % 3 else wrong)(messages)
        return WORDINGS[drawn // 3 % len(WORDINGS)].format(text) if LETTERS.fullmatch(text) else text

    return reply


def speakers(benchmark: str, lake: Path) -> dict[str, roles.Reply]:
    """Return what each model of a benchmark's plan says, by its name."""
    match benchmark:
        case "moodbench-mini":
            return {"companion": tested(lake), "judge": roles.by_hash, "colleague": roles.opposed}
        case "longemotion-mini":
            helpers = {"sage": lambda _: roles.READING, "critic": lambda _: roles.VERDICT}
            return {"companion": roles.core(lake, "gold"), "judge": roles.by_hash, "colleague": roles.opposed, **helpers}
        case "esc-eval-mini":
            return dict.fromkeys(("companion", "judge", "seeker"), Cast(cards_of("esc-eval-mini")))
        case _:
            return {"companion": annotating.knowing(annotating.toss), "judge": annotating.judge}


def entries(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the entries of all models of a plan."""
    others = dict(plan["roles"])
    return [*plan["models"], *others.pop("panel", ()), *others.values()]


def write_run(benchmark: str, plan: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Run a plan in a lake of its own, and return its scores by layer."""
    lake, config = folder / benchmark, folder / "plan.json"
    with ExitStack() as opened:
        servers = {name: opened.enter_context(ModelServer(reply)) for name, reply in speakers(benchmark, lake).items()}
        for entry in entries(plan):
            entry["base_url"] = servers[entry["name"]].base_url
        config.write_text(json.dumps({"benchmark": benchmark, **plan}), encoding="utf-8")
        document = ended("run", benchmark, "--config", config, "--lake", lake, "--json").document
    sys.stderr.write(f"{benchmark}: {document['calls']}, missing: {document['missing']}\n")
    return {layer: rows(lake, document, layer) for layer in LAYERS}


def rows(lake: Path, document: dict[str, Any], layer: str) -> list[dict[str, Any]]:
    """Return a run's rows of a layer."""
    manifest = json.loads(Path(document["manifest"]).read_text(encoding="utf-8"))
    paths = [lake / ref["path"] for ref in manifest["partitions"] if ref["layer"] == layer]
    return [row for path in paths for row in pl.read_parquet(path, hive_partitioning=False).to_dicts()]


def pack_whole(folder: Path, plan: dict[str, Any]) -> None:
    """Run one plan, and pack layers and run; the picture, which nothing reads, is left out."""
    write_run(WHOLE, plan, folder)
    for run in (folder / WHOLE / "runs").iterdir():
        (run / PICTURE).unlink()
        seal_run(run)
    with tarfile.open(HERE / "whole.tar.xz", "w:xz", preset=9) as packed:
        for path in sorted((folder / WHOLE).glob("*/**/*")):
            if path.is_file() and not {"journal", "openlineage"} & {*path.parts}:
                packed.add(path, str(path.relative_to(folder)))


def main() -> None:
    """Run every plan in a lake of its own, and pack the journals and the scores; or one, and pack its lake."""
    plans = yaml.safe_load((HERE / "plans.yaml").read_text(encoding="utf-8"))
    with TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["PREFECT_HOME"] = str(folder / "prefect")
        if sys.argv[1:] == ["whole"]:
            pack_whole(folder, plans[WHOLE])
            return
        scores = {benchmark: write_run(benchmark, plan, folder) for benchmark, plan in plans.items()}
        (folder / "scores.json").write_text(json.dumps(scores, ensure_ascii=False, indent=1), encoding="utf-8")
        with tarfile.open(HERE / "lake.tar.xz", "w:xz", preset=9) as packed:
            packed.add(folder / "scores.json", "scores.json")
            # Files of locks are empty.
            for path in sorted(path for path in folder.glob("*/journal/**/*") if path.suffix in {".sqlite", ".json"}):
                packed.add(path, str(path.relative_to(folder)))


if __name__ == "__main__":
    main()
