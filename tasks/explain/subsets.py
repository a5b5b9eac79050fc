"""Scores of the items of a run that fulfil a condition, beside those of the others."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NoReturn

import polars as pl
from polars.selectors import enum

from schemas.documents.explanation import ItemsBySide, ScoreBySide, SideScore, SubsetExplanation, SystemBySide
from schemas.errors import UsageError
from schemas.tables.items import Items
from schemas.tables.layers import LAYERS, gold_layers
from tasks.explain.groups import ITEM, score_groups
from tasks.runs.evidence import SHOWN, read_tables
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import ReportData, System, from_row

LEAST = 5
"""Fewest items of a side whose scores are shown: fewer say little of a model, and much of a person."""

SIDES = ("subset", "complement")
OF_ITEM = (*ITEM, "language", "question_type", "subset")
"""Columns of `items` that a condition may name beside its groups."""


def explain_subset(run: PastRun, where: str, systems: Sequence[System], datasets: Sequence[str]) -> SubsetExplanation:
    """Score both sides of a condition on items of these datasets, each as if there were no other items.

    `where`: condition over the columns of `item_columns`; an item of which it is null is on neither side.
    """
    data = read_tables(run, SHOWN, {}).data
    grouped = [run.read(layer) for layer in gold_layers() if "groups" in LAYERS[layer].schema.column_names()]
    columns = item_columns(data.items.filter(pl.col("dataset").is_in(datasets)), *grouped)
    sides = split_items(columns, where)
    scores = score_sides(data, sides)
    counts = {side: sides.filter(side=side).height for side in SIDES}
    return SubsetExplanation(
        run=run.name,
        benchmark=run.manifest.benchmark,
        where=where,
        columns=tuple(columns.columns),
        items=ItemsBySide(**counts, unknown=sides["side"].null_count()),
        models=tuple(SystemBySide(**system._asdict(), scores=tuple(scores.get(system, ()))) for system in systems),
        note=f"A side with fewer than {LEAST} items is suppressed.",
    )


def item_columns(items: pl.DataFrame, *annotations: pl.DataFrame) -> pl.DataFrame:
    """Return a row per item: OF_ITEM, its groups as text, and scores of questionnaires, which only gold has.

    A questionnaire is a column of numbers where all its scores are.
    """
    columns = items.select(OF_ITEM)
    for frame in (items, *annotations):
        pairs = frame.select(*ITEM, "groups").explode("groups").unnest("groups").drop_nulls()
        wide = pairs.filter(~pl.col("name").is_in(columns.columns)).pivot("name", index=ITEM, values="value")
        if frame is not items:
            wide = wide.with_columns(map(_to_numbers, wide.drop(ITEM)))
        columns = columns.join(wide, on=ITEM, how="left")
    return columns


def _to_numbers(column: pl.Series) -> pl.Series:
    numbers = column.cast(pl.Float64, strict=False)
    return numbers if numbers.null_count() == column.null_count() else column


def split_items(columns: pl.DataFrame, where: str) -> pl.DataFrame:
    """Return ITEM and `side` of each item; null = the condition is null, as it is where a value is that it needs."""
    texts = columns.cast({enum(): pl.String})
    try:
        holds = texts.select(*ITEM, holds=_read_condition(where, columns.columns))
        got = str(holds["holds"].dtype)
    except pl.exceptions.PolarsError as error:
        got = str(error).splitlines()[0]
    if got != "Boolean":
        raise UsageError(
            "the condition cannot be read",
            where="--where",
            expected="numbers compared with numbers, texts in single quotes with texts",
            got=got,
            next_step="for example --where \"language = 'en'\"",
        )
    subset, complement = map(pl.lit, SIDES)
    side = pl.when("holds").then(subset).when(~pl.col("holds")).then(complement)
    return holds.select(*ITEM, side=side)


def score_sides(data: ReportData, sides: pl.DataFrame) -> dict[System, list[ScoreBySide]]:
    """Return scores by system on each of SIDES, with 95 % intervals; a side below LEAST items or rows has none."""
    group = pl.concat_list(pl.struct(name=pl.lit("where"), value="side"))
    placed = data.items.drop("groups").join(sides.drop_nulls().select(*ITEM, groups=group), on=ITEM, how="left")
    counts = Counter(sides.select("dataset", "side").iter_rows())
    counts.update(("", side) for side in sides["side"])
    systems: dict[System, dict[tuple[str, ...], ScoreBySide]] = {}
    for row in score_groups(replace(data, items=Items.cast(placed.select(Items.column_names()))), totals=True):
        if row["group"] != "where":
            continue
        scores = systems.setdefault(System(row["model"], row["setting"]), {})
        names = {name: row[name] for name in ("dataset", "method", "measure")}
        both = scores.get(tuple(names.values()), ScoreBySide(**names))
        few = min(row["n"], counts[row["dataset"], row["value"]]) < LEAST
        side = SideScore(n=row["n"]) if few else from_row(SideScore, row, suppressed=False)
        scores[tuple(names.values())] = both.model_copy(update={row["value"]: side})
    return {system: [*scores.values()] for system, scores in systems.items()}


LONGEST, MOST_BRACKETS = 1000, 20
"""Characters of a condition, and how often a bracket may open in it."""

TOKEN = re.compile(
    r"""(?P<number>(?<![\w.])-?[0-9]{1,15}(?:\.[0-9]{1,15})?(?![\w.]))|'(?:[^']|'')*'|"(?P<quoted>[^"]+)"|(?P<word>[^\W\d]\w*)"""
    r"""|(?P<sign><=|>=|<>|!=|[=<>])|[(),]|(?P<other>\S)"""
)
COMPARING, JOINING = frozenset({"IN", "IS", "LIKE"}), frozenset({"AND", "OR"})
WORDS = COMPARING | JOINING | {"NOT", "NULL"}


def _read_condition(text: str, columns: Collection[str]) -> pl.Expr:
    """Return a condition such as `who_5 < 13 AND (language IN ('en', 'zh') OR age IS NOT NULL)`; it is null where a value is.

    Raises:
        UsageError: it is too long, or has a word or sign of another language.
    """
    if len(text) > LONGEST or text.count("(") > MOST_BRACKETS:
        _fail(f"at most {LONGEST:,} characters and {MOST_BRACKETS} brackets", text[:80], 0)
    compared = False
    for token in TOKEN.finditer(text):
        name, word = token["quoted"] or token["word"], (token["word"] or "").upper()
        is_column = name in columns and not re.match(r"\s*\(", text[token.end() :])
        if token["other"] or (name and not is_column and word not in WORDS):
            values = f"numbers, texts in single quotes, the columns {', '.join(columns)}"
            _fail(f"{', '.join(sorted(WORDS))}, {values}", token[0], token.start())
        if not is_column and word == "NULL" and not re.search(r"\bIS(\s+NOT)?\s+\Z", text[: token.start()], re.IGNORECASE):
            _fail("IS before NULL", token[0], token.start())
        compares = bool(token["sign"]) or (word in COMPARING and not is_column)
        if compares and compared:
            _fail("AND or OR between comparisons", token[0], token.start())
        compared = compares or (compared and word not in JOINING)
    try:
        return pl.sql_expr(f"({text})")  # in brackets, a word behind it is not taken for its new name
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        _fail("comparisons joined by AND and OR", str(error).splitlines()[0], 0)


def _fail(expected: str, got: str, start: int) -> NoReturn:
    raise UsageError(
        "the condition cannot be read",
        where=f"--where, character {start + 1}",
        expected=expected,
        got=got,
        next_step="for example --where \"language = 'en' AND NOT subset IS NULL\"",
    )
