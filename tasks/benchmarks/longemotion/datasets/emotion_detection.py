"""Emotion Detection: contrast sets, many texts of one emotion and one of another, which is to be found.

Source: LongEmotion, section 3.2.1; texts and emotions of the Real World Worry Dataset (arXiv:2004.04225).
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from hashlib import sha256
from random import Random
from typing import Literal, NamedTuple

from schemas.context import Context, ContextOptions, LazySample
from schemas.dataset import DatasetSpec
from schemas.item import Item, Record, text_id
from schemas.vocabulary import Language
from tasks.benchmarks.longemotion.datasets.release import PAPER, longemotion_file, one_per_record, released
from tasks.datasets.catalogue import pinned_in, read_differences
from tasks.text.tokens import count_tokens

MOST_OF_MAJORITY = 35
FEWEST_OF_MAJORITY = 25
"""Texts of the majority emotion in a set; an emotion with fewer texts can only be the odd one."""

SETS = 136

PUBLISHED: Mapping[tuple[str, str], int] = {
    ("Anxiety", "Relaxation"): 65,
    ("Relaxation", "Anxiety"): 23,
    ("Sadness", "Relaxation"): 23,
    ("Fear", "Relaxation"): 8,
    ("Anger", "Relaxation"): 8,
    ("Desire", "Relaxation"): 4,
    ("Happiness", "Relaxation"): 4,
    ("Disgust", "Relaxation"): 1,
}
"""Sets by majority and odd emotion, counted in the released file; in 113 of the 136 the odd one is Relaxation."""

QUESTION = "All of these texts but one were chosen for the same emotion. Which one was chosen for another?"


class Text(NamedTuple):
    """A text that can become a segment."""

    text: str
    emotion: str
    record: Record


class ContrastSet(NamedTuple):
    """Segments in order, and where the odd one stands."""

    texts: tuple[Text, ...]
    odd: int

    @property
    def odd_text(self) -> Text:
        """The text of the other emotion."""
        return self.texts[self.odd]

    @property
    def item_id(self) -> str:
        """Named after its content: sets of other options or seeds have other names."""
        content = "\0".join([str(self.odd), *(text.text for text in self.texts)])
        return f"ed-{sha256(content.encode()).hexdigest()[:12]}"


def build_contrast_sets(records: Sequence[Record], options: ContextOptions, seed: int) -> Sequence[LazySample]:
    """List the samples of Emotion Detection: as many sets as published, drawn from the corpus."""
    return [
        LazySample(drawn.item_id, drawn.odd_text.record, partial(_build, drawn), text_id(drawn.odd_text.text))
        for drawn in draw_sets(records, options, seed)
    ]


def draw_sets(records: Sequence[Record], options: ContextOptions, seed: int) -> list[ContrastSet]:
    """Return the 136 sets.

    No text is twice in a set. Between sets texts are reused as evenly as possible: the corpus has fewer than the sets need. The
    place of the odd text is drawn with equal chances, and so is its rank by length among the texts of the set.
    """
    texts = [Text(record.fields["text_long"].strip(), record.fields["chosen_emotion"], record) for record in records]
    pairs = plan_pairs(Counter(text.emotion for text in texts), options.emotion_pairs)
    rng = Random(f"contrast sets {seed}")  # noqa: S311 - a fixed draw, not a secret
    rng.shuffle(pairs)
    stock = Stock(texts, rng)
    return [stock.draw(majority, odd) for majority, odd in pairs]


Pair = tuple[str, str]
"""Majority emotion and odd emotion."""


def plan_pairs(texts: Mapping[str, int], kind: Literal["published", "balanced"]) -> list[Pair]:
    """Return the two emotions of each of the 136 sets; `texts`: how many there are of each emotion.

    `published` has every pair as often as the released file, `balanced` every emotion equally often as the odd one, and every one
    with texts enough equally often as the majority.
    """
    able = sorted(emotion for emotion, count in texts.items() if count >= FEWEST_OF_MAJORITY)
    return _published(texts, able) if kind == "published" else _balanced(sorted(texts), able)


def _published(texts: Mapping[str, int], able: list[str]) -> list[Pair]:
    """Sets of a majority that has too few texts here go to the most frequent pair: their share is small, the skew is kept."""
    possible = {pair: count for pair, count in PUBLISHED.items() if pair[0] in able and texts.get(pair[1])}
    most = max(possible, key=lambda pair: possible[pair])
    possible[most] += SETS - sum(possible.values())
    return [pair for pair, count in possible.items() for _ in range(count)]


def _balanced(emotions: list[str], able: list[str]) -> list[Pair]:
    """One odd emotion after the other, each with the majority it met least often; of these the one that was majority least."""
    pairs: Counter[Pair] = Counter()
    majorities: Counter[str] = Counter()
    planned = []
    odd_ones = [emotion for emotion in emotions if [emotion] != able]
    for number in range(SETS):
        odd = odd_ones[number % len(odd_ones)]
        others = [majority for majority in able if majority != odd]
        majority = min(others, key=lambda name: (pairs[name, odd], majorities[name], name))
        pairs[majority, odd] += 1
        majorities[majority] += 1
        planned.append((majority, odd))
    return planned


class Stock:
    """The texts by emotion, and how often each was used."""

    def __init__(self, texts: Sequence[Text], rng: Random) -> None:
        self._rng = rng
        self._used: Counter[str] = Counter()
        self._by_emotion: dict[str, list[Text]] = {}
        for text in texts:
            self._by_emotion.setdefault(text.emotion, []).append(text)

    def draw(self, majority: str, odd: str) -> ContrastSet:
        """Return one set: 25 to 35 texts of the majority emotion and one of the odd emotion.

        First its size and the odd one's rank by length are drawn, then texts that fit, the least used first. Where no odd text
        has enough shorter or longer ones for that rank, the nearest rank that some text can have is taken.
        """
        pool = self._by_emotion[majority]
        n = self._rng.randint(FEWEST_OF_MAJORITY, min(MOST_OF_MAJORITY, len(pool)))
        wanted = self._rng.randint(0, n)
        chosen, rank = self._choose_odd(self._least_used(self._by_emotion[odd]), pool, n, wanted)
        shorter = self._least_used([text for text in pool if len(text.text) < len(chosen.text)])
        longer = self._least_used([text for text in pool if len(text.text) > len(chosen.text)])
        others = [*shorter[:rank], *longer[: n - rank]]
        self._rng.shuffle(others)
        self._used.update(text.text for text in (chosen, *others))
        odd_index = self._rng.randint(0, n)
        return ContrastSet((*others[:odd_index], chosen, *others[odd_index:]), odd_index)

    def _least_used(self, texts: Sequence[Text]) -> list[Text]:
        return sorted(self._rng.sample(texts, len(texts)), key=lambda text: self._used[text.text])

    def _choose_odd(self, candidates: Sequence[Text], pool: Sequence[Text], n: int, wanted: int) -> tuple[Text, int]:
        lengths = sorted(len(text.text) for text in pool)
        candidate_ranks: list[tuple[int, int, Text]] = []
        for text in candidates:
            longer = len(lengths) - bisect_right(lengths, len(text.text))
            lowest, highest = max(0, n - longer), min(n, bisect_left(lengths, len(text.text)))
            rank = min(max(wanted, lowest), highest)
            if lowest <= rank:
                candidate_ranks.append((abs(rank - wanted), rank, text))
            if candidate_ranks and candidate_ranks[-1][0] == 0:
                break
        _, rank, chosen = min(candidate_ranks, key=lambda entry: entry[0])
        return chosen, rank


def _build(contrast_set: ContrastSet) -> tuple[Item, Context]:
    segments, emotions = [text.text for text in contrast_set.texts], [text.emotion for text in contrast_set.texts]
    item, context = build_contrast(segments, emotions, contrast_set.odd)
    return item, context.model_copy(update={"needle_id": f"row {contrast_set.odd_text.record.row}"})


def read_contrast_set(record: Record) -> tuple[Item, Context]:
    """Return one item of a released record, whose segments are in order; `ground_truth` is the place of the odd one."""
    fields = record.fields
    return build_contrast([segment["context"].strip() for segment in fields["text"]], fields["label"], fields["ground_truth"])


def build_contrast(
    segments: Sequence[str], labels: Sequence[str], odd: int, question: str = QUESTION, language: Language = "en"
) -> tuple[Item, Context]:
    """Return the item of a contrast set: segments in order, the emotion of each, and the index of the odd one."""
    majority = next(label for label in labels if label != labels[odd])
    item = Item(
        language=language,
        question_type="odd_one_out",
        question=question,
        options=tuple(segments),
        gold_indices=(odd,),
        subset=f"{labels[odd]} among {majority}",
        fixed_order=True,
    )
    return item, Context(task="ed", tokens=sum(map(_count_tokens, segments)), needle=segments[odd])


# A text stands in several sets.
_count_tokens = lru_cache(maxsize=2048)(count_tokens)

read_contrast_sets = one_per_record(lambda record: f"ed-{record.sha256[:12]}", read_contrast_set)
"""Sample builder of the released Emotion Detection; items are named after their content."""

_worry_file = pinned_in("github.com/ben-aaron188/covid19worry", "7324d50869578589a47781bc1d26123ca48e27c8")

ED = DatasetSpec(
    id="longemotion_ed",
    evaluation_version="1.1",
    title="LongEmotion, emotion detection, built anew",
    files=(_worry_file("data_phase_1/files_clean/meta/rwwd_full.csv"),),
    sample_builder=build_contrast_sets,
    task="ed",
    question_types=("odd_one_out",),
    licence="GPL-3.0 for the repository; terms for passing its participants' texts on not verified",
    paper=f"{PAPER}, sections 3.1 and 3.2.1; texts: Kleinberg et al. 2020, arXiv:2004.04225",
    expected_rows=2491,
    differences=read_differences("longemotion_ed"),
)

ED_RELEASED = released(
    id="longemotion_ed_released",
    title="LongEmotion, emotion detection, released file",
    files=(longemotion_file("data/Emotion_Detection.jsonl"),),
    sample_builder=read_contrast_sets,
    task="ed",
    question_types=("odd_one_out",),
    paper=f"{PAPER}, section 3.2.1",
    expected_rows=136,
    differences=("In 113 of 136 sets the odd one is Relaxation, in the others it is Anxiety among Relaxation.",),
)

ED_BACKUP = replace(
    ED_RELEASED,
    id="longemotion_ed_backup",
    title="LongEmotion, emotion detection, earlier version of the released file",
    files=(longemotion_file("data/Emotion_Detection_backup.jsonl"),),
    differences=(*ED_RELEASED.differences, *read_differences("longemotion_ed_backup")),
)
