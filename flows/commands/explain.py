"""`moodflow explain`: explain how a number of a past run came about, down to the replies behind it."""

from collections.abc import Sequence
from dataclasses import replace

import typer

from flows.commands import options as opt
from flows.commands.console import CommandResult
from flows.commands.explain_view import item_view, rows_view, score_view, subset_view
from schemas.errors import UsageError
from schemas.folders import DEFAULT_LAKE
from tasks.compare.regression import list_some
from tasks.explain.groups import explain_subset
from tasks.explain.rows import explain_item, explain_rows, find_dataset_of
from tasks.explain.totals import MOST_LISTED, BlueprintPath, Selection, choose_systems, explain_score, find_place, require_one
from tasks.runs.past_run import PastRun, reopen
from tasks.runs.run_tables import System

app = typer.Typer(add_completion=False)


@app.command()
def explain(
    run: opt.Run,
    model: str | None = typer.Option(None, "--model", help="only this model; --item and --worst need one"),
    setting: str | None = typer.Option(None, "--setting", help="only this setting; --item and --worst need one"),
    ability: str | None = typer.Option(None, "--ability", help="explain this ability, at any level"),
    task: str | None = typer.Option(None, "--task", help="explain this task"),
    dataset: str | None = typer.Option(None, "--dataset", help="explain this dataset, and list its items"),
    item: str | None = typer.Option(None, "--item", help="show one item in full: messages, reply, reading, ratings, files"),
    worst: int | None = typer.Option(None, "--worst", min=1, help="show the N lowest-scoring items of the dataset"),
    where: str | None = typer.Option(None, "--where", metavar="COND", help="compare items that meet a condition with others"),
    lake: opt.LakeFolder = None,
    as_json: opt.AsJson = False,
) -> None:
    """Explain a score of a run, down to the items, replies and prompts behind it.

    Ends with status 1 if stored scores do not add up, or a prompt differs from the one that was stored.
    """
    wanted = Selection(model, setting, ability, task, dataset, item, worst)
    explain_run(reopen(lake or DEFAULT_LAKE, run), wanted, where).finish(as_json=as_json)


def explain_run(run: PastRun, wanted: Selection, where: str | None) -> CommandResult:
    """Explain what the options name; status 1 if something does not add up."""
    systems, path = choose_systems(run, wanted), find_place(run.blueprint, wanted)
    if where is not None:
        return _subset(run, where, systems, wanted, path.datasets(run.blueprint))
    if wanted.item is not None:
        return _item(run, wanted.item, systems, path)
    if wanted.worst is not None:
        below = path.datasets(run.blueprint)
        if len(below) > 1:
            raise UsageError(
                "--worst needs a dataset",
                where="--worst",
                expected=f"--dataset with one of {list_some(below, MOST_LISTED)}",
                got=f"--worst {wanted.worst}",
                next_step=f"for example --dataset {below[0]}",
            )
        wanted, path = replace(wanted, dataset=below[0]), replace(path, dataset=below[0])
        require_one(run, systems, "--worst")
    document = explain_score(run, systems, wanted, path)
    view, status = score_view(document), int(not document.adds_up)
    if path.dataset is None:
        return CommandResult(status, document, view)
    if len(systems) > 1:
        return CommandResult(status, document, [*view, f"For the rows, name one model and setting: {document.next}"])
    rows = explain_rows(run, document, path.dataset, systems[0], wanted.worst)
    return CommandResult(status, rows, [*view, *rows_view(rows, wanted.worst)])


def _subset(run: PastRun, where: str, systems: Sequence[System], wanted: Selection, datasets: Sequence[str]) -> CommandResult:
    if wanted.item is not None or wanted.worst is not None:
        raise UsageError(
            "--where cannot be combined with --item or --worst",
            where="--item, --worst",
            expected="one of the three",
            next_step="leave --where out to see rows",
        )
    document = explain_subset(run, where, systems, datasets)
    return CommandResult(0, document, subset_view(document))


def _item(run: PastRun, item: str, systems: Sequence[System], path: BlueprintPath) -> CommandResult:
    dataset = find_dataset_of(run, item, path.datasets(run.blueprint))
    document = explain_item(run, dataset, require_one(run, systems, "--item"), item)
    proofs = [call.proof for request in document.asked for call in request.calls]
    broken = any(not proof.hash_holds or "different" in (proof.rebuilt, proof.journal) for proof in proofs)
    return CommandResult(int(broken), document, [*item_view(document)])
