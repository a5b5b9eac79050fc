"""The judging step on a lake of its own: what it announces, writes, and finds done."""

from pathlib import Path

from schemas.lineage import CodeVersion
from schemas.tables.items import Items
from schemas.tables.responses import Answers, Judgements
from tasks.judging.jobs import GoldJob, JudgeJob
from tasks.judging.rubrics import load_rubric
from tasks.judging.steps import judge_partition, write_gold
from tasks.lake.lake import Lake
from tasks.lake.partitions import partition_key
from tasks.models.http.worker_pool import WorkerPool
from tests.tasks.judging.test_executor import GOOD, JUDGE, Scripted, answers, items
from tests.tasks.solvers.asking import Replies

PLACE = {"dataset": "own", "model": "m", "setting": "base"}


async def test_a_failed_rating_leaves_the_partition_incomplete(tmp_path: Path) -> None:
    lake, listener = Lake(tmp_path, CodeVersion("1", None)), Replies()
    asked = lake.write(partition_key("items", {"dataset": "own"}, {}, [], "1"), items("a", "b", "c", "d"), Items)
    said = answers(("a", "One."), ("b", "Two."), ("c", "Three."), ("d", None))
    given = lake.write(partition_key("answers", PLACE, {}, [], "1"), said, Answers)
    key = partition_key("judgements", PLACE | {"judge": JUDGE.name, "rubric": "summary"}, {}, [], "1")
    job = JudgeJob(load_rubric("summary"), JUDGE, asked, given, key, repetitions=2)
    async with WorkerPool(1) as pool:
        ref = await judge_partition.fn(job, lake, Scripted(GOOD, None), pool.do_all, listener)
        # Three answers, twice each; a rating that failed is asked again, one that came is kept.
        assert (job.title, listener.expected, ref.complete) == ("own/m/base by judge-model", 6, False)
        assert lake.read(ref, Judgements)["parse_status"].value_counts(sort=True).rows() == [("failed", 20), ("parsed", 4)]
        whole = await judge_partition.fn(job, lake, Scripted(GOOD), pool.do_all, Replies())
        again = await judge_partition.fn(job, lake, Scripted(None), pool.do_all, Replies())
    assert whole.complete
    assert (again.name, again.data) == ("UpToDate", whole)


async def test_gold_replies_are_written_once(tmp_path: Path) -> None:
    lake = Lake(tmp_path, CodeVersion("1", None))
    job = GoldJob(lake.write(partition_key("items", {"dataset": "own"}, {}, [], "1"), items("a"), Items))
    ref = await write_gold.fn(job, lake)
    assert lake.read(ref, Answers).select("model", "setting", "text").rows() == [("gold", "gold", "x")]
    assert (await write_gold.fn(job, lake)).name == "UpToDate"
