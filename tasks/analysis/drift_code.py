"""What the code and the texts that come with it are now, against what the partitions of a run were made by."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from schemas.errors import UsageError
from schemas.lineage import Footer, PartitionRef
from schemas.verification import Difference
from tasks.datasets.keys import ITEMS_VERSION, LONG_ITEMS_VERSION
from tasks.judging.agreement import AGREEMENTS_VERSION
from tasks.judging.executor import JUDGEMENTS_VERSION
from tasks.judging.rubrics import load_rubric
from tasks.metrics.item_scores import METRICS_VERSION
from tasks.metrics.reference.scoring import REFERENCE_VERSION
from tasks.retrieval.ranking import RANKING_VERSION
from tasks.scoring.benchmark import SCORING_VERSION
from tasks.scoring.keys import COMPARISONS_VERSION
from tasks.solvers.longemotion.keys import CHUNKS_VERSION, LONG_RESPONSES_VERSION
from tasks.solvers.longemotion.prompts import load_long_prompts
from tasks.solvers.longemotion.solve import SOLVERS_VERSION
from tasks.solvers.prompts import load_prompts
from tasks.solvers.run import RESPONSES_VERSION
from tasks.solvers.truncation import TRUNCATION_VERSION

VERSION = "evaluation_version"
GONE = "gone"
"""What a text is now that no longer comes with the code."""

WORDS: Mapping[str, str] = {
    VERSION: "evaluation version",
    "long_items_version": "version of long items",
    "solvers_version": "version of the solvers",
    "ranking_version": "version of the ranking",
    "chunks_version": "version of the chunks",
    "too_long": "version of shortening",
    "prompts_sha256": "prompts",
    "rubric_sha256": "rubric",
}
"""Parts of a partition's settings that the code decides, and what they are called."""


def code_differences(footers: Mapping[str, Footer]) -> Iterator[Difference]:
    """One difference per layer and part of the code that is not what the run's partitions were made by; none for equal code.

    Args:
        footers: of the run's partitions, by path.
    """
    changed: Counter[tuple[str, str, str, str]] = Counter()
    for footer in footers.values():
        ref = footer.partition
        now = present_parts(ref, footer.settings)
        for name, value in now.items():
            was = _stated(footer.settings[name])
            if was != value:
                changed[ref.layer, name, was, value] += 1
    for (layer, name, was, value), count in changed.items():
        partitions = "1 partition" if count == 1 else f"{count} partitions"
        message = f"layer {layer}: {WORDS[name]} was {_short(was)}, is {_short(value)} ({partitions})"
        yield Difference(kind="code", where=f"{layer}.{name}", expected=was, got=value, message=message)


def present_parts(ref: PartitionRef, settings: Mapping[str, Any]) -> dict[str, str]:
    """Those parts of a partition's settings that the code decides, as they would be now."""
    parts = {VERSION: _version_of(ref.layer, settings)}
    if ref.layer in {"responses", "retrievals", "chunks"}:
        long = "solvers_version" in settings
        texts = load_long_prompts().sha256 if long else load_prompts().sha256
        own = {"solvers_version": SOLVERS_VERSION, "ranking_version": RANKING_VERSION, "chunks_version": CHUNKS_VERSION}
        parts |= {**own, "too_long": TRUNCATION_VERSION, "prompts_sha256": texts}
    parts |= {"long_items_version": LONG_ITEMS_VERSION}
    if ref.layer == "judgements":
        parts["rubric_sha256"] = _rubric_sha256(ref.key("rubric"))
    return {name: value for name, value in parts.items() if name in settings}


def _version_of(layer: str, settings: Mapping[str, Any]) -> str:
    long = "solvers_version" in settings
    versions = {
        "items": ITEMS_VERSION,
        "contexts": ITEMS_VERSION,
        "chunks": LONG_RESPONSES_VERSION if long else CHUNKS_VERSION,
        "retrievals": LONG_RESPONSES_VERSION,
        "responses": LONG_RESPONSES_VERSION if long else RESPONSES_VERSION,
        "judgements": JUDGEMENTS_VERSION,
        "agreements": AGREEMENTS_VERSION,
        "item_scores": REFERENCE_VERSION if settings.get("profile") == "reference" else METRICS_VERSION,
        "needle_scores": COMPARISONS_VERSION,
        "ablations": COMPARISONS_VERSION,
    }
    return versions.get(layer, SCORING_VERSION)


def _rubric_sha256(name: str) -> str:
    try:
        return load_rubric(name).sha256
    except UsageError:
        return GONE


def _stated(value: Any) -> str:
    # Of the rule for too long items only the version is the code's; the rest is the plan's.
    return str(value["version"]) if isinstance(value, Mapping) else str(value)


def _short(value: str) -> str:
    return value[:12]
