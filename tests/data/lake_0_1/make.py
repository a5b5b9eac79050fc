"""Write lake.tar.xz with a checkout of version 0.1 (commit 9ca4517) and its environment, from that checkout's folder:

.venv/bin/python PATH/OF/make.py

What the models say follows from what they are asked, so that another lake differs in times alone.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

sys.path.insert(0, os.curdir)
from tests.model_server import ModelServer

HERE = Path(__file__).resolve().parent
LAKE = "lake"
SCALE = re.compile(r"whole number from (\d+) to (\d+)|每个值是 (\d+) 到 (\d+) 的整数")
KEYS = re.compile(r'(?:keys are exactly|键必须正好是) ((?:"\w+"(?:, )?)+)')
CHOICES = re.compile(r"^(?:Choices|选项)[:：]\s*(.+)$", re.MULTILINE)
LETTER = re.compile(r"^([A-Z])[.)]", re.MULTILINE)


def reply(messages: list[dict[str, str]]) -> str:
    """Letters, labels, ratings and summaries, right and wrong ones; one answer in nine cannot be read."""
    system, asked = messages[0]["content"], messages[-1]["content"]
    drawn = int(sha256(asked.encode()).hexdigest(), 16)
    if (keys := KEYS.search(system)) and (scale := SCALE.search(system)):
        lowest, highest = (int(end) for end in scale.groups() if end)
        names = json.loads(f"[{keys[1]}]")
        return json.dumps({name: lowest + (drawn >> place) % (highest - lowest + 1) for place, name in enumerate(names)})
    if drawn % 9 == 0:
        return "I would rather not say."
    if choices := CHOICES.search(asked):
        options = re.split(r"[,，、]\s*", choices[1].strip())
        return f"```json\n{json.dumps({'Emotion': options[drawn % len(options)]}, ensure_ascii=False)}\n```"
    if letters := list(dict.fromkeys(LETTER.findall(asked))):
        return f"The answer is {letters[drawn % len(letters)]}."
    return " ".join(re.findall(r"\w+", asked)[drawn % 10 : drawn % 10 + 15])


def main() -> None:
    """Run both plans in a folder of their own, and pack the lake."""
    with TemporaryDirectory() as folder, ModelServer(reply) as server:
        for name in ("evenings.yaml", "evenings.jsonl"):
            shutil.copy(HERE / name, folder)
        for plan in yaml.safe_load((HERE / "plans.yaml").read_text(encoding="utf-8")).values():
            for entry in (*plan["models"], *([plan["judge"]] if "judge" in plan else ())):
                entry["base_url"] = server.base_url
            Path(folder, "plan.yaml").write_text(yaml.safe_dump(plan), encoding="utf-8")
            moodflow = Path(sys.executable).with_name("moodflow")
            command = [moodflow, "run", plan["benchmark"], "--config", "plan.yaml", "--lake", LAKE, "--json"]
            subprocess.run(command, cwd=folder, check=False)
        shutil.rmtree(Path(folder, LAKE, "openlineage"), ignore_errors=True)
        with tarfile.open(HERE / "lake.tar.xz", "w:xz", preset=9) as packed:
            packed.add(Path(folder, LAKE), LAKE)


if __name__ == "__main__":
    main()
