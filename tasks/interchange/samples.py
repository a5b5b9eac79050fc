"""Lay the answers of a run out as samples, in the form that files of other harnesses share."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from schemas.documents.lake import ExportedRecords, WithheldTexts
from schemas.json_yaml import read_json
from schemas.usage import TESTED
from tasks.judging.answers import GOLD
from tasks.runs.past_run import PastRun
from tasks.solvers.answers import SAID

TARGET = pl.coalesce(pl.col("options").list.gather(pl.col("gold_indices")), "references").list.join("\n")
ASKED = ["item_id", "repetition"]
REPLIED = ("reasoning", "finish_reason", "prompt_tokens", "completion_tokens")
REASONS = pl.format("{}: {} {}", "dimension", "rating", pl.col("rationale").fill_null("")).drop_nulls().str.join("\n")


@dataclass(frozen=True)
class Samples:
    """The answers of a model about a dataset in a setting, one per sample; `scores`: values of the dataset by metric."""

    dataset: str
    model: str
    setting: str
    rows: list[dict[str, Any]]
    scores: dict[str, float]

    @property
    def task(self) -> str:
        """Return the name of the task: its dataset, and its setting unless that is base."""
        return self.dataset if self.setting == "base" else f"{self.dataset}-{self.setting}"


def exported(run: PastRun, folder: Path, files: Iterable[Path], written: Iterable[Samples]) -> ExportedRecords:
    """Return what was written of a run; samples that a licence withholds are not."""
    return ExportedRecords(
        runs=(run.name,),
        folder=str(folder),
        files=tuple(str(file.relative_to(folder)) for file in files),
        samples=sum(len(samples.rows) for samples in written),
        withheld=withheld_texts(run),
    )


def withheld_texts(run: PastRun, *, lines: bool = False) -> tuple[WithheldTexts, ...]:
    """Return the datasets whose texts may not be passed on. `lines`: whether samples are written without them."""
    return tuple(WithheldTexts(dataset=name, licence=each, lines=lines) for name, each in run.manifest.restricted.items())


def read_samples(run: PastRun) -> Iterator[Samples]:
    """Yield the samples of a run by dataset, model and setting, without those that a licence withholds; as `read_tidy` raises.

    A sample has the last call that its answer rests on: `messages`, `turn`, `messages_sha256`, counts of tokens; the item's
    `options` and `target`; `reply` or `failure`; and `scores`, pairs of metric and value, with `parsed_answer` and `reasons`.
    """
    for ref in run.partitions("answers"):
        job = {name: ref.key(name) for name in ("dataset", "model", "setting")}
        if job["setting"] == GOLD or job["dataset"] in run.manifest.restricted:
            continue
        items = run.read("items", dataset=job["dataset"]).select("item_id", "options", target=TARGET)
        calls = run.read("responses", **job).filter(role=TESTED).unique([*ASKED, "call_key"], keep="last")
        answers = run.read("answers", **job).select(
            *ASKED, "dataset", "setting", "part", "failure", "option_order", reply=SAID, call_key=pl.col("call_keys").list.last()
        )
        scored = run.read("item_scores", **job).group_by(*ASKED, "part", maintain_order=True)
        scores = scored.agg(pl.struct("metric", "value").alias("scores"), pl.col("parsed_answer").first())
        reasons = run.read("judgements", **job).group_by(*ASKED, "part", maintain_order=True).agg(reasons=REASONS)
        asked = calls.select(*ASKED, "call_key", "turn", "messages", "messages_sha256", *REPLIED)
        rows = answers.join(items, on="item_id", how="left").join(asked, on=[*ASKED, "call_key"], how="inner")
        for more in (scores, reasons):
            rows = rows.join(more, on=[*ASKED, "part"], how="left")
        raw = run.layers["raw_scores"].filter(**job).drop_nulls("value").select("metric", "value").iter_rows()
        listed = [
            {**row, "messages": read_json(row["messages"]), "scores": row["scores"] or []}
            for row in rows.sort(*ASKED, "part").iter_rows(named=True)
        ]
        yield Samples(**job, rows=listed, scores=dict(raw))


def identify(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what says which call a sample is about and how that ended, in the names of a file of replies."""
    named = ("dataset", "setting", *ASKED, "turn", "option_order", "failure", *REPLIED)
    return {"prompt_sha256": row["messages_sha256"], **{name: row[name] for name in named}}


def count_tokens(calls: Sequence[Mapping[str, Any]]) -> dict[str, int] | None:
    """Return the tokens of an answer's calls; null = there is no call, or the server does not count."""
    sums = [[call[name] for call in calls] for name in ("prompt_tokens", "completion_tokens")]
    if not calls or any(count is None for counts in sums for count in counts):
        return None
    sent, received = map(sum, sums)
    return {"input_tokens": sent, "output_tokens": received, "total_tokens": sent + received}
