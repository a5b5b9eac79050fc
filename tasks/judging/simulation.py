"""Faults of persons whom a model plays in dialogues with the model under test: what rules find and what a judge names.

Rules find slips that words alone give away (data/slips.yaml), in English or Chinese.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import Any

import dataframely as dy
import polars as pl

from schemas.base import Frozen
from schemas.folders import DATA_FOLDER
from schemas.json_yaml import read_text, read_yaml
from schemas.tables.items import Items
from schemas.tables.responses import Answers, Judgements, SimulationFaults
from schemas.usage import TESTED
from schemas.vocabulary import FaultSeverity, Language
from tasks.judging.answers import SIMULATED
from tasks.judging.contract import VERDICT, Contract, FaultClaim
from tasks.judging.rubrics import OwnRubrics, Rubric, load_rubric
from tasks.retrieval.ranking import words
from tasks.solvers.answers import ANSWER

FAULTS_VERSION = "2"
"""Bumped when rules find something else, also where only their file changed, or faults are taken from replies otherwise."""

LONGEST_EXCERPT = 200

LEAST_WORDS, MOST_REVEALED = 8, 0.5
"""Content words that a card needs for its share in the first line to say anything, and the share beyond which it says all."""

_FLAGS = re.IGNORECASE | re.MULTILINE
_QUOTED = re.compile(r"[\"“「『][^\"”」』]*[\"”」』]")

Fault = dict[str, object]

Turns = Sequence[Mapping[str, str]]


def simulation_faults_rows(rows: Mapping[str, pl.DataFrame], own: OwnRubrics) -> pl.DataFrame:
    """Compute rows of `simulation_faults` of those of its parents, by layer."""
    judgements, answers, items = (rows[layer] for layer in ("judgements", "answers", "items"))
    rubrics = {name: load_rubric(name, own) for name in judgements["rubric"].unique()}
    return find_faults(Judgements.cast(judgements), Answers.cast(answers), Items.cast(items), rubrics)


def find_faults(
    reviews: dy.DataFrame[Judgements], answers: dy.DataFrame[Answers], items: dy.DataFrame[Items], rubrics: Mapping[str, Rubric]
) -> dy.DataFrame[SimulationFaults]:
    """Find the faults of everyone in a dialogue but the model under test; the item's context says whom they play.

    `reviews` are ratings by rubrics with faults, whose replies are read again; may be none. What a judge quotes from a line that
    does not have it is refused, and so is a fault of another line.
    """
    by_item = {(row["dataset"], row["item_id"]): row for row in items.iter_rows(named=True)}
    replies = reviews.unique(VERDICT, keep="first").sort(VERDICT).rows_by_key(ANSWER, named=True, include_key=True)
    rows: list[Fault] = []
    for answer in answers.filter(SIMULATED).iter_rows(named=True):
        key = {name: answer[name] for name in ANSWER}
        faults = [*_by_rule(by_item[answer["dataset"], answer["item_id"]], answer["turns"])]
        for reply in replies.get(tuple(key.values()), ()):
            faults += _by_judge(reply, rubrics[reply["rubric"]], answer["turns"])
        for _, own in groupby(faults, key=lambda row: row["found_by"]):
            rows += ({**key, "number": number, "refused": None, **row} for number, row in enumerate(own))
    frame = pl.DataFrame(rows, schema=SimulationFaults.create_empty().schema)
    excerpts = frame.with_columns(pl.col("evidence").str.slice(0, LONGEST_EXCERPT))
    return SimulationFaults.validate(excerpts.sort(SimulationFaults.primary_key()))


def _by_rule(item: Mapping[str, Any], turns: Turns) -> Iterator[Fault]:
    for speaker in dict.fromkeys(turn["speaker"] for turn in turns if turn["speaker"] != TESTED):
        lines = [turn["text"] for turn in turns if turn["speaker"] == speaker]
        for fault in find_rule_faults(item["context"] or "", lines, item["language"]):
            yield {"found_by": "rule", "speaker": speaker, **fault}


def _by_judge(reply: Mapping[str, Any], rubric: Rubric, turns: Turns) -> Iterator[Fault]:
    opening = [{"speaker": TESTED}] * len(rubric.opening)  # it was shown before the turns, and is nobody's slip
    for claim in Contract.of(rubric, rubric.dimensions).parse(reply["raw_reply"] or "").faults:
        fault = {"kind": claim.kind, "severity": claim.severity, "evidence": claim.quote}
        yield {"found_by": reply["judge"], **fault, **_place(claim, (*opening, *turns))}


def _place(claim: FaultClaim, turns: Turns) -> Fault:
    """Return speaker and line of what a judge names by the number that the turn was shown with, or why it does not count."""
    turn = turns[claim.turn - 1] if claim.turn <= len(turns) else {"speaker": TESTED}
    if turn["speaker"] == TESTED:
        return {"speaker": None, "turn": None, "refused": f"turn {claim.turn} is none of a simulated person"}
    spoken, quoted = (" ".join(text.split()) for text in (turn["text"], claim.quote))
    line = sum(before["speaker"] == turn["speaker"] for before in turns[: claim.turn])
    refused = None if quoted and quoted in spoken else f"turn {claim.turn} does not say that"
    return {"speaker": turn["speaker"], "turn": line, "refused": refused}


class Slip(Frozen):
    """A way to fall out of the part: what a line says that shows it, unless it says something else besides."""

    severity: FaultSeverity
    says: tuple[str, ...]
    unless: tuple[str, ...] = ()
    before_last: bool = False

    def find(self, line: str) -> re.Match[str] | None:
        """Return where a line shows it."""
        besides = any(re.search(text, line, _FLAGS) for text in self.unless)
        return None if besides else re.search("|".join(self.says), line, _FLAGS)


@cache
def load_slips() -> Mapping[str, Slip]:
    """Return the slips by kind of fault."""
    return {kind: Slip.model_validate(slip) for kind, slip in read_yaml(read_text(DATA_FOLDER / "slips.yaml")).items()}


def find_rule_faults(card: str, lines: Sequence[str], language: Language) -> Iterator[Fault]:
    """Yield faults of one simulated person: turn (number of the line, from 1), kind, severity, evidence (the line from there on).

    The first line reveals all at once if it has most content words of the longest line of the card, which is the problem. The
    card says what the person was told to be.
    """
    problem = _content_words(max(card.splitlines(), key=len, default=""), language)
    if len(problem) >= LEAST_WORDS and len(problem & _content_words(lines[0], language)) > MOST_REVEALED * len(problem):
        yield {"turn": 1, "kind": "reveals_all_at_once", "severity": "helped", "evidence": lines[0]}
    for turn, line in enumerate(lines, start=1):
        own = _QUOTED.sub(lambda quoted: " " * len(quoted[0]), line)
        for kind, slip in load_slips().items():
            if (turn < len(lines) or not slip.before_last) and (match := slip.find(own)):
                yield {"turn": turn, "kind": kind, "severity": slip.severity, "evidence": line[match.start() :].strip()}


def _content_words(text: str, language: Language) -> set[str]:
    """Return words that are not short, cut to their stems: most that are short are no content."""
    least = 4 if language == "en" else 2
    return {word[:5] for word in words(text, language) if len(word) >= least}
