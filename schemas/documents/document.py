"""The base of every document, and the list of all."""

from importlib import import_module

from pydantic import Field, JsonValue, TypeAdapter

from schemas.base import Frozen
from schemas.errors import UsageError


class Document(Frozen):
    """What a command prints with `--json`: `model_dump(mode="json")` of it."""


class SystemName(Frozen):
    """A model in one setting."""

    model: str = Field(description="its name")
    setting: str = Field(description="how it was asked")


DOCUMENTS = {
    "automations": "serve:Automations",
    "build": "run:StageDocument",
    "batches cancel": "batches:BatchNews",
    "batches collect": "batches:BatchNews",
    "batches give-up": "batches:BatchNews",
    "batches list": "batches:BatchList",
    "batches show": "batches:BatchList",
    "cards annotate": "datasets:BuiltCards",
    "cards build": "datasets:BuiltCards",
    "compare": "comparison:RunComparison",
    "datasets check": "datasets:DatasetChecks",
    "datasets list": "datasets:DatasetList",
    "datasets show": "datasets:DatasetEntry",
    "docs": "serve:DocumentationPage",
    "demo": "comparison:AnyRun",
    "explain": "explanation:Explanation",
    "figure": "leaderboard:DrawnFigure",
    "gate": "comparison:GateResult",
    "replies template": "lake:WrittenTemplate",
    "export": "lake:AnyExport",
    "gc": "lake:UnusedFiles",
    "infer": "comparison:AnyInference",
    "journal export": "lake:JournalExport",
    "journal import": "lake:JournalImport",
    "journal merge": "lake:JournalImport",
    "journal requests": "lake:WrittenRequests",
    "journal show": "lake:JournalSummary",
    "judges certificates": "certificates:CertificateList",
    "judges certify": "certificates:AnyCertificate",
    "judges check": "certificates:JudgeCheck",
    "judges pairs": "comparison:PairFiles",
    "judges sheet": "models:RatedByPeople",
    "judges votes": "comparison:PersonVotes",
    "leaderboard": "leaderboard:RankedSystems",
    "lineage": "lake:LineageGraph",
    "models accept": "models:AcceptedFindings",
    "models check": "models:ModelCheck",
    "models list": "models:ModelList",
    "options": "plan:PlanOptionList",
    "report": "run:RunDocument",
    "run": "comparison:AnyRun",
    "runs describe": "run:RunDocument",
    "runs export": "run:ExportedRun",
    "runs list": "run_list:RunList",
    "runs report": "run:RewrittenReport",
    "runs show": "run:RunDocument",
    "score": "run:StageDocument",
    "serve": "serve:ServedSession",
    "verify": "lake:Verification",
    "view": "serve:ServedPages",
}
"""The document of each command: its module in this package and its class, or a union of classes, imported when asked for."""


def json_schema(name: str) -> dict[str, JsonValue]:
    """Return the JSON schema (draft 2020-12) of the document that the command `name` prints.

    UsageError: no command of this name prints a document.
    """
    if name not in DOCUMENTS:
        raise UsageError(
            "unknown document", got=name, expected=", ".join(sorted(DOCUMENTS)), next_step="moodflow schema lists them"
        )
    module, _, kind = DOCUMENTS[name].partition(":")
    document: type[Document] = getattr(import_module(f"schemas.documents.{module}"), kind)
    of_command = f"What `moodflow {name} --json` prints."
    return {"description": of_command} | TypeAdapter(document).json_schema(mode="serialization")
