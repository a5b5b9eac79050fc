"""How long the scores of AttuneBench's published field take: 11 models in three modes, 200 conversations of five turns each.

Invents annotations and replies as texts, and measures reading and scoring them, and their aggregates with 1,000 bootstrap
resamples. Inventing is not measured.

Usage: python benchmarks/attune_scoring.py [--models 11] [--conversations 200] [--turns 5] [--profile corrected]
"""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any, get_args

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402  the project is imported from its folder

from schemas.attunebench import (  # noqa: E402
    Comparison,
    ConversationGold,
    EmotionTag,
    Judgement,
    Panas,
    PanasTotals,
    ReplyLabel,
    ShownCodebook,
    TurnGold,
    VisibleComparison,
    VisibleConversation,
    VisibleTurn,
    WideAnswers,
)
from schemas.vocabulary import Profile  # noqa: E402
from tasks.metrics.attunebench.affect import VALENCE_AROUSAL  # noqa: E402
from tasks.metrics.attunebench.conversation import score_conversation  # noqa: E402
from tasks.metrics.attunebench.rules import PROFILES  # noqa: E402
from tasks.scoring.annotation_aggregates import aggregate_conversations, conversation_rows  # noqa: E402
from tasks.scoring.uncertainty import Resampling  # noqa: E402
from tasks.text.json_objects import read_object  # noqa: E402

AIM_S = 20.0
MODES = ("default", "verbose", "omniscient")
ADJECTIVES, LABELS = tuple(VALENCE_AROUSAL), get_args(ReplyLabel)
QUESTIONS = tuple(f"B{number}" for number in range(1, 15))
PAIRS = tuple((one, other) for place, one in enumerate(LABELS) for other in LABELS[place + 1 :])
WORDS = tuple(f"word{number}" for number in range(300))
OPTIONS = ("first", "second", "third", "fourth")
BRANCHES = ("perceiving", "facilitating", "understanding", "managing")


def main() -> None:
    """Invent, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=11)
    parser.add_argument("--conversations", type=int, default=200)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--profile", choices=get_args(Profile), default="corrected")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    known = [invent_conversation(rng, f"c-{number}", options.turns) for number in range(options.conversations)]
    rules, rows, seconds = PROFILES[options.profile], [], 0.0
    for model in range(options.models):
        for mode in MODES:
            row = {"model": f"model-{model}", "mode": mode, "strategy": "absolute"}
            said = [invent_replies(rng, gold) for gold, _ in known]
            started = time.perf_counter()
            for (gold, shown), texts in zip(known, said, strict=True):
                replies = {part: read_object(text) for part, text in texts.items()}
                values = score_conversation(gold, shown, replies, rules)
                rows.append({**row, "item_id": gold.conversation_id, "cluster": gold.participant_id, **values})
            seconds += time.perf_counter() - started
    started = time.perf_counter()
    aggregate_conversations(conversation_rows(rows), Resampling(1000, 0))
    aggregated = time.perf_counter() - started
    print(f"{len(rows):,} conversations of {options.turns} turns, profile {options.profile}")
    print(f"read and scored: {seconds:.1f} s (aim below {AIM_S:.0f})")
    print(f"aggregated, 1,000 resamples: {aggregated:.1f} s")


def invent_conversation(rng: np.random.Generator, name: str, turns: int) -> tuple[ConversationGold, VisibleConversation]:
    """Return annotations of a conversation, all there, and what is visible of it."""
    gold = ConversationGold(
        conversation_id=name,
        participant_id=f"p-{rng.integers(100)}",
        turns=tuple(invent_turn(rng, number) for number in range(1, turns + 1)),
        pre_panas=invent_mood(rng),
        post_panas=invent_mood(rng),
        answers=WideAnswers(q1=OPTIONS[:2], q2=OPTIONS[0], q3=OPTIONS[2], follow_up=(words(rng, 3), words(rng, 4))),
        branches={branch: int(rng.integers(1, 8)) for branch in BRANCHES},
    )
    texts = [
        VisibleTurn(
            number=turn.number,
            user_message=words(rng, 40),
            model_reply=words(rng, 150),
            questions=QUESTIONS,
            comparisons=tuple(VisibleComparison(**one.model_dump(exclude={"winner"})) for one in turn.comparisons),
            alternates={"alternate": words(rng, 150), "human": words(rng, 150)},
        )
        for turn in gold.turns
    ]
    codebook = ShownCodebook(
        questions={}, pairwise={}, adjectives=ADJECTIVES, q1_options=OPTIONS, q2_options=OPTIONS, q3_options=OPTIONS, branches={}
    )
    mood = PanasTotals(positive=40, negative=40)
    return gold, VisibleConversation(
        conversation_id=name, topic="any", turns=tuple(texts), profile={}, pre_panas=mood, codebook=codebook
    )


def invent_turn(rng: np.random.Generator, number: int) -> TurnGold:
    """Return up to three emotions, 14 judgements and 12 comparisons."""
    return TurnGold(
        number=number,
        emotions=tuple(EmotionTag(name=one["emotion"], intensity=one["intensity"]) for one in emotions(rng)),
        judgements=tuple(Judgement(question=name, observed=yes_no(rng), preferred=yes_no(rng)) for name in QUESTIONS),
        comparisons=tuple(
            Comparison(question=f"PW{question}", label_a=one, label_b=other, winner=(one, other)[rng.integers(2)])
            for question in range(4)
            for one, other in PAIRS
        ),
    )


def invent_mood(rng: np.random.Generator) -> Panas:
    """Return twenty items and their sums."""
    items = {name: int(value) for name, value in zip(ADJECTIVES, rng.integers(1, 8, 20), strict=True)}
    sums = [sum(items[name] for name in half) for half in (ADJECTIVES[:10], ADJECTIVES[10:])]
    totals = PanasTotals(positive=sums[0], negative=sums[1])
    return Panas(items=items, stored=totals, recomputed=totals)


def invent_replies(rng: np.random.Generator, gold: ConversationGold) -> dict[str, str]:
    """Return the texts of all calls about a conversation; every third is in a fence."""
    said: dict[str, Any] = {}
    for turn in gold.turns:
        binary = {key: {name: yes_no(rng) for name in QUESTIONS} for key in ("binary_om_assessment", "binary_human_prediction")}
        said |= {
            f"turn {turn.number} draft": {"drafted_response": words(rng, 150)},
            f"turn {turn.number} judge": {"overall_score": 5, "draft_binary_assessment": binary["binary_om_assessment"]},
            f"turn {turn.number} review": {"emotion_tags": emotions(rng), **binary},
            f"turn {turn.number} hp_binary": binary,
            f"turn {turn.number} pairwise": {"pairwise_selections": {str(place): "AB"[rng.integers(2)] for place in range(12)}},
        }
    wide: dict[str, Any] = {"q1_lookingFor": OPTIONS[1:], "q2_emotionClarity": OPTIONS[0], "q3_modelFit": OPTIONS[1]}
    wide |= {"q3_followUp_whatFeltOff": [words(rng, 4)], "fourBranchScores": dict.fromkeys(BRANCHES, 4)}
    said["post"] = {"post_panas": invent_mood(rng).items, "conversation_wide": wide}
    texts = ((part, json.dumps(value)) for part, value in said.items())
    return {part: f"```json\n{text}\n```" if place % 3 == 0 else text for place, (part, text) in enumerate(texts)}


def emotions(rng: np.random.Generator) -> list[dict[str, Any]]:
    """Return one to three emotions."""
    drawn = rng.choice(20, rng.integers(1, 4), replace=False)
    return [{"emotion": ADJECTIVES[place], "intensity": int(rng.integers(1, 8))} for place in drawn]


def yes_no(rng: np.random.Generator) -> Any:
    """Return yes or no."""
    return ("yes", "no")[rng.integers(2)]


def words(rng: np.random.Generator, number: int) -> str:
    """Return so many words."""
    return " ".join(WORDS[place] for place in rng.integers(len(WORDS), size=number))


if __name__ == "__main__":
    main()
