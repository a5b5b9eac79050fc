"""What commands that pages print need in order to be executed: a model, a judge, names of runs."""

import json
import re
from pathlib import Path

SERVED = "http://localhost:8000/v1"
"""Where pages say that the model is served."""

DIMENSIONS = (
    *("completeness", "conciseness", "faithfulness", "fluency", "warmth", "restraint"),
    *("validating_emotions", "encouraging_elaboration", "demonstrating_understanding"),
    *("advice_giving", "self_oriented", "dismissing_emotions"),
)
RATING = 3


def answer(messages: list[dict[str, str]]) -> str:
    """A model that answers B, or what else can be read, and, asked as a judge, rates every dimension of the prompt alike."""
    prompt = "\n".join(message["content"] for message in messages)
    if "letters of all options in order" in prompt:
        return ", ".join(re.findall(r"^([A-Z])\. ", prompt, re.MULTILINE))
    if messages[0]["role"] != "system":
        return "B"
    if '{"index": n}' in prompt:
        return '{"index": 1}'
    if choices := re.findall(r"^Choices: (.+)$", prompt, re.MULTILINE):
        return json.dumps({"Emotion": re.split(r"[,;/] ?", choices[-1])[0]})
    return json.dumps({name: RATING for name in DIMENSIONS if re.search(rf'"{name}"', prompt)})


def with_runs(command: str, lake: Path) -> str:
    """The command with names in place of RUN and EARLIER_RUN: the two newest that asked `mini_eq_test`, or of all; or one."""
    if not re.search(r"\b(EARLIER_)?RUN\b", command):
        return command
    manifests = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((lake / "runs").glob("*/manifest.json"))]
    fitting = [
        manifest["run"]
        for manifest in manifests
        if manifest["benchmark"] == "moodbench-mini" and any("mini_eq_test" in ref["path"] for ref in manifest["partitions"])
    ]
    fitting = fitting or [manifest["run"] for manifest in manifests]
    names = {"RUN": fitting[-1], "EARLIER_RUN": fitting[-2:][0]}
    return re.sub(r"\b(?:EARLIER_)?RUN\b", lambda found: names[found[0]], command)
