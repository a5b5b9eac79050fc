"""Make the pictures of README and docs from a run of five scripted models: `make pictures`.

A model `scripted-75` knows the gold of every bundled item of MoodBench and gives it in 75 of 100 replies, by the hash of the
prompt, and a wrong one otherwise; one of them judges. No weights, no network: only the date below a picture changes between two
times of making it.
"""

import json
import os
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from zlib import crc32

from tasks.scoring.blueprints import load_blueprint
from tests.flows.scripted import Policy, policy
from tests.model_server import ModelServer

BENCHMARK, QUALITIES, JUDGE = "moodbench-mini", (95, 85, 75, 60, 30), "judge"
PICTURES = {"report.png": "headline"}
"""Files beside this one, with the name of the figure that each shows."""

MOST_BYTES = 150_000


def reply_in_part(quality: int, good: Policy, bad: Policy, messages: list[dict[str, str]]) -> str:
    """Return the right reply to as many of 100 prompts as the quality says."""
    drawn = crc32(f"{quality} {json.dumps(messages, ensure_ascii=False)}".encode()) % 100
    return (good if drawn < quality else bad)(messages)


def main() -> None:
    """Run the models, then write each picture over the one that is there."""
    with TemporaryDirectory() as folder, ExitStack() as stack:
        os.environ["PREFECT_HOME"] = str(Path(folder) / "prefect")
        from flows.commands.app import app  # noqa: PLC0415  reads the variable

        command: Callable[[list[str]], None] = partial(app, standalone_mode=False)
        good, bad = (policy(tuple(load_blueprint(BENCHMARK).datasets), behaviour) for behaviour in ("gold", "wrong"))
        models = {f"scripted-{quality}": partial(reply_in_part, quality, good, bad) for quality in QUALITIES} | {JUDGE: good}
        urls = {name: stack.enter_context(ModelServer(reply)).base_url for name, reply in models.items()}
        entries = [{"name": name, "base_url": url} for name, url in urls.items()]
        config, lake = Path(folder) / "models.json", str(Path(folder) / "lake")
        config.write_text(json.dumps({"models": entries[:-1], "roles": {JUDGE: entries[-1]}}))
        command(["run", BENCHMARK, "--config", str(config), "--lake", lake])
        for name, figure in PICTURES.items():
            file = Path(__file__).parent / name
            command(["figure", "latest", "--name", figure, "--to", str(file), "--lake", lake])
            if (size := file.stat().st_size) > MOST_BYTES:
                raise SystemExit(f"{file} has {size:,} bytes, more than {MOST_BYTES:,}")


if __name__ == "__main__":
    main()
