"""What the steps of judging are given: answers to rate, items whose gold replies are written."""

from dataclasses import dataclass

from schemas.chat import ModelEntry
from schemas.lineage import PartitionKey, PartitionRef
from tasks.judging.answers import GOLD
from tasks.judging.rubrics import Rubric
from tasks.lake.partitions import partition_key
from tasks.solvers.infer_job import ANSWERS_VERSION


@dataclass(frozen=True)
class JudgeJob:
    """One partition of answers to rate, each `repetitions` times."""

    rubric: Rubric
    judge: ModelEntry
    items: PartitionRef
    answers: PartitionRef
    key: PartitionKey
    repetitions: int = 1

    @property
    def title(self) -> str:
        """Return what is rated, and by whom."""
        return "/".join(self.answers.key(name) for name in ("dataset", "model", "setting")) + f" by {self.judge.name}"


@dataclass(frozen=True)
class GoldJob:
    """Gold replies of one partition of items."""

    items: PartitionRef

    @property
    def key(self) -> PartitionKey:
        """Key of the replies, as answers."""
        keys = {"dataset": self.items.key("dataset"), "model": GOLD, "setting": GOLD}
        return partition_key("answers", keys, {}, [self.items.identity], ANSWERS_VERSION)
