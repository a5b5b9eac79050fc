"""`moodflow ablate`: read which factors of a plan are varied."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import typer

from flows.commands import options as opt
from flows.commands import stages
from flows.commands.plan_fields import role_names
from flows.commands.plan_options import PlanCommand, read_plan
from schemas.ablation import FACTORS, AblationRequest, Varied
from schemas.errors import UsageError, unknown_name
from schemas.plan import Plan
from schemas.vocabulary import ContextTask
from tasks.datasets.catalogue import find_dataset
from tasks.scoring.blueprints import load_blueprint
from tasks.sources.locating import Locator, needs


class AblationDefaults(NamedTuple):
    """Factors, setting and tasks of an ablation where the options do not say; LongEmotion, section 5 and Figures 6 to 8."""

    varied: Mapping[str, tuple[str, ...]]
    setting: str
    tasks: tuple[ContextTask, ...]
    """Those that its datasets are of."""


ABLATIONS: Mapping[str, AblationDefaults] = {
    "thinking": AblationDefaults({"reasoning_effort": ("true", "false")}, "base", ("ec_emobench", "ed", "ee")),
    "length": AblationDefaults({"length": ("2000", "4000", "8000", "16000", "32000", "64000")}, "base", ("ec_finentity",)),
    "depth": AblationDefaults(
        {"length": ("4000", "8000", "16000"), "depth": ("0", "25", "50", "75", "100")}, "base", ("ec_emobench", "ec_finentity")
    ),
    "retrieval": AblationDefaults(
        {"chunk_tokens": ("128", "256", "512"), "top_k": ("1", "4", "8", "16")}, "rag", ("qa", "ec_emobench")
    ),
    "sage": AblationDefaults({"sage": ()}, "coem", ("mc4",)),
    "embedder": AblationDefaults({"embedder": ("minilm", "auto")}, "rag", ("ec_emobench", "qa")),
}

Name = Annotated[str, typer.Argument(metavar="NAME", help=f"one of {', '.join(ABLATIONS)}")]
Vary = Annotated[
    list[str] | None,
    typer.Option(
        "--vary", metavar="FACTOR=V1,V2", help=f"what is varied, repeatable once; factors: {', '.join(FACTORS)}, or a role"
    ),
]

app = typer.Typer(add_completion=False)


@app.command(cls=PlanCommand)
def _ablate_command(
    context: typer.Context, name: Name, benchmark: opt.Benchmark, vary: Vary = None, as_json: opt.AsJson = False
) -> None:
    stages.execute("ablate", make_request(name, read_plan(benchmark, context.obj), vary), as_json=as_json)


def make_request(name: str, plan: Plan, vary: Sequence[str] | None) -> AblationRequest:
    """Return the ablation of this name over a plan; what the user stated comes before the defaults.

    Args:
        name: of the ablation.
        plan: everything that is not varied.
        vary: factors with their values.

    Raises:
        UsageError: if there is no such ablation or factor, or it has no values.
    """
    if name not in ABLATIONS:
        raise unknown_name("ablation", name, ABLATIONS, "NAME", "moodflow ablate --help lists the options")
    defaults = ABLATIONS[name]
    varied = tuple(_read(text) for text in vary or ()) or tuple(
        Varied.model_construct(factor=factor, values=values) for factor, values in defaults.varied.items()
    )
    if len(varied) > 2 or not all(one.values for one in varied):  # noqa: PLR2004
        raise UsageError(
            f"what ablation {name} varies is not clear",
            where="--vary",
            expected="one factor or two, each with its values",
            got=", ".join(one.factor for one in varied if not one.values) or f"{len(varied)} factors",
            next_step=f"for example --vary {varied[0].factor}=A,B",
        )
    unstated: dict[str, Any] = {}
    if "settings" not in plan.model_fields_set:
        unstated["settings"] = (defaults.setting,)
    if "datasets" not in plan.model_fields_set:
        unstated["datasets"] = _datasets(plan, defaults.tasks)
    return AblationRequest(name=name, plan=plan.model_copy(update=unstated), varied=varied)


def _read(text: str) -> Varied:
    factor, _, values = text.partition("=")
    if values and (factor in FACTORS or factor in role_names()):
        return Varied(factor=factor, values=tuple(value.strip() for value in values.split(",") if value.strip()))
    raise UsageError(
        "what is varied cannot be read",
        where="--vary",
        expected=f"FACTOR=V1,V2 with one of {', '.join((*FACTORS, *role_names()))}",
        got=text,
        next_step="for example --vary top_k=1,4,8",
    )


def _datasets(plan: Plan, tasks: Sequence[ContextTask]) -> tuple[str, ...] | None:
    """Return the datasets of the blueprint that are of these tasks and whose files are here; None if there are none."""
    locator = Locator.for_mirror(plan.mirror)
    known = [find_dataset(name) for name, entry in load_blueprint(plan.benchmark).datasets.items() if not entry.source]
    fitting = [spec.id for spec in known if spec.task in tasks and not needs(spec, locator)]
    return tuple(fitting) or None
