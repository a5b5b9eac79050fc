"""`moodflow cards`: build role cards from posts and dialogues, annotate those that exist."""

import json
from pathlib import Path
from typing import Annotated

import polars as pl
import typer
from rich.console import RenderableType

from flows.commands import options as opt
from flows.commands.console import CommandResult, terminal_table
from flows.commands.plan_options import PlanCommand, PlanOptions, read_plan
from flows.commands.process import require_prefect_settings
from flows.commands.run_notes import usage_view
from flows.runtime.local_server import temporary_server
from schemas.documents.datasets import BuiltCards
from schemas.errors import UsageError
from schemas.lineage import StageResult
from schemas.plan import Plan
from schemas.roles import JUDGES
from schemas.table import Column, Table
from schemas.tables.role_cards import QUALITIES, CardStep, RoleCards
from tasks.judging.cards import ANNOTATORS, CardPipeline, card_agreement, compare_funnel, find_pipeline, funnel
from tasks.lake.files import replace_file
from tasks.lake.lake import Lake
from tasks.lake.manifest import read_code_version
from tasks.models.cost import load_prices, price_usage
from tasks.reporting.run_document import describe_cost

USED = {"benchmark", "models", "roles", "sample", "seed", "budget", "budget_tokens", "prices", "mirror", "folders", "lake"}
"""Fields of a plan that mean something here."""

COMMANDS: dict[str, tuple[CardStep, str]] = {
    "build": (
        "extract",
        "Build role cards from posts and dialogues: extract, filter, annotate, adjudicate. Ends with status 1 if a call failed.",
    ),
    "annotate": (
        "annotate",
        "Give existing cards a category and a grade. Ends with status 1 if a call failed, or people left a card open.",
    ),
}
"""Commands by name: the first step of each, and its help."""

Source = Annotated[
    str, typer.Argument(metavar="SOURCE", help="to build: posts as JSONL, or a corpus; to annotate: a dataset or a file of cards")
]
Out = Annotated[Path, opt.option("folder for the cards", opt.WHERE, "FOLDER")]
People = Annotated[Path | None, opt.option("CSV of the annotations of people, in place of models", opt.JUDGE, "FILE")]
Pipeline = Annotated[str | None, opt.option("pipeline of an installed benchmark; default: the first", opt.EVALUATED, "NAME")]

app = typer.Typer(no_args_is_help=True, add_completion=False)


def _cards_command(
    context: typer.Context,
    source: Source,
    out: Out = Path(),
    pipeline: Pipeline = None,
    people: People = None,
    as_json: opt.AsJson = False,
) -> None:
    first, _ = COMMANDS[context.info_name or "build"]
    plan = card_plan(source, context.obj, first if people else None)
    cards = find_pipeline(pipeline)
    rows = cards.read(first, plan)  # before a server is waited for: a wrong line is told at once
    if people:
        cards.annotate(people, rows)
    require_prefect_settings()
    temporary_server()
    # Takes seconds that `--help` and a misspelt option need not wait.
    from flows.cards import build_cards  # noqa: PLC0415
    from flows.runtime.prefect_flows import run_to_end  # noqa: PLC0415
    from flows.runtime.prefect_server import on_server  # noqa: PLC0415

    result = run_to_end(on_server(lambda: build_cards(plan, first, pipeline, people)))
    _finished(plan, cards, result, out).finish(as_json=as_json)


for _name, (_, _help) in COMMANDS.items():
    app.command(_name, cls=PlanCommand, help=_help)(_cards_command)


def card_plan(source: str, options: PlanOptions, of_people: CardStep | None = None) -> Plan:
    """Return a plan whose benchmark is what cards are made of, and whose judge and panel annotate.

    What means nothing here is refused. `of_people`: the first step, where people annotate and no model does.
    """
    plan = read_plan(source, options, needs_model=of_people is None)
    if of_people == "extract" or (of_people and plan.entries):
        raise UsageError(
            "--people annotates existing cards and cannot be combined with a model",
            where="--people, --model, --role",
            next_step="moodflow cards annotate SOURCE --people FILE, without a model",
        )
    unused = [*(plan.roles.keys() - JUDGES.keys()), *sorted(plan.model_fields_set - USED)]
    if unused or len(plan.models) > 1 or len(plan.named(*JUDGES)) > len(ANNOTATORS):
        raise UsageError(
            f"moodflow cards does not use {', '.join(unused)}" if unused else "there are too many models",
            where="--set, --config" if unused else "--model, --role",
            expected=f"one model, at most {len(ANNOTATORS)} judges and panel models; of the plan only {', '.join(sorted(USED))}",
            next_step="leave it out",
        )
    return plan.model_copy(update={"settings": ("cards",)})


def _finished(plan: Plan, pipeline: CardPipeline, result: StageResult, out: Path) -> CommandResult:
    lake, table, name = Lake(plan.lake, read_code_version()), load_prices(plan.prices), Path(plan.benchmark).stem
    cards = pl.concat([lake.read(ref, RoleCards) for ref in result.refs])
    files = {f"{name}.{quality}.jsonl": pipeline.items(cards, quality) for quality in QUALITIES}
    usage = price_usage(result.usage, plan, table)
    document = BuiltCards(
        funnel=funnel(cards),
        paper=compare_funnel(cards, pl.read_csv(pipeline.printed)) if pipeline.printed else (),
        grades={quality: len(items) for quality, items in zip(QUALITIES, files.values(), strict=True)},
        agreement=card_agreement(cards),
        failed=dict(cards.filter(status="failed").select("card_id", "reason").iter_rows()),
        files=tuple(str(out / file) for file in (*files, f"{name}.cards.json")),
        partitions=result.refs,
        calls=result.calls,
        usage=usage,
        cost=describe_cost(usage, table.currency if table else None),
    )
    texts = {file: "".join(f"{json.dumps(item, ensure_ascii=False)}\n" for item in items) for file, items in files.items()}
    texts[f"{name}.cards.json"] = document.model_dump_json(indent=1)
    for file, text in texts.items():
        replace_file(out / file, text.encode())
    failed = any(step.failed for step in document.funnel)
    view = [*_view(document), *usage_view(document.cost)]
    return CommandResult(int(failed), document, view)


def _view(document: BuiltCards) -> list[RenderableType]:
    counts = [Column(title, "count") for title in ("Entered", "Kept", "Failed")]
    steps = [
        (step.step, step.entered, step.kept, step.failed, ", ".join(f"{n} {reason}" for reason, n in step.dropped.items()))
        for step in document.funnel
    ]
    columns = (Column("Annotators on"), Column("Cards", "count"), Column("Alike", "count"), Column("Alpha", "number"))
    agreement = [(row.of, row.cards, row.alike, row.alpha) for row in document.agreement]
    tables = [Table((Column("Step"), *counts, Column("Dropped")), steps), Table(columns, agreement)]
    both = [(row.language, row.stage, row.here, row.cards) for row in document.paper]
    heads = (Column("Language"), Column("Kept"), Column("Here", "count"), Column("Paper", "count"))
    tables += [Table(heads, both, "Beside the paper")] if both else []
    notes = [f"Paper, {row.language}, {row.stage}: {row.note}" for row in document.paper if row.note]
    grades = ", ".join(f"{count} {quality}" for quality, count in document.grades.items())
    failed = [f"Failed: {card}, {reason}" for card, reason in document.failed.items()]
    written = [f"Written: {file}" for file in document.files]
    return [*map(terminal_table, tables), *notes, *failed, f"Cards: {grades}", *written]
