"""The page about the lake: its queries are executed over a lake of two runs and give what is worked out here by hand."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.blueprint import BlueprintDataset, MethodSpec, MetricSpec
from schemas.lineage import CodeVersion, PartitionRef
from schemas.tables.layers import AGGREGATED, LAYERS
from tasks.lake.lake import Lake
from tasks.lake.manifest import write_manifest
from tasks.lake.partitions import partition_key
from tasks.runs.join_tables import write_join_tables
from tasks.scoring.benchmark import ScoreSettings, score_benchmark
from tests.docs.pages import ROOT, blocks
from tests.flows.command import ended
from tests.tasks.lake.test_manifest import bare_manifest
from tests.tasks.rows import answer, answers, item, items, judgement, judgements
from tests.tasks.scoring import samples

PAGE = ROOT / "docs" / "read-the-lake.md"
DATASETS = {
    "calm": BlueprintDataset(title="Calm", methods=(MethodSpec(id="choice", metrics=(MetricSpec(metric="accuracy"),)),)),
    "kind": BlueprintDataset(
        title="Kindness",
        methods=(MethodSpec(id="judge", metrics=(MetricSpec(metric="judged_rating"),), judged=True, rubric="summary"),),
    ),
}
DESIGN = samples.blueprint(samples.ability("mind", samples.task("calm"), samples.task("kind")), datasets=DATASETS)
STATUS = {"core-1": ["scored", "unparsed"], "core-2": ["scored", "call_failed"]}
VALUES: dict[str, dict[str, list[float | None]]] = {
    "core-1": {"calm": [1.0, 0.0], "kind": [0.5, 0.25]},
    "core-2": {"calm": [1.0, None], "kind": [0.75, 1.0]},
}
RATINGS = {"core-1": (3, 2), "core-2": (4, 5)}


def layers_of(dataset: str, model: str) -> dict[str, pl.DataFrame]:
    """Answers of a model to both items of a dataset, and their scores."""
    about = {"dataset": dataset, "model": model}
    texts = ("ice", None if model == "core-2" else "hm?") if dataset == "calm" else ("There, there.", "Well.")
    layers: dict[str, pl.DataFrame] = {
        "answers": answers(*(answer(f"{dataset}-{n}", text, **about) for n, text in enumerate(texts)))
    }
    if dataset == "calm":
        scores = samples.items(dataset, VALUES[model][dataset], model, status=STATUS[model])
    else:
        scores = samples.items(dataset, VALUES[model][dataset], model, method="judge", metric="judged_rating")
        rated = (judgement(f"{dataset}-{n}", "fluency", rating, **about) for n, rating in enumerate(RATINGS[model]))
        layers["judgements"] = judgements(*rated)
    return {**layers, "item_scores": scores}


def keep_run(folder: Path, run: str, models: list[str]) -> None:
    """A run of these models; what another run has already is not written again."""
    lake, refs = Lake(folder, CodeVersion("1", None)), list[PartitionRef]()

    def keep(layer: str, rows: pl.DataFrame, **place: str) -> None:
        settings = {"models": models} if "benchmark" in place else {}
        refs.append(lake.write(partition_key(layer, place, settings, [], "1"), rows, LAYERS[layer].schema))

    for dataset in DATASETS:
        asked = (
            item(f"{dataset}-{n}", "single_choice", dataset=dataset, options=["ice", "tea"], gold_indices=[0]) for n in (0, 1)
        )
        keep("items", items(*asked), dataset=dataset)
        for model in models:
            for layer, rows in layers_of(dataset, model).items():
                keep(layer, rows, dataset=dataset, model=model, setting="base")
    item_scores = pl.concat(layers_of(dataset, model)["item_scores"] for dataset in DATASETS for model in models)
    scored = score_benchmark(item_scores.lazy(), DESIGN, ScoreSettings())
    for layer in AGGREGATED:
        keep(layer, scored.layer(layer), benchmark=DESIGN.name)
    manifest = bare_manifest(
        run, partitions=tuple(refs), blueprint=DESIGN.model_dump(mode="json"), started_at=f"2026-01-0{len(models)}"
    )
    write_join_tables(folder, manifest, DESIGN)
    write_manifest(folder, manifest)


def queries(library: str) -> dict[str, str]:
    """The blocks of a library by the heading above them; those of a heading are one."""
    heading, of_library = "", dict[str, str]()
    text = PAGE.read_text(encoding="utf-8")
    for part in text.split("\n## ")[1:]:
        heading = part.partition("\n")[0]
        of_library[heading] = "\n".join(block.body for block in blocks(PAGE) if block.word == library and block.body in part)
    return {name: body for name, body in of_library.items() if body}


def rows_of(found: Any) -> list[tuple[Any, ...]]:
    if isinstance(found, pl.DataFrame):
        return found.rows()
    return found.fetchall() if hasattr(found, "fetchall") else [*found.itertuples(index=False, name=None)]


EXPECTED: dict[str, list[tuple[Any, ...]]] = {
    # The mean of both tasks: (100 + 87.5) / 2 and (50 + 37.5) / 2; what failed is left out of the first.
    "Totals of the last run": [("core-2", "base", 93.75), ("core-1", "base", 43.75)],
    "Weakest tasks": [("core-1", "kind", 37.5), ("core-1", "calm", 50.0), ("core-2", "kind", 87.5)],
    "Ratings by judge": [("core-1", "j", "fluency", 2.5), ("core-2", "j", "fluency", 4.5)],
    "Failing replies of a dataset": [("core-1", "calm-1", "hm?", "ice")],
    "Two checkpoints side by side": [("calm", 0.5, 1.0), ("kind", 0.375, 0.875)],
    "Unread replies": [("core-1", "Calm", "calm-1", "hm?")],
}


@pytest.mark.parametrize("library", ["polars", "duckdb", "pandas"])
def test_queries_give_what_the_page_promises(library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # The second run has all of the first and more, so that a reader of every file counts twice.
    keep_run(tmp_path / "parquet", "20260101T000000000000Z.1-a", ["core-1"])
    keep_run(tmp_path / "parquet", "20260102T000000000000Z.2-b", ["core-1", "core-2"])
    assert ended("export", "20260102T000000000000Z.2-b", "--to", "results.parquet").status == 0
    names: dict[str, Any] = {}
    answered = {}
    for heading, body in queries(library).items():
        exec(body, names)  # noqa: S102  the page's own
        if heading in EXPECTED:
            answered[heading] = rows_of(names["answer"])
    assert answered == EXPECTED
