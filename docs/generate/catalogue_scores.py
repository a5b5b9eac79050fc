"""How a dataset is scored: its metrics by benchmark, and what perfect and constant answers earn."""

from collections.abc import Iterator

from docs.generate.catalogue_examples import Bundled
from docs.generate.catalogue_links import metric_words, reference_link
from docs.generate.catalogue_places import Place
from docs.generate.markdown import table
from schemas.blueprint import MetricSpec
from tasks.judging.rubrics import load_rubric
from tasks.runs.baselines import measure_baselines
from tasks.text.tables import escape


def scores_part(places: list[Place], own: Bundled | None, page: str) -> Iterator[str]:
    """Yield the metrics of a dataset, and what perfect and constant answers earn."""
    for blueprints, place in by_metrics(places).items():
        if len(by_metrics(places)) > 1:
            yield f"In {', '.join(f'`{name}`' for name in blueprints)}:"
        yield metrics_table(place, page)
    for rubric in dict.fromkeys(name for place in places for name in rubrics_of(place)):
        dimensions = ", ".join(dimension.name for dimension in load_rubric(rubric).dimensions)
        yield f"A judge rates by the rubric {reference_link('rubric', rubric, page)}: {escape(dimensions)}."
    if own:
        yield from measured_part(own)
    elif places:
        yield (
            "A perfect model earns 100, as far as labels do not contradict each other. Run `moodflow datasets check` to see what "
            "a constant answer would score."
        )


def by_metrics(places: list[Place]) -> dict[tuple[str, ...], Place]:
    """Return one place for each way in which benchmarks score the dataset, by their names."""
    names: dict[tuple[object, ...], list[Place]] = {}
    for place in places:
        names.setdefault(place.metrics, []).append(place)
    return {tuple(place.blueprint.name for place in alike): alike[0] for alike in names.values()}


def rubrics_of(place: Place) -> Iterator[str]:
    """Yield the rubrics of a dataset's judged methods."""
    for method in place.blueprint.datasets[place.dataset].methods:
        if method.rubric:
            yield method.rubric


def metrics_table(place: Place, page: str) -> str:
    """Return the metrics with their weights, and how each is put on 0-100."""
    rows = [
        (reference_link("metric", spec.metric, page), metric_words(spec.metric), weight_of(spec), normalisation_of(spec))
        for spec in place.metrics
    ]
    return table(("Metric", "What it is", ">Weight", "On 0-100"), rows)


def weight_of(spec: MetricSpec) -> str:
    """Return a metric's weight; of those that are only shown, that."""
    return f"{spec.weight:g}" if spec.weight else "0, shown only"


def normalisation_of(spec: MetricSpec) -> str:
    """Return how a score is put on 0-100, with the cut-off of the metric if it has one."""
    ways = {"ratio": "x 100", "none": "as it is", "grade": "by a table"}
    rule = spec.normalisation
    if rule.type == "numeric":
        words = f"(x - {rule.min:g}) / {rule.max - rule.min:g} x 100"
    elif rule.type == "centred":
        words = f"100 at {rule.best:g}, 0 at {rule.span:g} from it"
    else:
        words = ways[rule.type]
    return f"{words}; first {spec.k}" if spec.k else words


def measured_part(own: Bundled) -> Iterator[str]:
    """Yield the scores of imagined models on our own items, by the same parsing and scoring as real ones."""
    reachable = own.reachable
    if reachable.ceiling is None:
        yield "Only a judge, or several answers together, decide: no imagined model is scored."
        return
    rows: list[tuple[str, float]] = [("A model that knows the gold", reachable.ceiling)]
    rows += [(f"Always `{letter}`", score) for letter, score in reachable.constant.items()]
    yield table(("Imagined model", ">Score"), rows)
    for method in own.blueprint.datasets[own.spec.id].methods:
        for spec in method.metrics:
            if majority := measure_baselines(own.built.items, spec.metric).majority:
                label = escape(majority.answer)
                yield f"Always the most frequent right label, {label}: {100 * majority.share:.2f} of `{spec.metric}`."
