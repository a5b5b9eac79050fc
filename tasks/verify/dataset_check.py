"""Show entries of the catalogue; check that a dataset is what its entry says, and which scores it allows.

For these, replies are imagined: of a model that knows the gold, and of models that always name the same letter, or its option.
They go through the same parsing and scoring as real ones, so that a ceiling below 100 shows a fault of the gold, of the prompt
or of the parser, whichever it is.
"""

import json
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import dataframely as dy
import polars as pl

from schemas.blueprint import Blueprint
from schemas.dataset import DatasetSpec, PinnedFile, SourceFile
from schemas.documents.datasets import (
    DatasetCheck,
    DatasetChecks,
    DatasetContent,
    DatasetEntry,
    DatasetList,
    DatasetRow,
    RatingsContent,
    ReachableScores,
)
from schemas.errors import SourceError
from schemas.folders import DATA_FOLDER
from schemas.item import option_letters
from schemas.json_yaml import read_json
from schemas.question_types import answered_by
from schemas.tables.items import Items
from schemas.tables.ratings import UNIT
from schemas.tables.responses import Answers
from tasks.datasets.building import build_of_records
from tasks.datasets.catalogue import CATALOGUE
from tasks.datasets.rejected_rows import describe_rejected, require_layout
from tasks.metrics.answer_forms import Question, right_reply, write_options
from tasks.metrics.item_scores import score_items, wholes_of
from tasks.ratings.reading import RatedSource, read_entry
from tasks.scoring.benchmark import ScoreSettings, score_benchmark
from tasks.sources.files import name_source
from tasks.sources.locating import Locator, choose_source, name_repositories, needs, sources
from tasks.sources.reading import read_dataset

Row = Mapping[str, Any]
FETCHES_AT_ONCE = 4
EXAMPLES = DATA_FOLDER / "examples"
_DIVIDING = str.maketrans("", "", ".,;:!?…'\"“”‘’。，、；：！？")


def list_datasets(locator: Locator) -> DatasetList:
    """List every dataset of the catalogue."""
    return DatasetList(datasets=tuple(_list_dataset(entry, locator) for entry in CATALOGUE.values()))


def _list_dataset(entry: DatasetSpec, locator: Locator) -> DatasetRow:
    spec, lacking = choose_source(entry, locator), needs(entry, locator)
    return DatasetRow(
        **{name: getattr(spec, name) for name in ("id", "title", "languages", "licence")},
        ready=not lacking,
        needs=lacking,
        source=None if lacking else name_repositories(spec) or "bundled",
    )


def describe_entry(entry: DatasetSpec, locator: Locator) -> DatasetEntry:
    """Return what the catalogue says of a dataset."""
    spec, example = choose_source(entry, locator), EXAMPLES / f"{entry.id}.json"
    others = [file for other in sources(entry) if other is not spec for file in other.files]
    is_public = not spec.ratings and any(isinstance(file, PinnedFile) for file in (*spec.files, *others))
    return DatasetEntry(
        used_here=name_repositories(spec) or "bundled",
        files=tuple(map(_describe_file, spec.files)),
        other_sources=tuple(map(_describe_file, others)),
        example=read_json(example.read_bytes()) if example.is_file() else {},
        own_folder=f"moodflow run BENCHMARK --datasets {spec.id} --set folders.{spec.id}=DIR" if is_public else None,
        **{name: getattr(spec, name) for name in DatasetEntry.model_fields if hasattr(spec, name) and name != "files"},
    )


def _describe_file(file: SourceFile) -> str:
    """Describe where a file comes from and what pins it."""
    if not isinstance(file, PinnedFile):
        return name_source(file)
    member = f", member {file.member}" if file.member else ""
    pin = f"sha256 {file.sha256}" if file.sha256 else f"md5 {file.md5}" if file.md5 else "not pinned by content"
    return f"{file.repository}/{file.path}{member} at {file.revision}, {pin}"


def describe_content(good: pl.DataFrame, rejected: pl.DataFrame) -> DatasetContent:
    """Count what is there; `good`: rows of `items` that break no rule, `rejected`: the others, with `broken_rules`."""
    duplicates, contradictions = count_repeats(good)
    return DatasetContent(
        items_read=good.height + rejected.height,
        good=good.height,
        rejected=_counted(rejected["broken_rules"].explode()),
        languages=_counted(good["language"]),
        question_types=_counted(good["question_type"]),
        gold=count_gold(good),
        duplicates=duplicates,
        contradictions=contradictions,
    )


def describe_ratings(source: RatedSource) -> RatingsContent:
    """Count what is there of ratings by people."""
    rows = source.ratings
    return RatingsContent(
        good=rows.height,
        given=rows["rating"].count(),
        refused=Counter(row.rule for row in source.refused),
        raters=dict(rows.group_by("rater_kind").agg(pl.col("rater").n_unique()).sort("rater_kind").iter_rows()),
        units=rows.select(UNIT).n_unique(),
        dimensions=tuple(rows["dimension"].unique().sort()),
        texts=source.texts.height,
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
        golds, gold = seen[question_key(row)], gold_texts(row)
        duplicates += bool(golds)
        contradictions += bool(golds) and gold not in golds
        golds.add(gold)
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


def reachable_scores(items: dy.DataFrame[Items], blueprint: Blueprint) -> ReachableScores:
    """Score imagined models on all good items of a dataset of the blueprint, by its methods that read one reply alone."""
    (dataset,) = items["dataset"].unique()
    methods = [method for method in blueprint.datasets[dataset].methods if not (method.judged or wholes_of([method]))]
    if not methods:
        return ReachableScores()
    answers = _imagined_answers(items)
    scored = pl.concat([score_items(items, answers, None, method) for method in methods])
    tables = score_benchmark(scored.lazy(), blueprint, ScoreSettings())
    rows = tables.dataset.filter(pl.col("dataset") == dataset).drop_nulls("score_0_100").select("model", "score_0_100")
    scores = dict(sorted(rows.iter_rows(), key=lambda row: (len(row[0]), row[0])))
    return ReachableScores(ceiling=scores.pop(PERFECT), constant=scores)


def check_datasets(specs: Iterable[DatasetSpec], blueprints: Sequence[Blueprint], locator: Locator) -> DatasetChecks:
    """Check datasets, several at once, each by the first blueprint that has it."""

    def check(spec: DatasetSpec) -> DatasetCheck:
        return check_dataset(spec, next((each for each in blueprints if spec.id in each.datasets), None), locator)

    with ThreadPoolExecutor(FETCHES_AT_ONCE) as pool:
        checks = tuple(pool.map(check, specs))
    return DatasetChecks(ready=sum(check.ready for check in checks), total=len(checks), datasets=checks)


def check_dataset(spec: DatasetSpec, blueprint: Blueprint | None, locator: Locator) -> DatasetCheck:
    """Find or fetch the files, verify, read and validate them, and score imagined models on the items.

    Of a dataset with long contexts, all items are built, with the usual options and seed 0. Without a blueprint that names the
    methods nothing is scored.
    """
    chosen = choose_source(spec, locator)
    try:
        if chosen.ratings:
            source = read_entry(chosen, locator)
            broken = (f"{len(source.refused)} rows break a rule",) if source.refused else ()
            return _checked(chosen, broken, rows_read=source.read, ratings=describe_ratings(source))
        records = read_dataset(chosen, [locator.locate(file) for file in chosen.files])
        built = build_of_records(chosen, records, None, 0)
        require_layout(chosen, built.rejected)
        is_broken = built.rejected.height > chosen.broken_rows
        faults = (describe_rejected(chosen, built.rejected),) if is_broken else ()
        content = describe_content(built.items, built.rejected)
        reachable = ReachableScores() if blueprint is None else reachable_scores(built.items, blueprint)
        return _checked(chosen, faults, rows_read=len(records), **dict(content), **dict(reachable))
    except SourceError as error:
        # The files may all be here and say something else than the entry does.
        return _checked(chosen, needs(spec, locator) or (str(error),))


def _checked(spec: DatasetSpec, faults: tuple[str, ...], **content: Any) -> DatasetCheck:
    files = [file for file in spec.files if isinstance(file, PinnedFile)]
    return DatasetCheck(
        **{name: getattr(spec, name) for name in ("id", "title", "licence", "redistributable", "ambiguous")},
        ready=not faults,
        needs=faults,
        sources=tuple(dict.fromkeys(f"{file.repository} at {file.revision}" for file in files)) or ("data/bundled",),
        pinned=all(file.sha256 or file.md5 for file in files),
        **content,
    )


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
        yield right_reply(Question.from_row(row if gold == gold_texts(row) else _with_gold(row, gold)))


def _with_gold(row: Row, texts: frozenset[str]) -> Row:
    """Return a row as if these texts were right."""
    if not row["options"]:
        return {**row, "references": sorted(texts)}
    indices = [index for index in range(len(row["options"])) if gold_texts({**row, "gold_indices": [index]}) <= texts]
    return {**row, "gold_indices": indices}


def constant_reply(row: Row, letter: str) -> str:
    """Return always the same letter; where no letters are asked for, the option it would stand for, if there is one."""
    letters = option_letters(len(row["options"] or ()))
    return write_options(Question.from_row(row), [letters.index(letter)]) if letter in letters else letter
