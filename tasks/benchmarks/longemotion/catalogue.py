"""Datasets of LongEmotion: its six tasks, and a bundled one per task."""

from schemas.dataset import DatasetSpec
from tasks.datasets.longemotion.bundled import LONG_MINI
from tasks.datasets.longemotion.emotion_classification import EC_EMOBENCH, EC_FINENTITY
from tasks.datasets.longemotion.emotion_conversation import EMOTION_CONVERSATION
from tasks.datasets.longemotion.emotion_detection import ED, ED_BACKUP, ED_RELEASED
from tasks.datasets.longemotion.emotion_expression import EE
from tasks.datasets.longemotion.emotion_qa import QA
from tasks.datasets.longemotion.emotion_summary import ES, ES_RELEASED
from tasks.datasets.longemotion.released_classification import EC_EMOBENCH_RELEASED, EC_FINENTITY_RELEASED

LONGEMOTION: tuple[DatasetSpec, ...] = (
    *(EC_EMOBENCH, EC_FINENTITY, EC_EMOBENCH_RELEASED, EC_FINENTITY_RELEASED),
    *(ED, ED_RELEASED, ED_BACKUP, QA, ES, ES_RELEASED, *EMOTION_CONVERSATION, EE),
)
"""The six tasks: built anew where they can be, and as released."""

DATASETS = (*LONGEMOTION, *LONG_MINI)
