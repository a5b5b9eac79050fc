"""Compute how far the numbers of a run may be set beside a paper's, from what was run."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from schemas.blueprint import Blueprint
from schemas.documents.run import InstrumentCount
from schemas.documents.score_part import ScorePart
from schemas.lineage import OWN_AS_PINNED, OWN_UNPINNED, DatasetNotice, RunManifest
from schemas.paper import LIKENESS, Comparability, DatasetLikeness, Departure, Likeness, Paper, Position, Respect, Shares
from schemas.roles import JUDGE, PEOPLE
from tasks.datasets.catalogue import CATALOGUE
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import ReportData, Row, System, pool_counts
from tasks.runs.score_tree import explain_ability, explain_total, scores_of
from tasks.scoring.blueprints import RUBRICS_BELOW
from tasks.scoring.published import TOTAL, PublishedTable, as_table, paper_of, published_of
from tasks.solvers.plain import prompt_files
from tasks.solvers.registry import find_solver, setting_title
from tasks.sources.locating import shortened
from tasks.text.number_format import counted, listed, percent

MOST_INCOMPARABLE = 0.25
"""Share of a score's weight. If as much lies in datasets that are not comparable, it is not comparable itself. Datasets that
a judge rates have 12 % of one benchmark of ours, half of another."""

MOST_LOST = 0.5
"""Share of a dataset's items without a score, above which it is not comparable: what is left may be any part of it."""

WORST = LIKENESS[-1]
NAMES = {"en": "English", "zh": "Chinese"}

OF_DATASETS: dict[Respect, str] = {
    "items": "with other items",
    "sample": "with fewer items",
    "source": "from another source",
    "language": "in another language",
    "judge": "rated by another judge",
    "rubric": "rated by our own rubric",
    "lost": "with items that have no score",
    "differences": "asked or scored otherwise than in their papers, as the catalogue says",
}
"""What is said of a total about so many of its datasets."""


@lru_cache(maxsize=4)  # each page about a run needs them
def compare_run(run: PastRun) -> Mapping[System, Comparability]:
    """Return the records of a run of the lake; raise LakeError if a layer is gone or changed."""
    # A run of which only totals were kept has nothing to compare.
    return compare_with_paper(run, as_table(published_of(run.blueprint))) if run.partitions("raw_scores") else {}


def compare_with_paper(run: PastRun | ReportData, table: PublishedTable) -> Mapping[System, Comparability]:
    """Return the record of each model and setting with a total; none if the table, the paper's, is empty."""
    systems = [System(row["model"], row["setting"]) for row in run.layers["totals"].iter_rows(named=True)]
    paper = paper_of(run.blueprint) if table.settings else None
    return {system: _compare(run, paper, table, system) for system in systems} if paper else {}


def _compare(run: PastRun | ReportData, paper: Paper, table: PublishedTable, system: System) -> Comparability:
    blueprint, scores = run.blueprint, scores_of(run.layers, system)
    shared = tuple(_of_the_run(run, paper, table, system))
    failed = [count for count in run.instruments if count.failed and (count.model, count.setting) == system]
    datasets = tuple(_of_datasets(run, paper, scores.layers["raw_scores"].values(), shared, failed))
    verdicts = {entry.dataset: entry.verdict for entry in datasets}
    # The mean leaves the gate out; what was run does not.
    counts = {name: scores.total[name] for name in ("datasets_scored", "datasets_total")}
    whole = replace(explain_total(scores, blueprint), **counts)
    broken = [_not("instrument", count.words) for count in pool_counts(failed)]
    verdict = _of_part(whole, verdicts, [*shared, *broken])
    mains = [main for main in blueprint.abilities if main.dataset_ids]
    return Comparability(
        **system._asdict(),
        paper=paper.title,
        verdict=verdict,
        reasons=(*broken, *shared, *_summed_up(whole, datasets)),
        abilities={main.id: _of_part(explain_ability(scores, main, blueprint), verdicts, shared) for main in mains},
        datasets=datasets,
        position=None if verdict == WORST else _position(table, scores.total),
        languages=_languages(run.manifest, blueprint, paper),
    )


def _of_the_run(run: PastRun | ReportData, paper: Paper, table: PublishedTable, system: System) -> Iterator[Departure]:
    """Yield what holds for all datasets."""
    plan = run.manifest.plan
    if run.blueprint.name not in paper.blueprints:
        yield _not("items", f"the blueprint {run.blueprint.name} is not the one that the paper's table was measured with")
    if system.setting not in table.settings:
        yield _not("setting", f"the paper's table has no scores with {setting_title(system.setting)}")
    yield _wording(run, paper, system.setting)
    temperature = next((_temperature(model) for model in plan.get("models", ()) if model["name"] == system.model), None)
    yield from _set_otherwise("temperature", "temperature", temperature, paper.temperature)
    yield from _set_otherwise("repetitions", "times each item is asked", plan.get("repeat", 1), paper.repetitions)
    yield from _options_otherwise(plan.get("solvers", {}).get(system.setting, {}), paper, system.setting)
    if (orders := plan.get("permute", 0)) > 1:
        yield _close("orders", f"each single choice is asked in {orders} orders of its options")
    if paper.profile and (profile := plan.get("profile", "corrected")) != paper.profile:
        yield _close("profile", f"scored by the profile {profile}, the paper's numbers by its released code")


def _wording(run: PastRun | ReportData, paper: Paper, setting: str) -> Departure:
    """Return in whose words the run asked; a prompt is the paper's if the folder that it comes from says so."""
    specs = [CATALOGUE[notice.id] for notice in run.manifest.datasets if notice.id in CATALOGUE]
    used = {file for spec in specs for file in prompt_files(setting, spec)}
    theirs, wording = _files_of(paper, run.blueprint), run.blueprint.wording
    if wording is None or not used & theirs:
        by = "the user" if used & run.blueprint.own_prompts.keys() else "us"
        return _close("prompts", f"prompts are worded by {by}, not as the paper's")
    text = f"prompts are those of {wording.source}, as their folder states"
    if ours := sorted(used - theirs):
        return _close("prompts", f"{text}; not in the paper's words: {listed(ours)}")
    return Departure(respect="prompts", likeness="same", text=text)


def _files_of(paper: Paper, blueprint: Blueprint) -> set[str]:
    """Return the prompts and rubrics of a run that have the paper's words."""
    return set(blueprint.wording.files) if blueprint.wording and blueprint.wording.paper == paper.title else set()


def _temperature(model: Mapping[str, Any]) -> float | None:
    """Return the temperature that a model is asked at; null = the server's own."""
    unsent = (model.get("dialect") or {}).get("unsent", ())
    return None if "temperature" in unsent else (model.get("sampling") or {}).get("temperature", 0.0)


def _set_otherwise(respect: Respect, name: str, ours: float | None, theirs: float | None) -> Iterator[Departure]:
    if ours is None or ours != theirs:
        here = "the server's own" if ours is None else f"{ours:g}"
        of_paper = "the paper does not say" if theirs is None else f"{theirs:g} in the paper"
        yield _close(respect, f"{name}: {here} here, {of_paper}")


def _options_otherwise(given: Mapping[str, Any], paper: Paper, setting: str) -> Iterator[Departure]:
    """Yield what a setting's own options ask for otherwise than the paper."""
    theirs = paper.solvers.get(setting, {})
    ours = find_solver(setting).read_options(given).model_dump() if theirs else {}
    for name, value in theirs.items():
        if ours[name] != value:
            yield _close("setting", f"{setting_title(setting)} with {name} {ours[name]}, in the paper {value}")


def _of_datasets(
    run: PastRun | ReportData, paper: Paper, raw: Iterable[Row], shared: Sequence[Departure], failed: Sequence[InstrumentCount]
) -> Iterator[DatasetLikeness]:
    """Yield the verdict of each dataset from its rows of `raw_scores`; `shared` holds for all."""
    manifest, notices = run.manifest, {notice.id: notice for notice in run.manifest.datasets}
    items = {name: ref.rows for ref in manifest.partitions if ref.layer == "items" for _, name in ref.place}
    most, scored = manifest.plan.get("sample"), list(raw)
    for name, entry in run.blueprint.datasets.items():
        rows = [row for row in scored if row["dataset"] == name]
        own = [_not("items", "built anew from the sources that the paper names")] if name in paper.rebuilt else []
        own += [_not("instrument", count.words) for count in failed if name in count.datasets]
        own += _of_the_source(notices[name]) if name in notices else ()
        n_items, theirs = items.get(name, most), paper.items(name)
        if most is not None and n_items is not None and n_items < theirs:
            words = f"{counted(n_items, 'item')}, in the paper up to {theirs}"
            # Fewer than the plan's sample are all there are, unless nothing says that the files are whole.
            if most <= n_items:
                own.append(_close("sample", words))
            elif name in notices and all(source.startswith(OWN_UNPINNED) for source in notices[name].sources):
                own.append(_not("items", f"{words}; no hash says that the files are theirs"))
        lost, of = max(((row["n_total"] - row["n_scored"], row["n_total"]) for row in rows), default=(0, 0))
        if lost:
            own.append((_not if lost > MOST_LOST * of else _close)("lost", f"{counted(lost, 'item')} without a score"))
        judged = [method for method in entry.methods if method.judged]
        rubrics, people = {f"{RUBRICS_BELOW}{method.rubric}" for method in judged}, [method.raters == PEOPLE for method in judged]
        judges = [] if all(people) else [judge["name"] for judge in manifest.role_models(JUDGE, name)]
        judges += [PEOPLE] if any(people) else []
        if not all(_is_of(paper, judge) for judge in judges):
            own.append(_not("judge", f"rated by {listed(judges)}, in the paper by {paper.judge or 'one that is not known'}"))
        own += [_close("rubric", "rated by our own rubric")] if rubrics - _files_of(paper, run.blueprint) else ()
        if not any(row["n_scored"] for row in rows):
            own = [_not("coverage", "no score")]
        verdict = max((each.likeness for each in (*own, *shared)), key=LIKENESS.index, default=LIKENESS[0])
        yield DatasetLikeness(dataset=name, verdict=verdict, differences=tuple(own))


def _is_of(paper: Paper, judge: str) -> bool:
    """Return whether a judge is the paper's: a model by a part of its name, people by that name alone."""
    if paper.judge is None or PEOPLE in (judge, paper.judge):
        return judge == paper.judge
    return paper.judge in judge.lower()


def _of_the_source(notice: DatasetNotice) -> Iterator[Departure]:
    copies = list[str]()
    for kind, likeness in (OWN_AS_PINNED, LIKENESS[0]), (OWN_UNPINNED, "close"):
        if of_kind := [source for source in notice.sources if source.startswith(kind)]:
            yield Departure(respect="source", likeness=likeness, text="; ".join(shortened(of_kind)))
            copies += of_kind
    if own := [source for source in notice.sources if source.startswith(("bundled", "own file")) and source not in copies]:
        yield _not("items", f"not the paper's: {'; '.join(shortened(own))}")
    if notice.replaces is not None:
        yield _close("source", listed(list(notice.sources)))
    if notice.replaces not in (None, notice.languages):
        ours, theirs = (listed([NAMES[name] for name in names]) for names in (notice.languages, notice.replaces or ()))
        yield _not("language", f"asked in {ours}, in the paper in {theirs}")
    if notice.differences:
        yield _close("differences", " ".join(notice.differences))


def _close(respect: Respect, text: str) -> Departure:
    return Departure(respect=respect, likeness="close", text=text)


def _not(respect: Respect, text: str) -> Departure:
    return Departure(respect=respect, likeness="not comparable", text=text)


def _of_part(part: ScorePart, verdicts: Mapping[str, Likeness], shared: Sequence[Departure]) -> Likeness:
    """Return the verdict of a score: by what holds for all, its coverage and the weight of what is not comparable below it."""
    if WORST in {each.likeness for each in shared} or part.datasets_scored < part.datasets_total:
        return WORST
    shares = dict(_shares(part))
    if sum(share for name, share in shares.items() if verdicts[name] == WORST) >= MOST_INCOMPARABLE:
        return WORST
    return "close" if any(verdicts[name] != LIKENESS[0] for name in shares) else "same"


def _shares(part: ScorePart, share: float = 1.0) -> Iterator[tuple[str, float]]:
    """Yield the share of each dataset below a part in its score."""
    for below in part.parts:
        of_part = share * (below.share or 0.0)
        yield from [(below.id, of_part)] if below.kind == "dataset" else _shares(below, of_part)


def _summed_up(total: ScorePart, datasets: Sequence[DatasetLikeness]) -> Iterator[Departure]:
    """Yield what is said of a total about its datasets: how many are scored, and how many differ in each respect."""
    of = counted(total.datasets_total, "dataset")
    if total.datasets_scored < total.datasets_total:
        yield _not("coverage", f"{total.datasets_scored} of {of} scored")
    differing = [each for entry in datasets for each in entry.differences if each.likeness != LIKENESS[0]]
    for respect, words in OF_DATASETS.items():
        texts = [each.text for each in differing if each.respect == respect]
        alike = f" ({texts[0]})" if len(set(texts)) == 1 and respect != "differences" else ""
        if texts:
            yield _close(respect, f"{len(texts)} of {of} {words}{alike}")
    worst = {entry.dataset for entry in datasets if {each.likeness for each in entry.differences} >= {WORST}}
    weight = sum(share for name, share in _shares(total) if name in worst)
    if weight >= MOST_INCOMPARABLE:
        yield _not("weight", f"datasets that are not comparable have {percent(weight)} of the total's weight")


def _position(table: PublishedTable, total: Mapping[str, Any]) -> Position | None:
    """Return how many ranked published models a total is above; null without a rank or an interval."""
    models = table.scores(TOTAL, total["setting"], ranked=True)
    if not models or None in (total["rank"], total["ci_low"], total["ci_high"]):
        return None
    above, low, high = (sum(model < total[name] for model in models) for name in ("total", "ci_low", "ci_high"))
    return Position(above=above, above_low=low, above_high=high, models=len(models))


def _languages(manifest: RunManifest, blueprint: Blueprint, paper: Paper) -> dict[str, Shares]:
    by_dataset = {notice.id: "+".join(notice.languages) for notice in manifest.datasets if notice.languages}
    gate = blueprint.gate.ability if blueprint.gate else None
    of_gate = [
        by_dataset[name] for main in blueprint.abilities if main.id == gate for name in main.dataset_ids if name in by_dataset
    ]
    shares = {"run": _shared_out(list(by_dataset.values())), "paper": paper.languages}
    shares |= {"gate": _shared_out(of_gate), "gate of paper": paper.gate_languages}
    return {name: each for name, each in shares.items() if each} if by_dataset else {}


def _shared_out(languages: Sequence[str]) -> Shares:
    return {name: count / len(languages) for name, count in sorted(Counter(languages).items())}
