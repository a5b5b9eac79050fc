"""Read the record of a conversation as AttuneBench releases it, field by field as its scorer does, older spellings included.

An odd value is missing, or a remark says how it was read. Whatever leaves open which conversation, turn or tag is meant is a
fault, named `field|rule`, such as `turns.moodShiftTags|each_once`, and the record is refused. Nothing that is missing is filled
in. Source: AttuneBench 1.0, README; the public port of its scorer.
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
from tasks.benchmarks.attunebench.datasets.codebook import LABELS, load_codebook, panas_items, read_number, read_side

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
    """Reads one record, and keeps what is odd in it."""

    remarks: list[str] = field(default_factory=list)
    faults: dict[str, str] = field(default_factory=dict)
    """By rule, why the record is refused."""

    def read(self, record: Fields) -> tuple[ConversationGold, Fields, dict[str, str]]:
        """Return the annotations, what is visible but for the codebook, and groups of results; of no use if there are faults."""
        turns = [self._turn(turn, index) for index, turn in enumerate(self._get(record, "turns", list) or (), start=1)]
        self._require(turns, "turns|one_turn", "there is none")
        self._require_distinct("turns.turnNumber", [gold.number for gold, _ in turns])
        language = record.get("language") or "en"
        self._require(language in LANGUAGES, "language|known", f"{language} is none of {', '.join(LANGUAGES)}")
        metadata, profile = (self._get(record, name, dict) or {} for name in ("metadata", "participant_profile"))
        category, subtopic = (self._text(metadata, name) for name in ("category", "subtopic"))
        groups = self._groups({"topic": category, "original_model": self._text(metadata, "model")}, profile)
        # Of too many values to break a report down by them: conditions alone name these.
        stated = {"subtopic": subtopic, "topic_attitude": self._text(profile, "conversation_topic_attitude")}
        unlisted = {name: text for name, text in stated.items() if text}
        gold = ConversationGold(
            conversation_id=self._required(record, "conversationId"),
            participant_id=self._text(profile, "participant_id"),
            turns=tuple(gold for gold, _ in turns),
            pre_panas=self._panas(record, "prePanas"),
            post_panas=self._panas(record, "postPanas"),
            groups={**groups, **unlisted, **self._scores(profile)},
            **self._wide(self._get(record, "conversationWideQuestions", dict) or {}),
        )
        topic = self._text(metadata, "text") or ": ".join(filter(None, (category, subtopic))) or None
        visible = {"conversation_id": gold.conversation_id, "language": language, "topic": topic, "profile": profile}
        return gold, {**visible, "turns": [turn for _, turn in turns]}, groups

    def _turn(self, turn: Any, index: int) -> tuple[TurnGold, VisibleTurn]:
        turn = turn if isinstance(turn, dict) else {}
        stated = read_number(turn.get("turnNumber"))
        number = int(stated) if stated is not None and stated in range(1, 10_000) else index
        if stated != number:
            self._odd("turnNumber", turn.get("turnNumber"), f"read as {index}")
        at = f"turn {number} "
        notes = self._get(turn, "annotations", dict, at) or {}
        alternates = self._get(notes, "alternateResponses", dict, at) or {}
        texts = {label: text for label, names in ALTERNATES.items() if (text := self._text(alternates, *names, at=at))}
        judgements, comparisons = self._judgements(notes, at), self._comparisons(notes, texts, at)
        visible = {
            "number": number,
            "user_message": self._required(turn, "userMessage", "turns."),
            "model_reply": self._required(turn, "llmResponse", "turns."),
            "questions": [row.question for row in judgements if {row.observed, row.preferred} - {None} != {"na"}],
            "comparisons": [comparison.model_dump(exclude={"winner"}) for comparison in comparisons],
            "alternates": texts,
        }
        annotations = {"emotions": self._emotions(turn, at), "judgements": judgements, "comparisons": comparisons}
        return TurnGold(number=number, human_edit=texts.get("human"), **annotations), VisibleTurn.model_validate(visible)

    def _emotions(self, turn: Fields, at: str) -> tuple[EmotionTag, ...] | None:
        rows = self._rows(turn, "moodShiftTags", "emotion", at)
        tags = [(name.strip().lower(), tag.get("intensity")) for name, tag in rows or () if name]
        self._require_distinct("turns.moodShiftTags", [name for name, _ in tags])
        for name in sorted({name for name, _ in tags} - load_codebook().adjectives.keys()):
            self._odd(f"{at}emotion", name, "none of the twenty adjectives")
        if rows is None or len(tags) < len(rows):
            return None
        numbers = ((name, WORDED_INTENSITIES.get(str(value).strip().lower(), value)) for name, value in tags)
        return tuple(EmotionTag(name=name, intensity=self._number(value, f"{at}intensity")) for name, value in numbers)

    def _judgements(self, notes: Fields, at: str) -> tuple[Judgement, ...]:
        rows = [(name, row) for name, row in self._rows(notes, "binaryJudgements", "questionId", at) or () if name]
        self._require_distinct("turns.annotations.binaryJudgements", [name for name, _ in rows])
        return tuple(
            Judgement(question=name, observed=self._yes_no(row, OBSERVED, at), preferred=self._yes_no(row, PREFERRED, at))
            for name, row in rows
        )

    def _yes_no(self, judgement: Fields, names: Sequence[str], at: str) -> YesNo | None:
        text = self._text(judgement, *names, at=at)
        word = text and text.strip().lower()
        if word not in (None, *get_args(YesNo)):
            self._odd(f"{at}{names[0]}", text)
            return None
        return cast("YesNo | None", word)

    def _comparisons(self, notes: Fields, texts: Fields, at: str) -> tuple[Comparison, ...]:
        rows = self._rows(notes, "pairwiseComparisons", "questionId", at) or []
        rule = "turns.annotations.pairwiseComparisons|twelve_comparisons"
        self._require(len(rows) in (0, COMPARED), rule, f"{at}has {len(rows)} comparisons")
        read = [self._comparison(name, row, at) for name, row in rows]
        kept = tuple(pair for pair in read if pair and {pair.label_a, pair.label_b} <= {"original", *texts})
        if len(kept) == len(read):
            return kept
        self.remarks.append(f"{at}has no comparisons: {len(read) - len(kept)} of {len(read)} cannot be shown")
        return ()

    def _comparison(self, question: str | None, row: Fields, at: str) -> Comparison | None:
        sides = (self._text(row, *names, at=at) or "" for names in (("responseA", "response_1"), ("responseB", "response_2")))
        label_a, label_b = (cast("ReplyLabel | None", LABELS.get(side.strip().lower())) for side in sides)
        if question is None or label_a is None or label_b in (None, label_a):
            return None
        side = read_side(row.get("winner"), label_a, label_b)
        if row.get("winner") is not None and side is None:
            self._odd(f"{at}winner", row["winner"])
        winner = side and (label_a if side == "A" else label_b)
        return Comparison(question=question, label_a=label_a, label_b=label_b, winner=winner)

    def _panas(self, record: Fields, name: str) -> Panas:
        panas, book = self._get(record, name, dict) or {}, load_codebook()
        numbers = {item: self._number(value, f"{name} {item}") for item, value in panas_items(panas).items()}
        items = {item: number for item, number in numbers.items() if number is not None}
        if panas and (lacking := [item for item in book.adjectives if item not in items]):
            self.remarks.append(f"{name} has no {', '.join(lacking)}")
        summed = {sign: book.total(sign, items) for sign in TOTALS}
        stored = {sign: self._number(panas.get(total), f"{name} {total}", 10, 70) for sign, total in TOTALS.items()}
        for sign, total in TOTALS.items():
            if None not in (summed[sign], stored[sign]) and summed[sign] != stored[sign]:
                self.remarks.append(f"{name} {total} is {stored[sign]}, and its items add up to {summed[sign]}")
        return Panas(items=items, stored=PanasTotals.model_validate(stored), recomputed=PanasTotals.model_validate(summed))

    def _wide(self, section: Fields) -> Fields:
        ratings = self._get(section, "fourBranchScores", dict) or {}
        answers = WideAnswers(
            q1=self._texts(section, "q1_lookingFor", "Q1"),
            q2=self._text(section, "q2_emotionClarity", "Q2"),
            q3=self._text(section, "q3_modelFit", "Q3"),
            follow_up=self._texts(section, FOLLOW_UP) if section.get(FOLLOW_UP) else (),
        )
        return {
            "answers": answers,
            "branches": {name: self._number(ratings.get(name), name) for name in load_codebook().branches},
        }

    def _groups(self, groups: Mapping[str, str | None], profile: Fields) -> dict[str, str]:
        """Add the demographics of a profile; several diagnoses are one group, in the order of their names."""
        people = self._get(profile, "demographics", dict) or {}
        demographics = {name: "; ".join(sorted(self._texts(people, name) or ())) for name in people}
        return {name: value for name, value in {**groups, **demographics}.items() if value}

    def _scores(self, profile: Fields) -> dict[str, str]:
        computed = self._get(profile, "computed_scores", dict) or {}
        scores = {name: score for name, score in computed.items() if score is not None}
        for name, (low, high) in RANGES.items():
            number = read_number(scores.get(name))
            if name in scores and (number is None or not low <= number <= high):
                self._odd(name, scores.pop(name), f"left out, since it is not {low} to {high}")
        return {name: str(score) for name, score in scores.items()}

    def _get(self, fields: Fields, name: str, kind: type[Kind], at: str = "") -> Kind | None:
        """Return a value of this kind; null if there is none, or an empty object, with a remark unless `fields` is empty, too."""
        value = fields.get(name)
        if isinstance(value, kind) and value != {}:
            return value
        if fields:
            self._odd(f"{at}{name}", value or None)
        return None

    def _rows(self, fields: Fields, name: str, key: str, at: str) -> list[tuple[str | None, Fields]] | None:
        """Return the objects of a list, each with its text under `key`, null if there is none; null if there is no list."""
        rows = self._get(fields, name, list, at)
        objects = [row if isinstance(row, dict) else {} for row in rows or ()]
        for row in (row for row, entry in zip(rows or (), objects, strict=True) if not _is_text(entry.get(key))):
            self._odd(f"{at}{name}", row)
        return None if rows is None else [(row[key] if _is_text(row.get(key)) else None, row) for row in objects]

    def _number(self, value: Any, name: str, low: int = 1, high: int = 7) -> int | None:
        """Return a number, rounded into its range; null if there is none."""
        number = read_number(value)
        kept = None if number is None else min(max(round(number), low), high)
        if value is not None and (number is None or kept != round(number)):
            self._odd(name, value, "left out" if kept is None else f"read as {kept}")
        return kept

    def _text(self, fields: Fields, *names: str, at: str = "") -> str | None:
        """Return the text under the first of the names that has a value; null if there is none."""
        value = _first(fields, names)
        if value is not None and not _is_text(value):
            self._odd(f"{at}{names[0]}", value)
        return value if _is_text(value) else None

    def _texts(self, fields: Fields, *names: str) -> tuple[str, ...] | None:
        """Return the texts of a list, or a single text; null if there is none, or something else among them."""
        value = _first(fields, names)
        texts = [text for text in (value if isinstance(value, list) else [value]) if text not in (None, "")]
        if all(map(_is_text, texts)):
            return None if value is None else tuple(texts)
        self._odd(names[0], value)
        return None

    def _odd(self, name: str, value: Any, reading: str = "left out") -> None:
        """Add a remark that a value is odd, or missing, and how it was read."""
        self.remarks.append(f"{name}: {'missing' if value is None else f'{repr(value)[:LONGEST]} is {reading}'}")

    def _required(self, fields: Fields, name: str, section: str = "") -> str:
        value = fields.get(name)
        self._require(_is_text(value), f"{section}{name}|text", f"{repr(value)[:LONGEST]} is no text")
        return value if _is_text(value) else ""

    def _require(self, holds: object, rule: str, reason: str) -> None:
        if not holds:
            self.faults.setdefault(rule, reason)

    def _require_distinct(self, name: str, values: Sequence[object]) -> None:
        repeated = {str(value) for value in values if values.count(value) > 1}
        self._require(not repeated, f"{name}|each_once", f"{', '.join(sorted(repeated))} more than once")


def _first(fields: Fields, names: Sequence[str]) -> Any:
    return next((fields[name] for name in names if fields.get(name) is not None), None)


def _is_text(value: Any) -> TypeGuard[str]:
    return isinstance(value, str) and bool(value.strip())
