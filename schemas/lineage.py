"""References to partitions and the manifest of a run."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, Field

from schemas.base import Frozen, omittable
from schemas.canary import CanaryFinding
from schemas.chat import FILE_PREFIX
from schemas.errors import LakeError
from schemas.model_description import ModelDescription
from schemas.provider import PriceTable
from schemas.roles import PEOPLE
from schemas.tables.layers import FROM_OUTSIDE
from schemas.usage import Usage, merge
from schemas.vocabulary import Language

SOURCES = "source_sha256"
"""Setting of a partition that is built from source files: their hashes."""

OWN_AS_PINNED, OWN_UNPINNED = "own files with the pinned hash", "own files, no hash is pinned"
"""How sources of a notice begin that are copies of the user's own; with any other hash than the pinned they are other files."""


@dataclass(frozen=True)
class CodeVersion:
    """What wrote a partition."""

    package: str
    git_commit: str | None


class PartitionKey(Frozen):
    """Where a partition belongs and what it is made of, known before it exists."""

    layer: str
    place: tuple[tuple[str, str], ...] = Field(description="key=value folders, in order; not named `keys`, see dict(model)")
    fingerprint: str = Field(pattern=r"^[0-9a-f]{64}$")
    settings: dict[str, Any] = Field(default_factory=dict, description="what the fingerprint was computed from; no secrets")
    parents: tuple[str, ...] = Field(default=(), description="identities of the partitions it is computed from")


class PartitionRef(Frozen):
    """A partition that exists. Small: steps exchange these, not frames."""

    layer: str
    place: tuple[tuple[str, str], ...]
    fingerprint: str
    path: str = Field(description="relative to the lake")
    rows: int = Field(ge=0)
    content_sha256: str = Field(description="hash of the rows without measured columns such as latency")
    complete: bool = Field(default=True, description="false if failed calls left rows to be asked again")
    parents: tuple[str, ...] = ()

    @property
    def identity(self) -> str:
        """What downstream fingerprints build on.

        It follows the content of what came from outside, so that no score outlives the reply it was made from, and of incomplete
        partitions.
        """
        by_content = self.layer in FROM_OUTSIDE or not self.complete
        return f"{self.fingerprint}.{self.content_sha256[:16]}" if by_content else self.fingerprint

    @property
    def by_people(self) -> bool:
        """Whether it holds ratings by people: as long as others may rate too it is not complete, and no model is asked."""
        return self.layer == "judgements" and dict(self.place).get("judge") == PEOPLE

    def key(self, name: str) -> str:
        """Value of one partition key, such as `dataset`."""
        return dict(self.place)[name]


def by_name(refs: Iterable[PartitionRef]) -> dict[str, PartitionRef]:
    """Return partitions by their identity, as those computed from them name them."""
    return {ref.identity: ref for ref in refs}


class Footer(Frozen):
    """What the file of a partition says of itself."""

    partition: PartitionRef
    settings: dict[str, Any] = Field(description="what the fingerprint was computed from, besides place and parents")
    package_version: str
    git_commit: str | None


class Missing(Frozen):
    """A dataset (of a model and setting, where it got that far) that yields no score, or not over all its rows, and why."""

    dataset: str
    reason: str
    next_step: str
    rows: int | None = omittable(description="rejected rows, if nothing else is missing")
    model: str | None = None
    setting: str | None = None


class DatasetNotice(Frozen):
    """What whoever passes a run on must know about one of its datasets: where it comes from and what its licence allows."""

    id: str
    title: str
    licence: str
    redistributable: bool = Field(description="whether the licence allows texts of the dataset in a report that is passed on")
    canary: str | None = Field(default=None, description="string the authors ask to be kept with the data")
    sources: tuple[str, ...] = Field(description="repository and revision of each source, `bundled`, or a note on own files")
    evaluation_version: str
    ambiguous: tuple[str, ...] = Field(default=(), description="items whose own labels contradict each other")
    differences: tuple[str, ...] = Field(default=(), description="differences from its paper in asking or scoring")
    languages: tuple[Language, ...] = Field(default=(), description="of its items")
    replaces: tuple[Language, ...] | None = omittable(description="of an alternative source: languages of the usual one")


class CallCounts(Frozen):
    """Model calls of a run; answered = sent and answered, from_journal = paid for earlier, unsent = the budget was spent.

    waiting = not sent because a batch has the call. unknown_ids = lines of batches that answer no call of ours.
    """

    sent: int = 0
    answered: int = 0
    from_journal: int = 0
    failed: int = 0
    unsent: int = 0
    waiting: int = omittable(default=0)
    unknown_ids: int = omittable(default=0)

    @property
    def line(self) -> str:
        """Return the counts as one line of text."""
        unsent = f", {self.unsent:,} not sent" if self.unsent else ""
        answered = f"{self.sent:,} sent, {self.answered:,} answered, {self.from_journal:,} from the journal"
        unknown = f", {self.unknown_ids:,} lines of batches refused: unknown_id" if self.unknown_ids else ""
        return f"{answered}, {self.failed:,} failed{unsent}{unknown}"

    def __add__(self, other: "CallCounts") -> "CallCounts":
        return CallCounts(**{name: getattr(self, name) + getattr(other, name) for name in CallCounts.model_fields})


class _StoredModel(BaseModel):
    name: str
    about: ModelDescription | None = None


class _StoredRole(BaseModel):
    default: list[_StoredModel]
    datasets: dict[str, list[_StoredModel]]


class _StoredPlan(BaseModel):
    """What is read of a stored plan; no more is checked of it."""

    models: list[_StoredModel] = []
    roles: dict[str, _StoredRole] = {}
    datasets: list[str] | None = None
    settings: list[str] = Field(default=["base"], min_length=1)
    retrieval: dict[str, object] | None = None
    simulation_rubric: str | None = None
    sample: int | None = None
    seed: int = 0
    bootstrap: int = 0
    permute: int = 0
    repeat: int = 1


def _check_plan(plan: dict[str, object]) -> dict[str, object]:
    """Return a stored plan; ValueError: it is damaged."""
    _StoredPlan.model_validate(plan)
    return plan


class RunManifest(Frozen):
    """Everything a run consists of: enough to reopen, compare and recompute it."""

    run: str
    benchmark: str
    blueprint: dict[str, Any]
    blueprint_sha256: str
    plan: Annotated[dict[str, Any], AfterValidator(_check_plan)]
    package_version: str
    git_commit: str | None
    started_at: str
    finished_at: str
    partitions: tuple[PartitionRef, ...]
    missing: tuple[Missing, ...]
    calls: CallCounts
    ablation: None = Field(default=None, exclude=True, description="null in manifests that have it; not written")
    report: str | None = None
    datasets: tuple[DatasetNotice, ...] = ()
    redacted: bool = Field(default=False, description="texts that must not be passed on are left out of the report")
    usage: tuple[Usage, ...] = ()
    prices: PriceTable | None = Field(default=None, description="the prices behind the costs in `usage`; null = none given")
    canaries: tuple[CanaryFinding, ...] = Field(default=(), description="models asked again; empty if none")
    earlier_sha256: tuple[str, ...] = omittable(
        default=(),
        description="of the manifest each time before its models were described again, oldest first: copies of earlier seals",
    )
    files: dict[str, str] = Field(
        default_factory=dict,
        description="sha256 of the bytes of each partition's file, by its path",
    )

    def partition(self, layer: str) -> PartitionRef:
        """Return the one partition of an aggregated layer; LakeError: the manifest names none."""
        for ref in self.partitions:
            if ref.layer == layer:
                return ref
        raise LakeError(f"the manifest of run {self.run} lists no partition of {layer}", next_step=f"moodflow verify {self.run}")

    @property
    def restricted(self) -> dict[str, str]:
        """Return the licences that forbid passing texts on, by dataset."""
        return {notice.id: notice.licence for notice in self.datasets if not notice.redistributable}

    @property
    def withheld(self) -> dict[str, str]:
        """Return the licences of datasets whose texts are left out of this run, by dataset."""
        return self.restricted if self.redacted else {}

    @property
    def descriptions(self) -> dict[str, ModelDescription]:
        """Return what is said of the models under test, by name, where something is."""
        return {model.name: model.about for model in _StoredPlan.model_validate(self.plan).models if model.about}

    def replies_file(self, model: str) -> str | None:
        """Return the SHA-256 of the file that the replies of a model under test come from; null = a server gave them."""
        urls = [str(entry.get("base_url")) for entry in self.plan.get("models", ()) if entry["name"] == model]
        return next((url.removeprefix(FILE_PREFIX) for url in urls if url.startswith(FILE_PREFIX)), None)

    def role(self, name: str) -> dict[str, Any]:
        """Return the models that the plan names for a role: by default, and of datasets where they differ."""
        models: dict[str, Any] = self.plan.get("roles", {}).get(name, {"default": [], "datasets": {}})
        return models

    def role_models(self, role: str, dataset: str) -> list[dict[str, Any]]:
        """Return who has a role for a dataset; none if the plan names none."""
        models: list[dict[str, Any]] = (of_role := self.role(role))["datasets"].get(dataset, of_role["default"])
        return models

    def models_in(self, role: str) -> list[dict[str, Any]]:
        """Return the models that the plan names for a role, whatever dataset they are for; each once."""
        of_role = self.role(role)
        entries = [*of_role["default"], *(entry for models in of_role["datasets"].values() for entry in models)]
        return [entry for number, entry in enumerate(entries) if entry not in entries[:number]]

    def names_in(self, role: str) -> list[str]:
        """Return the names of these models."""
        return list(dict.fromkeys(entry["name"] for entry in self.models_in(role)))

    @property
    def currency(self) -> str | None:
        """Currency of the costs in `usage`; null if no price table was named, then only what is free has a cost."""
        return self.prices.currency if self.prices else None


class StageResult(Frozen):
    """What a stage's flow returns: partitions it wrote or found, datasets it could not do, calls it made, tokens they used."""

    refs: tuple[PartitionRef, ...] = ()
    missing: tuple[Missing, ...] = ()
    calls: CallCounts = CallCounts()
    usage: tuple[Usage, ...] = Field(default=(), description="without costs; empty if nothing had to be asked")
    request_files: tuple[str, ...] = Field(default=(), description="that its calls were written to, for others to answer")

    @classmethod
    def of(cls, outcomes: Iterable[PartitionRef | Missing | Usage], calls: CallCounts | None = None) -> Self:
        """Sort the outcomes of steps into partitions, missing datasets and usage."""
        listed = list(outcomes)
        return cls(
            refs=tuple(outcome for outcome in listed if isinstance(outcome, PartitionRef)),
            missing=tuple(outcome for outcome in listed if isinstance(outcome, Missing)),
            calls=calls or CallCounts(),
            usage=merge(outcome for outcome in listed if isinstance(outcome, Usage)),
        )
