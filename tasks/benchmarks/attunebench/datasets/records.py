"""The record of a conversation as AttuneBench releases it, read field by field as its scorer reads it, older spellings, too.

What is odd costs its own value, which is then missing, or has a remark that says how it was read. What leaves open which
conversation, turn or tag is meant is a fault, named `place|what`, such as `turns.moodShiftTags|each_once`: then the record is
refused. Nothing that is missing is filled in. Source: AttuneBench 1.0, README; the public port of its scorer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard, TypeVar, cast, get_args

from schemas.vocabulary import LANGUAGES
from tasks.benchmarks.attunebench.conversation import (
    Comparison,
    ConversationGold,
    EmotionTag,
    Judgement,
    Panas,
    PanasTotals,
    ReplyLabel,
    TurnGold,
    VisibleTurn,
    WideAnswers,
    YesNo,
)
from tasks.benchmarks.attunebench.datasets.codebook import load_codebook
from tasks.benchmarks.attunebench.datasets.values import LABELS, panas_items, read_number, read_side

WORDED_INTENSITIES = {"mild": 2, "moderate": 4, "intense": 6}
OBSERVED = ("observedBehavior", "did_occur", "humanValue", "actualValue", "llmValue")
PREFERRED = ("preferredBehavior", "should_occur", "humanPreference")
ALTERNATES = {"alternate": ("llmImproved", "alternate1"), "human": ("humanEdited", "alternate2")}
FOLLOW_UP = "q3_followUp_whatFeltOff"
TOTALS = {"positive": "totalPositiveAffect", "negative": "totalNegativeAffect"}
COMPARED = 12
LONGEST = 80
"""Characters of an odd value that a remark shows."""

RANGES = {
    "who_5": (0, 25),
    "asrs_6": (0, 24),
    "aq_10": (0, 10),
    **dict.fromkeys(("promis_anxiety", "promis_depression", "promis_sleep"), (4, 20)),
    **{f"tipi_{trait}": (2, 14) for trait in ("extraversion", "agreeableness", "conscientiousness", "stability", "openness")},
}
"""Lowest and highest score of each questionnaire of a profile."""

Fields = Mapping[str, Any]
Kind = TypeVar("Kind")


@dataclass
class RecordReader:
    """Reads one record, and keeps what is odd in it: `remarks`, and `faults` by rule, for which the record is refused."""

    remarks: list[str] = field(default_factory=list)
    faults: dict[str, str] = field(default_factory=dict)

    def read(self, record: Fields) -> tuple[ConversationGold, dict[str, Any], dict[str, str]]:
        """Return the annotations, what is visible but for the codebook, and groups of results; of no use if there are faults."""
        turns = [self._turn(turn, place) for place, turn in enumerate(self._get(record, "turns", list) or (), start=1)]
        self._require(turns, "turns|one_turn", "there is none")
        self._require_distinct("turns.turnNumber", [gold.number for gold, _ in turns])
        language = record.get("language") or "en"
        self._require(language in LANGUAGES, "language|known", f"{language} is none of {', '.join(LANGUAGES)}")
        metadata, profile = (self._get(record, name, dict) or {} for name in ("metadata", "participant_profile"))
        category, subtopic = (self._text(metadata, name) for name in ("category", "subtopic"))
        groups = self._groups({"topic": category, "original_model": self._text(metadata, "model")}, profile)
        gold = ConversationGold(
            conversation_id=self._required(record, "conversationId"),
            participant_id=self._text(profile, "participant_id"),
            turns=tuple(gold for gold, _ in turns),
            pre_panas=self._panas(record, "prePanas"),
            post_panas=self._panas(record, "postPanas"),
            groups={**groups, **self._scores(profile)},
            **self._wide(self._get(record, "conversationWideQuestions", dict) or {}),
        )
        topic = self._text(metadata, "text") or ": ".join(filter(None, (category, subtopic))) or None
        shown = {"conversation_id": gold.conversation_id, "language": language, "topic": topic, "profile": profile}
        return gold, {**shown, "turns": [turn for _, turn in turns]}, groups

    def _turn(self, turn: Any, place: int) -> tuple[TurnGold, VisibleTurn]:
        turn = turn if isinstance(turn, dict) else {}
        given = read_number(turn.get("turnNumber"))
        number = int(given) if given is not None and given in range(1, 10_000) else place
        if given != number:
            self._odd("turnNumber", turn.get("turnNumber"), f"read as {place}")
        at = f"turn {number} "
        notes = self._get(turn, "annotations", dict, at) or {}
        told = self._get(notes, "alternateResponses", dict, at) or {}
        texts = {label: text for label, names in ALTERNATES.items() if (text := self._text(told, *names, at=at))}
        judgements, comparisons = self._judgements(notes, at), self._comparisons(notes, texts, at)
        visible = {
            "number": number,
            "user_message": self._required(turn, "userMessage", "turns."),
            "model_reply": self._required(turn, "llmResponse", "turns."),
            "questions": [one.question for one in judgements if {one.observed, one.preferred} - {None} != {"na"}],
            "comparisons": [one.model_dump(exclude={"winner"}) for one in comparisons],
            "alternates": texts,
        }
        noted = {"emotions": self._emotions(turn, at), "judgements": judgements, "comparisons": comparisons}
        return TurnGold(number=number, human_edit=texts.get("human"), **noted), VisibleTurn.model_validate(visible)

    def _emotions(self, turn: Fields, at: str) -> tuple[EmotionTag, ...] | None:
        given = self._rows(turn, "moodShiftTags", "emotion", at)
        named = [(name.strip().lower(), tag.get("intensity")) for name, tag in given or () if name]
        self._require_distinct("turns.moodShiftTags", [name for name, _ in named])
        for name in sorted({name for name, _ in named} - load_codebook().adjectives.keys()):
            self._odd(f"{at}emotion", name, "none of the twenty adjectives")
        if given is None or len(named) < len(given):
            return None
        read = ((name, WORDED_INTENSITIES.get(str(said).strip().lower(), said)) for name, said in named)
        return tuple(EmotionTag(name=name, intensity=self._number(said, f"{at}intensity")) for name, said in read)

    def _judgements(self, notes: Fields, at: str) -> tuple[Judgement, ...]:
        asked = [(name, one) for name, one in self._rows(notes, "binaryJudgements", "questionId", at) or () if name]
        self._require_distinct("turns.annotations.binaryJudgements", [name for name, _ in asked])
        return tuple(
            Judgement(question=name, observed=self._answer(one, OBSERVED, at), preferred=self._answer(one, PREFERRED, at))
            for name, one in asked
        )

    def _answer(self, judgement: Fields, names: Sequence[str], at: str) -> YesNo | None:
        said = self._text(judgement, *names, at=at)
        word = said and said.strip().lower()
        if word not in (None, *get_args(YesNo)):
            self._odd(f"{at}{names[0]}", said)
            return None
        return cast("YesNo | None", word)

    def _comparisons(self, notes: Fields, texts: Fields, at: str) -> tuple[Comparison, ...]:
        given = self._rows(notes, "pairwiseComparisons", "questionId", at) or []
        rule = "turns.annotations.pairwiseComparisons|twelve_comparisons"
        self._require(len(given) in (0, COMPARED), rule, f"{at}has {len(given)} comparisons")
        read = [self._comparison(name, one, at) for name, one in given]
        known = [one for one in read if one and {one.label_a, one.label_b} <= {"original", *texts}]
        if len(known) == len(read):
            return tuple(known)
        self.remarks.append(f"{at}has no comparisons: {len(read) - len(known)} of {len(read)} cannot be shown")
        return ()

    def _comparison(self, question: str | None, one: Fields, at: str) -> Comparison | None:
        sides = (self._text(one, *names, at=at) or "" for names in (("responseA", "response_1"), ("responseB", "response_2")))
        label_a, label_b = (cast("ReplyLabel | None", LABELS.get(side.strip().lower())) for side in sides)
        if question is None or label_a is None or label_b in (None, label_a):
            return None
        side = read_side(won := one.get("winner"), label_a, label_b)
        if won is not None and side is None:
            self._odd(f"{at}winner", won)
        winner = side and (label_a if side == "A" else label_b)
        return Comparison(question=question, label_a=label_a, label_b=label_b, winner=winner)

    def _panas(self, record: Fields, name: str) -> Panas:
        given, book = self._get(record, name, dict) or {}, load_codebook()
        numbers = {item: self._number(one, f"{name} {item}") for item, one in panas_items(given).items()}
        items = {item: one for item, one in numbers.items() if one is not None}
        if given and (lacking := [item for item in book.adjectives if item not in items]):
            self.remarks.append(f"{name} has no {', '.join(lacking)}")
        summed = {sign: book.total(sign, items) for sign in TOTALS}
        stored = {sign: self._number(given.get(total), f"{name} {total}", 10, 70) for sign, total in TOTALS.items()}
        for sign, total in TOTALS.items():
            if None not in (summed[sign], stored[sign]) and summed[sign] != stored[sign]:
                self.remarks.append(f"{name} {total} is {stored[sign]}, and its items add up to {summed[sign]}")
        return Panas(items=items, stored=PanasTotals.model_validate(stored), recomputed=PanasTotals.model_validate(summed))

    def _wide(self, part: Fields) -> dict[str, Any]:
        rated = self._get(part, "fourBranchScores", dict) or {}
        answers = WideAnswers(
            q1=self._texts(part, "q1_lookingFor", "Q1"),
            q2=self._text(part, "q2_emotionClarity", "Q2"),
            q3=self._text(part, "q3_modelFit", "Q3"),
            follow_up=self._texts(part, FOLLOW_UP) if part.get(FOLLOW_UP) else (),
        )
        return {"answers": answers, "branches": {name: self._number(rated.get(name), name) for name in load_codebook().branches}}

    def _groups(self, known: Mapping[str, str | None], profile: Fields) -> dict[str, str]:
        """Return what results are broken down by; several diagnoses are one group, in the order of their names."""
        people = self._get(profile, "demographics", dict) or {}
        told = {name: "; ".join(sorted(self._texts(people, name) or ())) for name in people}
        return {name: value for name, value in {**known, **told}.items() if value}

    def _scores(self, profile: Fields) -> dict[str, str]:
        given = {name: one for name, one in (self._get(profile, "computed_scores", dict) or {}).items() if one is not None}
        for name, (low, high) in RANGES.items():
            number = read_number(given.get(name))
            if name in given and (number is None or not low <= number <= high):
                self._odd(name, given.pop(name), f"left out, since it is not {low} to {high}")
        return {name: str(one) for name, one in given.items()}

    def _get(self, fields: Fields, name: str, kind: type[Kind], at: str = "") -> Kind | None:
        """Return a value of this kind; null if there is none, or an empty object; said unless `fields` is empty, too."""
        value = fields.get(name)
        if isinstance(value, kind) and value != {}:
            return value
        if fields:
            self._odd(f"{at}{name}", value or None)
        return None

    def _rows(self, fields: Fields, name: str, key: str, at: str) -> list[tuple[str | None, Fields]] | None:
        """Return the objects of a list with the text that names each, null if there is none; null if there is no list."""
        listed = self._get(fields, name, list, at)
        read = [one if isinstance(one, dict) else {} for one in listed or ()]
        for one in (one for one, entry in zip(listed or (), read, strict=True) if not _is_text(entry.get(key))):
            self._odd(f"{at}{name}", one)
        return None if listed is None else [(one[key] if _is_text(one.get(key)) else None, one) for one in read]

    def _number(self, value: Any, place: str, low: int = 1, high: int = 7) -> int | None:
        """Return a number, rounded into its range; null if there is none."""
        number = read_number(value)
        kept = None if number is None else min(max(round(number), low), high)
        if value is not None and (number is None or kept != round(number)):
            self._odd(place, value, "left out" if kept is None else f"read as {kept}")
        return kept

    def _text(self, fields: Fields, *names: str, at: str = "") -> str | None:
        """Return the text under the first of the names that has a value; null if there is none."""
        value = _first(fields, names)
        if value is not None and not _is_text(value):
            self._odd(f"{at}{names[0]}", value)
        return value if _is_text(value) else None

    def _texts(self, fields: Fields, *names: str) -> tuple[str, ...] | None:
        """Return the texts of a list, or the only one; null if there is none, or something else among them."""
        value = _first(fields, names)
        listed = [one for one in (value if isinstance(value, list) else [value]) if one not in (None, "")]
        if all(map(_is_text, listed)):
            return None if value is None else tuple(listed)
        self._odd(names[0], value)
        return None

    def _odd(self, place: str, value: Any, how: str = "left out") -> None:
        """Say that a value is odd, or not there, and how it was read."""
        self.remarks.append(f"{place}: {'missing' if value is None else f'{repr(value)[:LONGEST]} is {how}'}")

    def _required(self, fields: Fields, name: str, place: str = "") -> str:
        value = fields.get(name)
        self._require(_is_text(value), f"{place}{name}|text", f"{repr(value)[:LONGEST]} is no text")
        return value if _is_text(value) else ""

    def _require(self, holds: object, rule: str, reason: str) -> None:
        if not holds:
            self.faults.setdefault(rule, reason)

    def _require_distinct(self, place: str, names: Sequence[object]) -> None:
        twice = {str(name) for name in names if names.count(name) > 1}
        self._require(not twice, f"{place}|each_once", f"{', '.join(sorted(twice))} more than once")


def _first(fields: Fields, names: Sequence[str]) -> Any:
    return next((fields[name] for name in names if fields.get(name) is not None), None)


def _is_text(value: Any) -> TypeGuard[str]:
    return isinstance(value, str) and bool(value.strip())
