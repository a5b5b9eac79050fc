"""Score stored replies as the released MoodBench code would have.

Differences from tasks.metrics, all of them the released code's (data dictionary, sections 3.4 to 3.6, 4 and 9):

* Replies are read by `extract_letter` and `clean_span`, written from observed behaviour, mistakes included: what it makes of
  ordinary sentences is what its published scores rest on. Options are named by the letter of the place they were shown at.
* Gold is `reference_gold_indices` where an item has it; empty means that no answer can match.
* Predictions are upper case, letters after Z are not: options from the 27th place on can never be chosen.
* A failed call is an empty reply, hence wrong: `unparsed`, value 0. (Where a provider sends null instead of text the released run
  loses the whole dataset; that is not imitated.)
* Questionnaires: the key of the released files, no reverse-keyed and no filler items; an invalid letter earns the lowest points.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from string import ascii_letters
from typing import Any

import dataframely as dy

from schemas.blueprint import MethodSpec
from schemas.lineage import PartitionKey, PartitionRef
from schemas.metrics import Metric
from schemas.question_types import QuestionType
from schemas.tables.items import Items
from schemas.tables.responses import Answers
from schemas.tables.scores import ItemScores
from tasks.benchmarks.moodbench.reference.methods import is_asked, reference_blueprint, reference_gap
from tasks.lake.partitions import partition_key
from tasks.metrics.item_scores import ScoredAnswer, score_answers
from tasks.metrics.measures import label_f1, points_share
from tasks.metrics.metric import ScoringProfile
from tasks.metrics.texts import f_measure
from tasks.text.languages import cut_words


def rouge_1(text: str, reference: str) -> float:
    """Return f-measure of the distinct words that two texts share, in [0, 1]; 0 if one of them is empty.

    Words are jieba's, punctuation marks included. The released code takes rouge-chinese, which counts a word once however often
    it occurs; ROUGE-1 elsewhere counts every occurrence.
    """
    mine, theirs = ({word for word in cut_words(each) if word.strip()} for each in (text, reference))
    return f_measure(len(mine & theirs), len(mine), len(theirs))


def word_recall(text: str, reference: str) -> float:
    """Return the share of the reference's words that occur in a text, each as often as it occurs there, in [0, 1].

    Words are what stands between white space: case and punctuation count. The released code scores LongMemEval by it.
    """
    wanted = Counter(reference.split())
    return (wanted & Counter(text.split())).total() / wanted.total() if wanted else 0.0


UNKNOWN = "UNKNOWN"

_LETTER = "([A-Z])"
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    for pattern in (
        rf"答案[是为]?[:：]?{_LETTER}",
        rf"选择[:：]?{_LETTER}",
        rf"{_LETTER}(?:选项|项)",
        rf"^[^\S\n]*{_LETTER}[^\S\n]*$",
        rf"选项[:：]?{_LETTER}",
        rf"会选择选项[:：]?{_LETTER}",
        # Chinese characters are word characters: no boundary stands between them and a letter, hence nothing is found in 选B.
        rf"\b{_LETTER}\b",
    )
)
"""In order; the first that is found anywhere in the reply decides. No blanks before a letter are described, and none are read."""

_LEAD_INS = re.compile(r"^(?:根据(?:文本|文章|上文|原文|材料)[，,:：]?\s*|(?:答案|回答)(?:是|为)?[:：]?\s*|答[:：]\s*)+")
_QUOTES = "\"'“”‘’「」『』"
_END_MARKS = "。．.!！?？,，;；:：、"
_SENTENCE_END = re.compile(r"(?<=[。！？!?])")
LONG_ANSWER = 200
"""Characters; of longer spans only the first sentence is kept."""


def extract_letter(reply: str) -> str:
    """Return the letter the released code finds in a reply, upper case, or UNKNOWN.

    It may be a letter no option has, and it may be a word: "I think the answer is B." is read as I, "答案是None" as N.
    """
    for pattern in _PATTERNS:
        if match := pattern.search(reply):
            return match.group(1).upper()
    return UNKNOWN


def extract_letters(reply: str) -> frozenset[str]:
    """Return letters of a reply with several answers: each piece between ASCII commas is read on its own.

    A piece without a letter yields UNKNOWN, so the set is never empty: an empty reply is {UNKNOWN}.
    """
    return frozenset(extract_letter(piece) for piece in reply.split(","))


def clean_span(reply: str) -> str:
    """Return a span copied from a text, freed of what surrounds it: lead-ins, outer quotes, end marks; UNKNOWN if that is all.

    Of more than LONG_ANSWER characters only the first sentence is kept. Which lead-ins the released code strips is not part of
    its documented behaviour; the usual ones are taken.
    """
    text = _LEAD_INS.sub("", reply.strip()).strip(_QUOTES).rstrip(_END_MARKS).strip(_QUOTES).strip()
    if len(text) > LONG_ANSWER:
        text = _SENTENCE_END.split(text, maxsplit=1)[0].rstrip(_END_MARKS)
    return text or UNKNOWN


REFERENCE_VERSION = "3"
"""Bumped when a reply is read or scored differently in this profile; enters the fingerprint of item_scores."""

AGREEMENT_KEYED = frozenset({"eq60", "iri30", "effective_communication"})
"""Questionnaires whose released key is 1, 2, 3, ... in the order of the options, in every item."""

SPACELESS = frozenset({"cnewsum"})
"""Datasets whose reference loses all its spaces in the released code, those inside Latin text too."""

SUMMARY_DIGITS = 4
"""Decimal places the released code keeps of each summary's ROUGE."""

LETTERS = ascii_letters[26:] + ascii_letters[:26]
"""A to Z, then a to z; further options start again at A."""

NOT_ASKED = ScoredAnswer(None, "not_counted")


def score_reference(items: dy.DataFrame[Items], answers: dy.DataFrame[Answers], method: MethodSpec) -> dy.DataFrame[ItemScores]:
    """Score the answers to a dataset of MoodBench as its released code would, by a method of profile `reference`.

    Returns:
        One row per answer and metric, sorted by key, as score_items gives them, except that labels are letters as the
        released code writes them, UNKNOWN among them, and that failed calls count as wrong. Items whose type the metric does not
        fit, or which the released loader skips, are `not_counted`.

    Raises:
        ScoringError: if items are without answer or answers without item, or points do not allow a number.
    """
    by_item = {(row["dataset"], row["item_id"]): row for row in items.to_dicts()}

    def score(answer: Mapping[str, Any]) -> Iterator[ScoredAnswer]:
        item = by_item[answer["dataset"], answer["item_id"]]
        order = list(answer["option_order"] or range(len(item["options"] or ())))
        for spec in method.metrics:
            routine = _ROUTINES.get((spec.metric, item["question_type"])) if is_asked(item) else None
            yield routine(item, order, answer["text"] or "") if routine else NOT_ASKED

    return score_answers(items, answers, method, score)


def _score_letter(item: Mapping[str, Any], order: list[int], reply: str) -> ScoredAnswer:
    letter = extract_letter(reply)
    places = _gold_places(item, order)
    gold = [LETTERS[index % len(LETTERS)] for index in places]
    chosen = LETTERS.find(letter)
    return ScoredAnswer(
        # Compared with several letters at once, a single one never matches.
        value=float(gold == [letter]),
        status="unparsed" if letter == UNKNOWN else "scored",
        parsed_answer=letter,
        predicted=[letter],
        gold=gold,
        chosen_place=chosen if 0 <= chosen < len(order) else None,
        gold_place=places[0] if len(places) == 1 else None,
    )


def _score_letters(item: Mapping[str, Any], order: list[int], reply: str) -> ScoredAnswer:
    letters = extract_letters(reply)
    gold = {LETTERS[index % len(LETTERS)] for index in _gold_places(item, order)}
    indices = {letter: index for index, letter in enumerate(sorted(letters | gold))}
    return ScoredAnswer(
        value=label_f1([indices[letter] for letter in letters], [indices[letter] for letter in gold]),
        status="unparsed" if letters == {UNKNOWN} else "scored",
        parsed_answer=",".join(sorted(letters)),
        predicted=sorted(letters),
        gold=sorted(gold),
    )


def _score_span(item: Mapping[str, Any], _shown: list[int], reply: str) -> ScoredAnswer:
    span = clean_span(reply)
    return ScoredAnswer(rouge_1(span, item["references"][0]), "unparsed" if span == UNKNOWN else "scored", span)


def _score_summary(item: Mapping[str, Any], _shown: list[int], reply: str) -> ScoredAnswer:
    reference = item["references"][0]
    if item["dataset"] in SPACELESS:
        reference = reference.replace(" ", "")
    value = round(rouge_1(reply, reference), SUMMARY_DIGITS)
    return ScoredAnswer(value, "scored" if reply.strip() else "unparsed", reply or None)


def _score_recall(item: Mapping[str, Any], _shown: list[int], reply: str) -> ScoredAnswer:
    return ScoredAnswer(word_recall(reply, item["references"][0]), "scored" if reply.strip() else "unparsed", reply or None)


def _score_points(item: Mapping[str, Any], order: list[int], reply: str) -> ScoredAnswer:
    letter = extract_letter(reply)
    index = LETTERS.find(letter)
    if not 0 <= index < len(order):
        return ScoredAnswer(0.0, "unparsed", letter)
    ascending = [float(index) for index in range(len(order))]
    points = ascending if item["dataset"] in AGREEMENT_KEYED else item["option_points"]
    return ScoredAnswer(points_share(points, order[index]), "scored", letter)


def _gold_places(item: Mapping[str, Any], order: list[int]) -> list[int]:
    reference = item["reference_gold_indices"]
    return [order.index(index) for index in (item["gold_indices"] if reference is None else reference)]


_ROUTINES: Mapping[tuple[Metric, QuestionType], Callable[[Mapping[str, Any], list[int], str], ScoredAnswer]] = {
    ("accuracy", "single_choice"): _score_letter,
    ("accuracy", "multiple_answer"): _score_letter,
    # Of a ranking the released code reads the letter that is named first.
    ("accuracy", "ranking"): _score_letter,
    ("micro_f1", "multiple_answer"): _score_letters,
    ("rouge_1", "extractive"): _score_span,
    ("rouge_1", "judged_summary"): _score_summary,
    ("questionnaire_points", "questionnaire"): _score_points,
    ("word_recall", "open_ended"): _score_recall,
}


def reference_scores_key(answers: PartitionRef, methods: Sequence[MethodSpec]) -> PartitionKey:
    """Return the key of the scored items of one partition of answers; never that of the corrected profile."""
    method_fields = [{"method": method.id, "metrics": [metric.metric for metric in method.metrics]} for method in methods]
    settings = {"profile": "reference", "methods": method_fields}
    return partition_key("item_scores", dict(answers.place), settings, [answers.identity], REFERENCE_VERSION)


PROFILES = (
    ScoringProfile("reference", REFERENCE_VERSION, reference_blueprint, reference_gap, reference_scores_key, score_reference),
)
