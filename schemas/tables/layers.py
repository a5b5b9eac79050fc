"""Layers of the lake: one row each, in the order in which they are computed."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from schemas.benchmark import Rows, load_named
from schemas.errors import UsageError

if TYPE_CHECKING:
    import dataframely as dy
    import polars as pl

Stage = Literal["build", "infer", "score", "certify"]
VersionOf = Callable[[Any, Mapping[str, Any], Mapping[str, Any]], dict[str, str]]
"""From a partition, its settings and the manifest's blueprint to those settings that the code decides, as they are now."""

GOLD = "gold"
"""Among the parents of a layer: all layers of gold."""

NO_LAYERS = frozenset({"runs", "journal", "embeddings"})
"""Folders of a lake that hold no partitions."""


@dataclass(frozen=True)
class Layer:
    """A layer of the lake. What is named as `module:NAME` is imported when it is first needed.

    Attributes:
        name: of its folder.
        schema_name: `module:NAME` of the schema of its rows, a class of dataframely.
        written_by: the stage that writes it.
        version_name: `module:NAME` of the version of the code that writes it, or of a VersionOf where that differs by partition.
        parents: the layers that its partitions are computed from, GOLD among them.
        step_name: `module:NAME` of what computes a partition again, from a stored run (tasks.verify.recompute.StoredRun) and the
            reference to it; null = it is not computed again.
        rows_name: `module:NAME` of what computes its rows of those of its parents, by layer, and the rubrics of the blueprint;
            null = it needs more.
        is_gold: whether it holds what is right where items do not. The entries of datasets make its rows.
        is_from_outside: whether it holds what models said: the same request may be answered otherwise.
    """

    name: str
    schema_name: str
    written_by: Stage
    version_name: str
    parents: tuple[str, ...] = ()
    step_name: str | None = None
    rows_name: str | None = None
    is_gold: bool = False
    is_from_outside: bool = False

    @cached_property
    def schema(self) -> "type[dy.Schema]":
        """Return the schema of its rows."""
        schema: type[dy.Schema] = load_named(self.schema_name, type, f"layer {self.name}")
        return schema

    @property
    def version(self) -> "str | VersionOf":
        """Return the version of the code that writes it, or what says it of a partition."""
        return cast("str | VersionOf", load_named(self.version_name, object, f"layer {self.name}"))

    @property
    def step(self) -> "Callable[[Any, Any], pl.DataFrame] | None":
        """Return what computes a partition again; null = nothing does."""
        step = self.step_name and load_named(self.step_name, object, f"layer {self.name}")
        return cast("Callable[[Any, Any], pl.DataFrame] | None", step)

    def compute(self, rows: "Mapping[str, pl.DataFrame]", own_rubrics: Mapping[str, Any]) -> "pl.DataFrame":
        """Compute its rows by what `rows_name` names."""
        computes: Any = load_named(str(self.rows_name), object, f"layer {self.name}")
        frame: pl.DataFrame = computes(rows, own_rubrics)
        return frame


_TABLES, _STEPS = "schemas.tables", "tasks.verify.recompute"
_BUILT, _ASKED = "tasks.datasets.catalogue:ITEMS_VERSION", "tasks.verify.drift:asked_parts"
_RATED, _JUDGE = f"{_TABLES}.ratings", "tasks.judging.executor:JUDGEMENTS_VERSION"
_CERTIFIED = "tasks.certificates.certificate:CERTIFICATES_VERSION"
_SCORED, _PASS = "tasks.scoring.benchmark:SCORING_VERSION", f"{_STEPS}:aggregated"


def gold_layer(name: str, schema_name: str) -> Layer:
    """Return a layer of gold, whose rows `annotate` of a dataset's entry makes; what they mean, the entry's version says."""
    return Layer(name, schema_name, "build", _BUILT, step_name="tasks.verify.drift:gold_rows", is_gold=True)


def _scored(name: str, schema_name: str, parents: tuple[str, ...], version: str) -> Layer:
    return Layer(name, f"{_TABLES}.{schema_name}", "score", version, parents, f"{_STEPS}:{name}")


def _aggregated(name: str, schema: str) -> Layer:
    return Layer(name, f"{_TABLES}.scores:{schema}", "score", _SCORED, ("item_scores",), _PASS)


def _compared(name: str, schema_name: str, parents: tuple[str, ...], module: str, version: str) -> Layer:
    version_name, rows_name = f"{module}:{version}", f"{module}:{name}_rows"
    return Layer(name, f"{_TABLES}.{schema_name}", "score", version_name, parents, f"{_STEPS}:compared", rows_name)


_JUDGED = ("items", "answers", "judgements")

GENERAL = (
    Layer("items", f"{_TABLES}.items:Items", "build", _BUILT),
    Layer("contexts", f"{_TABLES}.items:Contexts", "build", _BUILT),
    Layer("chunks", f"{_TABLES}.items:Chunks", "infer", _ASKED, ("items", "contexts")),
    Layer("retrievals", f"{_TABLES}.items:Retrievals", "infer", _ASKED, ("items", "contexts")),
    Layer("responses", f"{_TABLES}.responses:Responses", "infer", _ASKED, ("items", "contexts"), is_from_outside=True),
    Layer(
        "answers",
        f"{_TABLES}.responses:Answers",
        "infer",
        "tasks.solvers.infer_job:ANSWERS_VERSION",
        ("items", "responses"),
        f"{_STEPS}:answers",
    ),
    Layer(
        "judgements",
        f"{_TABLES}.responses:Judgements",
        "infer",
        "tasks.verify.drift:judged_parts",
        ("answers",),
        f"{_STEPS}:judgements",
        is_from_outside=True,
    ),
    _scored("item_scores", "scores:ItemScores", ("answers", "judgements", GOLD), "tasks.verify.drift:scored_parts"),
    _aggregated("raw_scores", "RawScores"),
    _aggregated("normalized_scores", "NormalizedScores"),
    _aggregated("dataset_scores", "DatasetScores"),
    _aggregated("task_scores", "TaskScores"),
    _aggregated("level_scores", "LevelScores"),
    _aggregated("sub_ability_scores", "SubAbilityScores"),
    _aggregated("ability_scores", "AbilityScores"),
    _aggregated("totals", "Totals"),
    _scored("setting_gains", "comparisons:SettingGains", ("item_scores",), _SCORED),
    _compared(
        "needle_scores", "comparisons:NeedleScores", ("contexts", "item_scores"), "tasks.scoring.breakdowns", "NEEDLES_VERSION"
    ),
    _compared(
        "dimension_scores", "scores:DimensionScores", ("items", "judgements"), "tasks.scoring.breakdowns", "DIMENSIONS_VERSION"
    ),
    _compared("agreements", "comparisons:Agreements", _JUDGED, "tasks.judging.agreement", "AGREEMENTS_VERSION"),
    _compared("simulation_faults", "responses:SimulationFaults", _JUDGED, "tasks.judging.simulation", "FAULTS_VERSION"),
    Layer("certificate_ratings", f"{_RATED}:CertificateRatings", "certify", _JUDGE, is_from_outside=True),
    Layer("certificates", f"{_RATED}:Certificates", "certify", _CERTIFIED, ("certificate_ratings",)),
)
"""Those that belong to no benchmark. `items_rejected` stands beside `items`, with the rules that its rows break."""

AGGREGATED: tuple[str, ...] = tuple(layer.name for layer in GENERAL if layer.step_name == _PASS)
"""Layers that every run with scores has once, from raw score to total: one pass yields them all."""

FROM_OUTSIDE = frozenset(layer.name for layer in GENERAL if layer.is_from_outside)

OF_NO_RUN = frozenset(layer.name for layer in GENERAL if layer.written_by == "certify")
"""Layers that no manifest lists, and that are kept all the same."""


def _require_gold(layer: Layer) -> None:
    """Raise UsageError if nothing writes a layer of a benchmark's own, or a lake cannot have a folder of its name."""
    if layer in GENERAL:
        return
    fits = re.fullmatch(r"[a-z][a-z0-9_]*(?<!_rejected)", layer.name) and layer.name not in NO_LAYERS
    if not (fits and layer.is_gold):
        raise UsageError(
            f"a benchmark cannot add the layer {layer.name}",
            where="layers of the installed benchmarks",
            expected=f"gold_layer(...) with a name in lower case that is none of {', '.join(sorted(NO_LAYERS))}",
            got=repr(layer),
            next_step="correct the layer of the installed package",
        )


LAYERS = Rows("layers", Layer, check=_require_gold)


def in_order() -> list[str]:
    """List the layers in the order in which they are computed."""
    return sorted(LAYERS, key=lambda name: get_args(Stage).index(LAYERS[name].written_by))


def gold_layers() -> tuple[str, ...]:
    """List the layers of gold."""
    return tuple(name for name, layer in LAYERS.items() if layer.is_gold)
