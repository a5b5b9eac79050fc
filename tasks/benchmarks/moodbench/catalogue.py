"""Datasets of MoodBench: the paper's sixty, and one bundled dataset per task.

To add one: a module with its entry and its adapter, beside those of its family, and a place in the tuple.
"""

from dataclasses import replace

from schemas.dataset import DatasetSpec
from tasks.benchmarks.moodbench.bundled import BUNDLED
from tasks.benchmarks.moodbench.datasets.bias import BBQ, CROWS_PAIRS, STEREOSET
from tasks.benchmarks.moodbench.datasets.commonsense import COSMOS_QA, HELLASWAG, PIQA, TRUTHFULQA
from tasks.benchmarks.moodbench.datasets.companionship import BOOKSORT, LONGMEMEVAL, PERSONAFEEDBACK
from tasks.benchmarks.moodbench.datasets.emotional_situations import (
    EMOBENCH1,
    EMOBENCH2,
    EMOBENCH3,
    MOODBENCH1,
    MOODBENCH2,
    MOODBENCH3,
    MOODBENCH4,
)
from tasks.benchmarks.moodbench.datasets.emotions import CPED, EDOS, GOEMOTIONS, SEMEVAL2018_TASK1
from tasks.benchmarks.moodbench.datasets.exams import AGIEVAL, CEVAL, CMMLU, MMLU_PRO
from tasks.benchmarks.moodbench.datasets.questionnaires import EFFECTIVE_COMMUNICATION, EQ60, INTERPERSONAL_RELATIONSHIP, IRI30
from tasks.benchmarks.moodbench.datasets.reading_comprehension import CMRC2018, MULTIRC, RECORD
from tasks.benchmarks.moodbench.datasets.reasoning import FOLIO, LOGIQA, MUTUAL, WSC
from tasks.benchmarks.moodbench.datasets.safetybench import SAFETYBENCH
from tasks.benchmarks.moodbench.datasets.sentence_pairs import COPA, LCQMC, MNLI, OCNLI, QQP, RTE, WIC
from tasks.benchmarks.moodbench.datasets.summaries import CNEWSUM, LCSTS, VCSUM
from tasks.benchmarks.moodbench.datasets.text_classification import (
    AG_NEWS,
    DIANPING,
    IMDB,
    SEMEVAL2018_TASK3,
    SST2,
    THUCNEWS,
    VUA20,
)

MOODBENCH: tuple[DatasetSpec, ...] = (
    *(CROWS_PAIRS, STEREOSET, BBQ, *SAFETYBENCH),
    *(LCQMC, CMRC2018, WIC, OCNLI, RTE, COPA, HELLASWAG),
    *(AG_NEWS, THUCNEWS, QQP, MULTIRC, RECORD),
    *(MNLI, WSC, MUTUAL, FOLIO, LOGIQA),
    *(LCSTS, CNEWSUM, VCSUM),
    *(COSMOS_QA, PIQA, TRUTHFULQA),
    *(AGIEVAL, MMLU_PRO, CMMLU, CEVAL),
    *(IMDB, SST2, GOEMOTIONS, EMOBENCH1, MOODBENCH3),
    *(DIANPING, MOODBENCH1, CPED, EDOS, MOODBENCH2, EMOBENCH2, SEMEVAL2018_TASK1, SEMEVAL2018_TASK3, VUA20),
    *(EMOBENCH3, MOODBENCH4),
    *(EQ60, IRI30, INTERPERSONAL_RELATIONSHIP, EFFECTIVE_COMMUNICATION),
    *(PERSONAFEEDBACK, BOOKSORT, LONGMEMEVAL),
)

CPED_AGAIN = tuple(replace(CPED, id=f"cped_{use}", differences=CPED.differences[:-1]) for use in ("empathy", "personalization"))
"""The released code weighs this dataset in three places: moodbench-code has it under three names."""

DATASETS = (*MOODBENCH, *BUNDLED, *CPED_AGAIN)
