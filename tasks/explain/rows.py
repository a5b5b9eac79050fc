"""Explain a dataset's score by its rows, and an item by the calls sent for it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from json import loads
from math import fsum

import polars as pl

from schemas.documents.answered_item import (
    AnsweredItem,
    AskedOnce,
    ContextRow,
    DialogueFault,
    GoldRow,
    ItemExplanation,
    ItemSource,
    LakeFile,
    PromptChunk,
    RetrievedChunk,
    SentCall,
    SourcedItem,
)
from schemas.documents.explanation import (
    GroupScore,
    LabelCount,
    MethodBreakdown,
    MetricBreakdown,
    RowsExplanation,
    ScoreExplanation,
)
from schemas.errors import UsageError, suggest
from schemas.lineage import PartitionRef
from schemas.metrics import METRICS, Metric
from schemas.tables.items import Items
from schemas.tables.layers import gold_layers
from tasks.explain.groups import score_groups
from tasks.lake.local_state import state_folder
from tasks.models.journal.table import JOURNAL
from tasks.runs.evidence import NO_MESSAGES, Evidence, Key, answered_item, read_evidence, read_unredacted, redacted, withheld
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import Row, System, from_row
from tasks.scoring.gains import MOST
from tasks.scoring.reduction import COUNTED, average_parts, reduce_item_scores
from tasks.solvers.prompt_check import check_prompt
from tasks.text.number_format import counted


def explain_rows(run: PastRun, score: ScoreExplanation, dataset: str, system: System, worst: int | None) -> RowsExplanation:
    """Add to the explanation of a dataset's score the rows of a system; with `worst` so many of those that earn least."""
    if not run.partitions("item_scores", dataset=dataset, **system._asdict()):
        notes = (f"{dataset} has no rows in this run",)
        return RowsExplanation(**dict(score), metrics=(), rows=(), withheld=None, notes=notes)
    evidence = read_evidence(run, dataset, system)
    rows = answered_items(run, evidence, run.options(system), worst and len(evidence.answers))
    shown, below = rows[:worst], sum(map(_is_below, rows))
    told = [f"{below} of {counted(len(rows), 'row')} below full marks, {len(shown)} shown"] if worst else []
    metrics = break_down_metrics(evidence)
    return RowsExplanation(**dict(score), metrics=metrics, rows=shown, withheld=evidence.withheld, notes=tuple(told))


def _is_below(row: AnsweredItem) -> bool:
    """Whether one of its scores earns less than all points; what is missing does not."""
    return any(score.points is not None and round(score.points, 9) < MOST for score in row.scores)


def break_down_metrics(evidence: Evidence) -> tuple[MethodBreakdown, ...]:
    """Break down each raw score, with the scores of its method, and of the dimensions rated for it, by groups of items."""
    groups = [GroupScore(**row) for row in score_groups(evidence.data)]
    return tuple(
        MethodBreakdown(
            method=method,
            metric=metric,
            **dict(break_down(rows)),
            groups=tuple(group for group in groups if group.method == method),
        )
        for (method, metric), rows in evidence.data.item_scores.partition_by("method", "metric", as_dict=True).items()
    )


def answered_items(run: PastRun, evidence: Evidence, options: Sequence[str], worst: int | None) -> tuple[AnsweredItem, ...]:
    """Return every item and repetition, by id; with `worst` so many of those that earn least, the lowest first.

    Rows without points are no worst ones: what is missing is not 0. They come after all others.
    """
    rows = [answered_item(run, evidence, key, options) for key in evidence.answers]
    if worst is not None:
        rows.sort(key=lambda row: (row.points is None, row.points or 0.0, row.item_id, row.repetition))
    return tuple(rows[:worst])


def find_dataset_of(run: PastRun, item: str, datasets: Sequence[str]) -> str:
    """Find the one dataset among these that has an item of this id; UsageError: none has it, or several have."""
    ids = {
        str(ref.key("dataset")): run.lake.read(ref, Items)["item_id"].to_list()
        for ref in run.partitions("items")
        if ref.key("dataset") in datasets
    }
    holders = [name for name, own in ids.items() if item in own]
    if len(holders) == 1:
        return holders[0]
    if holders:
        raise UsageError(
            f"several datasets have an item {item}",
            where="--item",
            expected="one of them named with --dataset",
            got=", ".join(holders),
            next_step=f"--dataset {holders[0]}",
        )
    all_ids = [name for names in ids.values() for name in names]
    raise UsageError(
        f"no item {item} was asked in this run",
        where="--item",
        expected=f"the id of one of {len(all_ids)} items" + (f" of {', '.join(ids)}" if len(ids) == 1 else ""),
        got=item,
        next_step=suggest(item, all_ids, f"{run.command('explain', '--dataset', next(iter(ids), 'NAME'))} lists ids", most=3),
    )


def explain_item(run: PastRun, dataset: str, system: System, item: str) -> ItemExplanation:
    """Explain an item and how one model and setting answered it; LakeError: the journal cannot be read."""
    stored = read_unredacted(run, dataset, system)
    readable = redacted(run, stored)
    row = readable.item(item)
    context = readable.data.contexts.filter(item_id=item).to_dicts()
    faults = run.read("simulation_faults").filter(pl.col("refused").is_null(), dataset=dataset, **system._asdict())
    if readable.withheld:
        faults = faults.with_columns(evidence=pl.lit(withheld(readable.withheld)))
    return ItemExplanation(
        run=run.name,
        benchmark=run.manifest.benchmark,
        dataset=dataset,
        **system._asdict(),
        redacted=run.manifest.redacted,
        item=from_row(SourcedItem, row, source=from_row(ItemSource, row)),
        context=ContextRow(**context[0]) if context else None,
        gold=() if readable.withheld else tuple(_gold(run, dataset, item)),
        withheld=readable.withheld,
        asked=tuple(_asked(run, stored, readable, faults, key) for key in stored.answers if key[0] == item),
        stored=tuple(_stored(run, ref) for ref in readable.refs),
        above=run.command("explain", "--dataset", dataset, *run.options(system)),
    )


def _gold(run: PastRun, dataset: str, item: str) -> Iterator[GoldRow]:
    for layer in gold_layers():
        for row in run.read(layer, dataset=dataset).filter(item_id=item).drop("dataset", "item_id").to_dicts():
            yield GoldRow(layer=layer, columns=row)


def _asked(run: PastRun, stored: Evidence, readable: Evidence, faults: pl.DataFrame, key: Key) -> AskedOnce:
    """Return one time the item was asked: its calls in order, what was retrieved for them, ratings, scores, answers."""
    readable_turns = {turn["turn"]: turn for turn in readable.turns(key)}
    answered = answered_item(run, readable, key, ())
    retrieved, chunks = (
        sorted(readable.about(frame, key).to_dicts(), key=lambda row: (row["query_number"], str(row.get("stage")), row["rank"]))
        for frame in (readable.data.retrievals, readable.data.prompt_chunks)
    )
    return AskedOnce(
        repetition=key[1],
        option_order=next((turn["option_order"] for turn in stored.turns(key)), None),
        calls=tuple(_call(run, stored, turn, readable_turns[turn["turn"]]) for turn in stored.turns(key)),
        retrieved=tuple(from_row(RetrievedChunk, chunk) for chunk in retrieved),
        chunks=tuple(from_row(PromptChunk, chunk) for chunk in chunks),
        faults=tuple(from_row(DialogueFault, fault) for fault in stored.about(faults, key).to_dicts()),
        **{name: getattr(answered, name) for name in ("options", "turns", "ratings", "scores", "answers")},
    )


def _call(run: PastRun, stored: Evidence, turn: Row, readable: Row) -> SentCall:
    ref = run.partitions("responses", dataset=turn["dataset"], model=turn["model"], setting=turn["setting"])[0]
    journal = state_folder(run.lake.root) / JOURNAL
    footer = run.lake.read_footer(ref)
    proof = check_prompt(
        stored.item(turn["item_id"]), turn, footer.settings, journal if journal.is_file() else None, run.blueprint.own_prompts
    )
    if readable["messages"] == NO_MESSAGES != turn["messages"]:
        return from_row(SentCall, readable, messages=None, proof=proof.model_copy(update={"journal_messages": None}))
    return from_row(SentCall, readable, messages=loads(readable["messages"]), proof=proof)


def _stored(run: PastRun, ref: PartitionRef) -> LakeFile:
    file = str(run.lake.path(ref)) if run.names_lake else ref.path
    return from_row(LakeFile, {**dict(run.lake.read_footer(ref)), **dict(ref)}, file=file)


def break_down(rows: pl.DataFrame) -> MetricBreakdown:
    """Break a raw score, rows of `item_scores`, down into the few counts or sums that its formula is computed from."""
    metric: Metric = rows["metric"][0]
    rows = average_parts(rows.lazy()).collect()
    counted = rows.filter(pl.col("status").is_in(COUNTED)).to_dicts()
    formula, counts, labels = _parts(metric, counted)
    value = reduce_item_scores(rows.lazy())["value"].item()
    statuses = dict(sorted(Counter(map(str, rows["status"])).items()))
    return MetricBreakdown(formula=formula, counts=counts, labels=tuple(labels), value=value, statuses=statuses)


def _parts(metric: Metric, counted: Sequence[Row]) -> tuple[str, dict[str, int | float], list[LabelCount]]:
    reduction, rating = METRICS[metric].reduction, METRICS[metric].rating
    if reduction == "macro_f1":
        labels = list(_label_counts(counted))
        return "mean over labels of f1 = 2 hits / (predicted + gold)", {"labels": len(labels)}, labels
    if reduction in ("micro_f1", "binary_f1"):
        hits = sum(len(_set(row["predicted"]) & _set(row["gold"])) for row in counted)
        predicted, gold = (sum(len(_set(row[name])) for row in counted) for name in ("predicted", "gold"))
        nothing = "1" if reduction == "binary_f1" else "0"
        formula = f"2 hits / (predicted + gold), {nothing} if there is neither"
        return formula, {"hits": hits, "predicted": predicted, "gold": gold}, []
    if reduction == "bias":
        roles = Counter(_first(row["predicted"]) for row in counted)
        chosen = {name: roles[name] for name in ("target", "other", "unknown")}
        times = " x (target + other) / readable" if metric == "bias_score_ambiguous" else ""
        formula = f"(target - other) / (target + other){times}; what cannot be read counts as fully biased the same way"
        return formula, {**chosen, "unreadable": roles[None], "items": len(counted)}, []
    if reduction == "preference":
        terms = len({_first(row["gold"]) for row in counted})
        formula = "mean over target terms, each counting the same; moodflow docs methodology has StereoSet's formulas"
        return formula, {"terms": terms, "items": len(counted)}, []
    if reduction == "clusters":
        clusters = len({row["cluster"] for row in counted})
        return "mean over clusters of the mean of their values", {"clusters": clusters, "n_scored": len(counted)}, []
    of_ratings = f", a value being the mean of {rating}" if rating else ""
    counts = {"sum": fsum(row["value"] for row in counted), "n_scored": len(counted)}
    return f"sum of values / items scored{of_ratings}", counts, []


def _label_counts(counted: Iterable[Row]) -> Iterator[LabelCount]:
    """Yield a row per label that is predicted or right somewhere, sorted by label."""
    pairs = [(_set(row["predicted"]), _set(row["gold"])) for row in counted]
    for label in sorted({label for pair in pairs for labels in pair for label in labels}):
        predicted, gold = (sum(label in pair[side] for pair in pairs) for side in (0, 1))
        hits = sum(label in predicted_labels & gold_labels for predicted_labels, gold_labels in pairs)
        yield LabelCount(label=label, hits=hits, predicted=predicted, gold=gold, f1=2 * hits / (predicted + gold))


def _set(labels: list[str] | None) -> frozenset[str]:
    return frozenset(labels or ())


def _first(labels: list[str] | None) -> str | None:
    return labels[0] if labels else None
