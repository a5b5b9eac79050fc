"""Datasets of LongEmotion: its six tasks, and a bundled one per task."""

from schemas.dataset import DatasetSpec
from tasks.benchmarks.longemotion.datasets.bundled import LONG_MINI
from tasks.benchmarks.longemotion.datasets.emotion_classification import EC_EMOBENCH, EC_FINENTITY
from tasks.benchmarks.longemotion.datasets.emotion_conversation import EMOTION_CONVERSATION
from tasks.benchmarks.longemotion.datasets.emotion_detection import ED, ED_BACKUP, ED_RELEASED
from tasks.benchmarks.longemotion.datasets.emotion_expression import EE
from tasks.benchmarks.longemotion.datasets.released_classification import EC_EMOBENCH_RELEASED, EC_FINENTITY_RELEASED
from tasks.benchmarks.longemotion.datasets.whole_documents import ES, ES_RELEASED, QA

LONGEMOTION: tuple[DatasetSpec, ...] = (
    *(EC_EMOBENCH, EC_FINENTITY, EC_EMOBENCH_RELEASED, EC_FINENTITY_RELEASED),
    *(ED, ED_RELEASED, ED_BACKUP, QA, ES, ES_RELEASED, *EMOTION_CONVERSATION, EE),
)
"""The six tasks: built again where they can be, and as released."""

DATASETS = (*LONGEMOTION, *LONG_MINI)
