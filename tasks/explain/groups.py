"""Break scores down by the groups that items are in, and by a condition that divides them."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import NoReturn

import polars as pl
from polars.selectors import enum

from schemas.blueprint import Blueprint
from schemas.documents.explanation import ItemsBySide, ScoreBySide, SideScore, SubsetExplanation, SystemBySide
from schemas.errors import UsageError
from schemas.roles import JUDGE, PEOPLE
from schemas.tables.items import Items
from schemas.tables.layers import LAYERS, gold_layers
from schemas.tables.responses import Judgements
from tasks.judging.rubrics import order_dimensions
from tasks.runs.evidence import OF_ITEMS, read_tables
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import ReportData, Row, System, from_row
from tasks.scoring.benchmark import ScoreSettings, score_benchmark
from tasks.scoring.breakdowns import put_on_scale, score_dimensions
from tasks.scoring.normalisation import scale
from tasks.scoring.reduction import SPEC
from tasks.scoring.tree import tree_tables
from tasks.scoring.uncertainty import LIMITS

ALL = "all"
"""Group and value of all items of a dataset, beside which those of its groups stand."""

TOTAL = "total"
ITEM = ["dataset", "item_id"]
SCORE = ["dataset", "model", "setting", "method", "measure", "score", "ci_low", "ci_high", "n", "n_total"]
_APART = "\x1f"


def score_groups(data: ReportData, *, totals: bool = False) -> list[Row]:
    """Score the items of each value of each group as if there were no others; an item may be in several groups.

    With `totals` the total before the veto of each value comes too, over the datasets that its items are in, without a `dataset`.

    There is one row per dataset, model, setting, `group`, `value` and `measure`, a metric or a dimension of its rubric, in the
    order of these: `score` and its 95 % interval on 0-100 (of a dimension 100 x (mean - lowest) / (highest - lowest)) over `n` of
    `n_total` rows. All items come first. None of datasets whose items have no groups.
    """
    grouped = data.items.select(*ITEM, "groups").explode("groups").unnest("groups").drop_nulls()
    groups = grouped.select(*ITEM, of=pl.concat_str(pl.lit(""), "name", "value", separator=_APART))
    whole = grouped.select(ITEM).unique().with_columns(of=pl.lit(f"{_APART}{ALL}{_APART}{ALL}"))
    if groups.is_empty():
        return []
    groups = pl.concat([whole, groups])
    rows = [*_score_metrics(data, groups, totals=totals), *_score_dimensions(data, groups)]
    scores = [row | dict(zip(("model", "group", "value"), row["model"].split(_APART), strict=True)) for row in rows]
    keys = ("dataset", "model", "setting")
    return sorted(scores, key=lambda row: (*(row[name] for name in keys), row["group"] != ALL, row["group"], row["value"]))


def _spread(rows: pl.DataFrame, groups: pl.DataFrame) -> pl.DataFrame:
    """Return rows about items once for each value of theirs; what a model made of the items of a value is a model of its own."""
    return rows.join(groups, on=ITEM).with_columns(model=pl.concat_str("model", "of")).drop("of")


def _score_metrics(data: ReportData, groups: pl.DataFrame, *, totals: bool) -> list[Row]:
    tables = score_benchmark(_spread(data.item_scores, groups).lazy(), data.blueprint, ScoreSettings())
    scored = metric_scores(tables.raw, tables.normalized, data.blueprint)
    whole = tables.totals.with_columns(dataset=pl.lit(""), method=pl.lit(""), measure=pl.lit(TOTAL), n="n_scored")
    whole = whole.with_columns(score="total_before_veto").select(SCORE)
    return [*scored.select(SCORE).to_dicts(), *(whole.to_dicts() if totals else ())]


def metric_scores(raw: pl.DataFrame, normalized: pl.DataFrame, blueprint: Blueprint) -> pl.DataFrame:
    """Return columns SCORE, among others, on 0-100; what is best in the middle of its range, or a grade, has no interval.

    Args: `raw`, `normalized`: rows of `raw_scores` and `normalized_scores`; `blueprint`: by which they were normalised.
    """
    key, kind = ["model", *SPEC, "setting"], pl.col("kind")
    straight = ~kind.is_in(["centred", "grade"])
    limits = {name: pl.when(straight).then(scale(pl.col(name), kind, pl.col("low"), pl.col("high"))) for name in LIMITS}
    scored = raw.join(normalized.select(*key, score="normalized_0_100"), on=key)
    return scored.join(tree_tables(blueprint).metrics, on=SPEC).with_columns(measure="metric", n="n_scored", **limits)


def _score_dimensions(data: ReportData, groups: pl.DataFrame) -> list[Row]:
    """Score by dimension, as the judge rates whose ratings count."""
    key = ("dataset", "rubric", "judge")
    counted = pl.DataFrame(list(_counted(data)), dict.fromkeys((*key, "method"), pl.String), orient="row")
    rated = _spread(data.judgements.join(counted, on=key, how="semi"), groups).select(Judgements.column_names())
    scores = score_dimensions(Judgements.validate(rated), data.items).join(counted, on=key)
    scaled = scores.with_columns(measure="dimension", n="n_answers", **put_on_scale())
    own = data.blueprint.own_rubrics
    order = {rubric: order_dimensions(str(rubric), rows["dimension"], own) for (rubric,), rows in scaled.group_by("rubric")}
    rows = sorted(scaled.iter_rows(named=True), key=lambda row: (row["rubric"], order[row["rubric"]].index(row["dimension"])))
    return [{name: row[name] for name in SCORE} for row in rows]


def _counted(data: ReportData) -> Iterator[tuple[str, ...]]:
    """Yield dataset, rubric, judge and method of the ratings that scores are made of."""
    for name, dataset in data.blueprint.datasets.items():
        judges = [entry["name"] for entry in data.manifest.role_models(JUDGE, name)]
        for method in dataset.methods:
            raters = [PEOPLE] if method.raters == PEOPLE else judges
            yield from ((name, method.rubric, rater, method.id) for rater in raters if method.rubric)


LEAST = 5
"""Fewest items of a side whose scores are shown: fewer say little of a model, and much of a person."""

SIDES = ("subset", "complement")
OF_ITEM = (*ITEM, "language", "question_type", "subset")
"""Columns of `items` that a condition may name beside its groups."""


def explain_subset(run: PastRun, where: str, systems: Sequence[System], datasets: Sequence[str]) -> SubsetExplanation:
    """Score both sides of a condition on items of these datasets, each as if there were no other items.

    `where`: condition over the columns of `item_columns`; an item of which it is null is on neither side.
    """
    data = read_tables(run, OF_ITEMS, {}).data
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
    """Return a row per item: OF_ITEM, its groups as text, and those that only gold has, such as scores of questionnaires.

    One that only gold has is a column of numbers where all its values are.
    """
    columns = items.select(OF_ITEM)
    for frame in (items, *annotations):
        pairs = frame.select(*ITEM, "groups").explode("groups").unnest("groups").drop_nulls()
        wide = pairs.filter(~pl.col("name").is_in(columns.columns)).pivot("name", index=ITEM, values="value")
        if frame is not items:
            numbers = wide.with_columns(pl.exclude(ITEM).cast(pl.Float64, strict=False))
            wide = wide.with_columns(column for column in numbers if column.null_count() == wide[column.name].null_count())
        columns = columns.join(wide, on=ITEM, how="left")
    return columns


def split_items(columns: pl.DataFrame, where: str) -> pl.DataFrame:
    """Return ITEM and `side` of each item; null = the condition is null, as it is where a value is that it needs."""
    subset, complement = map(pl.lit, SIDES)
    side = pl.when("holds").then(subset).when(~pl.col("holds")).then(complement)
    return columns.select(*ITEM, holds=hold_condition(columns, where)).select(*ITEM, side=side)


def hold_condition(columns: pl.DataFrame, where: str) -> pl.Series:
    """Return whether each row fulfils a condition over these columns; null = it is null there. UsageError: it cannot be read."""
    try:
        holds = columns.cast({enum(): pl.String}).with_columns(holds=_read_condition(where, columns.columns))["holds"]
        got = str(holds.dtype)
    except pl.exceptions.PolarsError as error:
        got = str(error).splitlines()[0]
    if got != "Boolean":
        _fail("numbers compared with numbers, texts in single quotes with texts", got)
    return holds


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
EXAMPLE = "for example --where \"COLUMN = 'text' AND NOT OTHER IS NULL\""
COMPARING, JOINING = frozenset({"IN", "IS", "LIKE"}), frozenset({"AND", "OR"})
WORDS = COMPARING | JOINING | {"NOT", "NULL"}


def _read_condition(text: str, columns: Collection[str]) -> pl.Expr:
    """Return a condition such as `who_5 < 13 AND (language IN ('en', 'zh') OR age IS NOT NULL)`; it is null where a value is.

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
        _fail("comparisons joined by AND and OR", str(error).splitlines()[0])


def _fail(expected: str, got: str, start: int | None = None) -> NoReturn:
    raise UsageError(
        "the condition cannot be read",
        where="--where" if start is None else f"--where, character {start + 1}",
        expected=expected,
        got=got,
        next_step=EXAMPLE,
    )
