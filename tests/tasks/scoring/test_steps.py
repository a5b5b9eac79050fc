"""The aggregating step: written once, and said to be up to date from then on."""

from pathlib import Path

from schemas.lineage import CodeVersion, PartitionKey
from schemas.tables.layers import AGGREGATED
from schemas.tables.scores import ItemScores
from tasks.lake.lake import Lake
from tasks.scoring.benchmark import ScoreSettings
from tasks.scoring.jobs import AggregateJob
from tasks.scoring.steps import aggregate
from tests.tasks.scoring.samples import ability, blueprint, items, task


async def test_complete_layers_are_up_to_date(tmp_path: Path) -> None:
    lake = Lake(tmp_path, CodeVersion("0.0.test", None))
    place = (("dataset", "d"), ("model", "m"), ("setting", "base"))
    scores = lake.write(PartitionKey(layer="item_scores", place=place, fingerprint="1" * 64), items("d", [1, 0]), ItemScores)
    job = AggregateJob(blueprint(ability("able", task("d"))), ScoreSettings(), (scores,))
    written = await aggregate.fn(job, lake)
    assert [ref.layer for ref in written] == list(AGGREGATED)
    again = await aggregate.fn(job, lake)
    assert (again.name, again.data) == ("UpToDate", written)
    # One that is gone is written again, to the same content.
    lake.path(written[0]).unlink()
    assert await aggregate.fn(job, lake) == written
