"""Check that a dataset is what its catalogue entry says, and which scores it allows.

For these, replies are imagined: of a model that knows the gold, and of models that always name the same letter, or its option.
They go through the same parsing and scoring as real ones, so that a ceiling below 100 shows a fault of the gold, of the prompt
or of the parser, whichever it is.
"""

import json
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dataframely as dy
import polars as pl

from schemas.blueprint import Blueprint
from schemas.dataset import DatasetSpec, PinnedFile
from schemas.errors import SourceError
from schemas.letters import option_letters
from schemas.question_types import answered_by
from schemas.tables.items import Items
from schemas.tables.responses import Answers
from tasks.datasets.building import build_of_records
from tasks.datasets.rejected_rows import describe_rejected, require_layout
from tasks.metrics.answer_forms import Question, right_reply, write_options
from tasks.metrics.item_scores import score_items, wholes_of
from tasks.scoring.benchmark import ScoreSettings, score_benchmark
from tasks.sources.locating import Locator, choose_source, needs
from tasks.sources.reading import read_dataset

Row = Mapping[str, Any]
_DIVIDING = str.maketrans("", "", ".,;:!?…'\"“”‘’。，、；：！？")


@dataclass(frozen=True)
class Content:
    """Counts over the items made of a dataset's records.

    `rejected` counts broken rules, an item may break several. `gold` counts right options by the letter they are shown with.
    `duplicates`: items that ask what an earlier one asks. `contradictions`: those of them with other gold.
    """

    items_read: int
    good: int
    rejected: dict[str, int]
    languages: dict[str, int]
    question_types: dict[str, int]
    gold: dict[str, int]
    duplicates: int
    contradictions: int


def describe_content(good: pl.DataFrame, rejected: pl.DataFrame) -> Content:
    """Count what is there; `good`: rows of `items` that break no rule, `rejected`: the others, with `broken_rules`."""
    duplicates, contradictions = count_repeats(good)
    return Content(
        items_read=good.height + rejected.height,
        good=good.height,
        rejected=_counted(rejected["broken_rules"].explode()),
        languages=_counted(good["language"]),
        question_types=_counted(good["question_type"]),
        gold=count_gold(good),
        duplicates=duplicates,
        contradictions=contradictions,
    )


def count_gold(good: pl.DataFrame) -> dict[str, int]:
    """Count how often each letter is right, in the order of letters; questions of several golds count each."""
    chosen = good.filter(pl.col("question_type").is_in(answered_by("letter", "letters", "ranking")))
    counts = Counter(chosen["gold_indices"].explode().drop_nulls().to_list())
    letters = option_letters(max(counts) + 1) if counts else ()
    return {letters[index]: counts[index] for index in sorted(counts)}


def count_repeats(good: pl.DataFrame) -> tuple[int, int]:
    """Count items that ask what an earlier one asks, and those of them whose gold is new."""
    seen: defaultdict[str, set[frozenset[str]]] = defaultdict(set)
    duplicates = contradictions = 0
    for row in good.iter_rows(named=True):
        known, gold = seen[question_key(row)], gold_texts(row)
        duplicates += bool(known)
        contradictions += bool(known) and gold not in known
        known.add(gold)
    return duplicates, contradictions


def _counted(values: pl.Series) -> dict[str, int]:
    counts = Counter(values.cast(pl.String).drop_nulls().to_list())
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))


def question_key(row: Row) -> str:
    """Return a key that is equal for items that ask the same, whatever their order of options, capitals and punctuation."""
    options = sorted(_essence(option) for option in row["options"] or ())
    return json.dumps([_essence(row["context"] or ""), _essence(row["question"]), options], ensure_ascii=False)


def gold_texts(row: Row) -> frozenset[str]:
    """Return texts of the right options, else the references, in the same form."""
    if row["options"] and row["gold_indices"]:
        return frozenset(_essence(row["options"][index]) for index in row["gold_indices"])
    return frozenset(_essence(text) for text in row["references"] or ())


def _essence(text: str) -> str:
    """Return letters, digits and symbols of a text, lower-cased; of a text that has none the text itself.

    Marked words (between asterisks) and signs of formulas tell items apart, so only punctuation that ends or divides sentences is
    left out.
    """
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join(plain.translate(_DIVIDING).split()) or plain


PERFECT = "perfect"
NO_INTERVALS = ScoreSettings(bootstrap=0)


@dataclass(frozen=True)
class Reachable:
    """Scores on 0-100 as the blueprint weighs the dataset's metrics.

    `ceiling` is null where only a judge decides or several answers count together; `constant` maps each letter to the score of
    always answering with it, and is empty where nothing is asked by letter.
    """

    ceiling: float | None
    constant: dict[str, float]


def reachable_scores(items: dy.DataFrame[Items], blueprint: Blueprint) -> Reachable:
    """Score imagined models on all good items of a dataset of the blueprint, by its methods that read one reply alone."""
    (dataset,) = items["dataset"].unique()
    methods = [method for method in blueprint.datasets[dataset].methods if not (method.judged or wholes_of([method]))]
    if not methods:
        return Reachable(None, {})
    answers = _imagined_answers(items)
    scored = pl.concat([score_items(items, answers, None, method) for method in methods])
    tables = score_benchmark(scored.lazy(), blueprint, NO_INTERVALS)
    rows = tables.dataset.filter(pl.col("dataset") == dataset).drop_nulls("score_0_100").select("model", "score_0_100")
    scores = dict(sorted(rows.iter_rows(), key=lambda row: (len(row[0]), row[0])))
    return Reachable(scores.pop(PERFECT), scores)


@dataclass(frozen=True)
class DatasetCheck:
    """What was found of one dataset.

    `ready`: its files are here and are the pinned ones, every record was read, and no row breaks a rule but those that the entry
    states. If it is not, `needs` says what is missing or wrong; the rest is null if nothing could be read.
    """

    spec: DatasetSpec
    needs: tuple[str, ...] = ()
    rows_read: int | None = None
    content: Content | None = None
    reachable: Reachable | None = None

    @property
    def ready(self) -> bool:
        """Whether the dataset can be used here."""
        return not self.needs

    @property
    def sources(self) -> list[str]:
        """Repository and revision of its files."""
        files = [file for file in self.spec.files if isinstance(file, PinnedFile)]
        return list(dict.fromkeys(f"{file.repository} at {file.revision}" for file in files)) or ["data/bundled"]

    @property
    def pinned(self) -> bool:
        """Whether the content of every file is pinned by its hash."""
        return all(file.sha256 or file.md5 for file in self.spec.files if isinstance(file, PinnedFile))


def check_dataset(spec: DatasetSpec, blueprint: Blueprint | None, locator: Locator) -> DatasetCheck:
    """Find or fetch the files, verify, read and validate them, and score imagined models on the items.

    Of a dataset with long contexts, all items are built, with the usual options and seed 0. Without a blueprint that names the
    methods nothing is scored.
    """
    chosen = choose_source(spec, locator)
    try:
        records = read_dataset(chosen, [locator.locate(file) for file in chosen.files])
        built = build_of_records(chosen, records, None, 0)
        require_layout(chosen, built.rejected)
        return DatasetCheck(
            chosen,
            needs=(describe_rejected(chosen, built.rejected),) if built.rejected.height > chosen.broken_rows else (),
            rows_read=len(records),
            content=describe_content(built.items, built.rejected),
            reachable=Reachable(None, {}) if blueprint is None else reachable_scores(built.items, blueprint),
        )
    except SourceError as error:
        # The files may all be here and say something else than the entry does.
        return DatasetCheck(chosen, needs=needs(spec, locator) or (str(error),))


def _imagined_answers(items: dy.DataFrame[Items]) -> dy.DataFrame[Answers]:
    """Return the answers to a dataset's items of the perfect model and of one constant model per letter that some item has."""
    rows = list(items.iter_rows(named=True))
    replies = [(PERFECT, row, reply) for row, reply in zip(rows, perfect_replies(rows), strict=True)]
    replies += [(letter, row, constant_reply(row, letter)) for letter in letters_of(rows) for row in rows]
    same = {"setting": "base", "repetition": 0, "part": "", "status": "answered", "call_keys": []}
    answers = [
        {**same, "dataset": row["dataset"], "item_id": row["item_id"], "model": model, "text": reply}
        for model, row, reply in replies
    ]
    frame = pl.DataFrame(answers, schema=Answers.create_empty().schema)
    return Answers.validate(frame.sort(Answers.primary_key()))


def letters_of(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return every letter that names an option of some item, or would; adjectives that are to be rated are no options."""
    chosen_from = [row["options"] or () for row in rows if row["question_type"] not in answered_by("text")]
    longest = max(map(len, chosen_from), default=0)
    return option_letters(longest) if longest else ()


def perfect_replies(rows: Sequence[Row]) -> Iterator[str]:
    """Return the best replies of a model that answers equal questions alike: of several golds it takes the most frequent.

    What is right is found by the text of the option, wherever the order puts it.
    """
    golds: defaultdict[str, Counter[frozenset[str]]] = defaultdict(Counter)
    for row in rows:
        golds[question_key(row)][gold_texts(row)] += 1
    right = {key: counts.most_common(1)[0][0] for key, counts in golds.items()}
    for row in rows:
        gold = right[question_key(row)]
        fields = {} if gold == gold_texts(row) else _gold_of_texts(row, gold)
        yield right_reply(Question.from_row({**row, **fields}))


def _gold_of_texts(row: Row, texts: frozenset[str]) -> dict[str, Any]:
    """Return the gold fields of a row if these texts were right."""
    if not row["options"]:
        return {"references": sorted(texts)}
    places = [place for place in range(len(row["options"])) if gold_texts({**row, "gold_indices": [place]}) <= texts]
    return {"gold_indices": places}


def constant_reply(row: Row, letter: str) -> str:
    """Return always the same letter; where no letters are asked for, the option it would stand for, if there is one."""
    letters = option_letters(len(row["options"] or ()))
    return write_options(Question.from_row(row), [letters.index(letter)]) if letter in letters else letter
