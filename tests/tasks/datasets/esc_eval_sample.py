"""Read ESC-Eval's released sample: dialogues of two models on three cards of each language, and what its judge gave them."""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from schemas.errors import RecordError

Row = dict[str, Any]

SPEAKERS = {"AI assistant": "tested", "ESC-Role": "seeker"}
NAMES = {"fluency": "fluency", "diversity": "expression", "empathic": "empathy", "suggestion": "information"}
NAMES |= {"tech": "skillful", "human": "humanoid", "overall": "overall"}
"""Our dimensions, by the keys of the scores."""


def read_sample(results: Mapping[str, Sequence[str]], cards: Sequence[Row], **place: str) -> Iterator[Row]:
    """Yield columns of `answers` for each dialogue of a file under `result/`; the greeting is no turn.

    Args:
        results: lines of each dialogue, by the place of its card.
        cards: those of `data/test_LANGUAGE.json`.
        place: columns dataset, model and setting.

    Raises:
        RecordError: if a line after the first does not begin with one of SPEAKERS and a full-width colon.
    """
    for at, lines in results.items():
        said = [line.partition("：") for line in lines[1:]]
        if unknown := [speaker for speaker, _, _ in said if speaker not in SPEAKERS]:
            raise RecordError(
                "a line has no speaker that is known",
                where=f"{' '.join(place.values())}, dialogue {at}",
                expected=" or ".join(SPEAKERS),
                got=unknown[0][:80],
                next_step="take the file as it was released",
            )
        turns = [{"speaker": SPEAKERS[speaker], "text": text} for speaker, _, text in said]
        yield {**place, "item_id": f"card-{cards[int(at)]['id']}", "turns": turns}


def read_scores(scores: Mapping[str, Mapping[str, int]], cards: Sequence[Row], **place: str) -> Iterator[Row]:
    """Yield rows of `judgements` for a file under `score/`, places as in `read_sample`; -1, nothing read, is no rating."""
    call = {"part": "", "repetition": 0, "judge": "ESC-RANK", "judge_repetition": 0, "rubric": "esc_eval_released"}
    for at, key, score in ((at, *pair) for at, given in scores.items() for pair in given.items()):
        read = {"parse_status": "unparsed"} if score == -1 else {"parse_status": "parsed", "rating": score}
        origin = {"item_id": f"card-{cards[int(at)]['id']}", "call_key": sha256(f"{place}{at}{key}".encode()).hexdigest()}
        yield {**place, **call, **origin, "dimension": NAMES[key], "lowest": 0, "highest": 4, **read}
