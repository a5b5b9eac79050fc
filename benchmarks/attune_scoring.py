"""How long the scores of AttuneBench's published field take: 11 models in three modes, 200 conversations of three to eight turns.

Generates annotations, and replies as texts whose judgements are all right or all wrong, and measures reading and scoring them,
and their aggregates with 1,000 bootstrap resamples. Generating is not measured.

Usage: python benchmarks/attune_scoring.py [--models 11] [--conversations 200] [--profile corrected]
"""

import argparse
import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from schemas.item import Record  # noqa: E402
from tasks.benchmarks.attunebench.conversation import ConversationGold, VisibleConversation  # noqa: E402  the project is imported from its folder
from tasks.benchmarks.attunebench.datasets.conversations import join_conversations  # noqa: E402
from tasks.benchmarks.attunebench.exchange import aggregate_conversations, conversation_rows  # noqa: E402
from tasks.benchmarks.attunebench.metrics.conversation import Annotated, measure_parts  # noqa: E402
from tasks.metrics.metric import PROFILES  # noqa: E402
from tests.flows.annotating import RATED  # noqa: E402
from tests.tasks.benchmarks.attunebench.datasets.conversations import varied  # noqa: E402
from tests.tasks.benchmarks.attunebench.metrics.samples import oracle  # noqa: E402

AIM_S = 20.0
MODES = ("default", "verbose", "omniscient")
REPLY_WORDS = 150
OTHER = {"yes": "no", "no": "yes", "A": "B", "B": "A"}


def main() -> None:
    """Generate, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=11)
    parser.add_argument("--conversations", type=int, default=200)
    parser.add_argument("--profile", choices=PROFILES, default="corrected")
    options = parser.parse_args()
    known, draw, rows, seconds = generate(options.conversations), Random(0), [], 0.0
    for model in range(options.models):
        for mode in MODES:
            row = {"model": f"model-{model}", "mode": mode, "strategy": "absolute"}
            said = [written(gold, draw, right=model % 2 == 0) for gold, _ in known]
            started = time.perf_counter()
            for (gold, shown), texts in zip(known, said, strict=True):
                values = measure_parts((gold, shown), texts, options.profile)
                rows.append({**row, "item_id": gold.conversation_id, "cluster": gold.participant_id, **values})
            seconds += time.perf_counter() - started
    started = time.perf_counter()
    aggregate_conversations(conversation_rows(rows))
    aggregated = time.perf_counter() - started
    print(f"{len(rows):,} conversations, profile {options.profile}")
    print(f"read and scored: {seconds:.1f} s (aim below {AIM_S:.0f}), {1000 * seconds / len(rows):.2f} ms each")
    print(f"aggregated, 1,000 resamples: {aggregated:.1f} s")


def generate(conversations: int) -> list[Annotated]:
    """Return annotations and visible part of so many conversations, with replies as long as those of models."""
    draw, records = Random(0), []
    for number in range(conversations):
        fields = varied(number)
        for turn in fields["turns"]:
            turn["llmResponse"] = words(draw)
            turn["annotations"]["alternateResponses"] = {"llmImproved": words(draw), "humanEdited": words(draw)}
        records.append(Record(fields, f"conversation_{number}.json", 0))
    joined = join_conversations(records, own_options=True)
    return [(record.hidden["gold"], VisibleConversation.model_validate(record.fields)) for record in joined]


def written(gold: ConversationGold, draw: Random, *, right: bool) -> dict[str, str]:
    """Return the texts of all replies about a conversation, with all judgements right, or all wrong; every third in a fence."""
    said = oracle(gold)
    for turn in gold.turns:
        part = f"turn {turn.number}"
        said[f"{part} draft"] = {"drafted_response": words(draw)}
        said[f"{part} judge"] = {**RATED, "draft_binary_assessment": said[f"{part} review"]["binary_om_assessment"]}
    texts = [(part, json.dumps(reply if right else invert(reply))) for part, reply in said.items()]
    return {part: f"```json\n{text}\n```" if place % 3 == 0 else text for place, (part, text) in enumerate(texts)}


def invert(said: Mapping[str, Any]) -> dict[str, Any]:
    """Return a reply that says the opposite in every judgement and comparison."""
    chosen = ("binary_om_assessment", "binary_human_prediction", "pairwise_selections")
    return {
        key: {name: OTHER.get(word, word) for name, word in value.items()} if key in chosen else value
        for key, value in said.items()
    }


def words(draw: Random) -> str:
    """Return as many words as a reply has."""
    return " ".join(f"word{draw.randrange(300)}" for _ in range(REPLY_WORDS))


if __name__ == "__main__":
    main()
