"""Every dataset MoodFlow knows, by name.

To add one: a module with its entry and its adapter, beside those of its family, and a place in the tuple.
"""

from schemas.dataset import DatasetSpec
from schemas.errors import UsageError, suggest
from schemas.installed import installed
from tasks.datasets.attunebench.conversations import ATTUNEBENCH, ATTUNEBENCH_MINI
from tasks.datasets.bundled import BUNDLED
from tasks.datasets.esc_eval import ESC_EVAL, ESC_EVAL_MINI
from tasks.datasets.longemotion.bundled import LONG_MINI
from tasks.datasets.longemotion.emotion_classification import EC_EMOBENCH, EC_FINENTITY
from tasks.datasets.longemotion.emotion_conversation import EMOTION_CONVERSATION
from tasks.datasets.longemotion.emotion_detection import ED, ED_BACKUP, ED_RELEASED
from tasks.datasets.longemotion.emotion_expression import EE
from tasks.datasets.longemotion.emotion_qa import QA
from tasks.datasets.longemotion.emotion_summary import ES, ES_RELEASED
from tasks.datasets.longemotion.released_classification import EC_EMOBENCH_RELEASED, EC_FINENTITY_RELEASED
from tasks.datasets.moodbench.bias import BBQ, CROWS_PAIRS, STEREOSET
from tasks.datasets.moodbench.commonsense import COSMOS_QA, HELLASWAG, PIQA, TRUTHFULQA
from tasks.datasets.moodbench.companionship import BOOKSORT, LONGMEMEVAL, PERSONAFEEDBACK
from tasks.datasets.moodbench.emobench import EMOBENCH1, EMOBENCH2, EMOBENCH3
from tasks.datasets.moodbench.emotions import CPED, EDOS, GOEMOTIONS, SEMEVAL2018_TASK1
from tasks.datasets.moodbench.exams import AGIEVAL, CEVAL, CMMLU, MMLU_PRO
from tasks.datasets.moodbench.irony_and_metaphor import SEMEVAL2018_TASK3, VUA20
from tasks.datasets.moodbench.moodbench_sets import MOODBENCH1, MOODBENCH2, MOODBENCH3, MOODBENCH4
from tasks.datasets.moodbench.questionnaires import EFFECTIVE_COMMUNICATION, EQ60, INTERPERSONAL_RELATIONSHIP, IRI30
from tasks.datasets.moodbench.reading_comprehension import CMRC2018, MULTIRC, RECORD
from tasks.datasets.moodbench.reasoning import FOLIO, LOGIQA, MUTUAL, WSC
from tasks.datasets.moodbench.safetybench import SAFETYBENCH
from tasks.datasets.moodbench.sentence_pairs import COPA, LCQMC, MNLI, OCNLI, QQP, RTE, WIC
from tasks.datasets.moodbench.summaries import CNEWSUM, LCSTS, VCSUM
from tasks.datasets.moodbench.text_classification import AG_NEWS, DIANPING, IMDB, SST2, THUCNEWS

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
"""The sixty datasets of MoodBench."""

LONGEMOTION: tuple[DatasetSpec, ...] = (
    *(EC_EMOBENCH, EC_FINENTITY, EC_EMOBENCH_RELEASED, EC_FINENTITY_RELEASED),
    *(ED, ED_RELEASED, ED_BACKUP, QA, ES, ES_RELEASED, *EMOTION_CONVERSATION, EE),
)
"""The six tasks of LongEmotion: built anew where they can be, and as released."""

CATALOGUE: tuple[DatasetSpec, ...] = (
    *(*MOODBENCH, *BUNDLED, *LONGEMOTION, *LONG_MINI, *ESC_EVAL, *ESC_EVAL_MINI),
    *(ATTUNEBENCH, ATTUNEBENCH_MINI),
    *installed("datasets", DatasetSpec),
)


def find_dataset(name: str) -> DatasetSpec:
    """Return the catalogue entry of this name; raise UsageError, with the nearest names, if there is none."""
    entries = {spec.id: spec for spec in CATALOGUE}
    if name in entries:
        return entries[name]
    step = suggest(name, entries, "moodflow datasets list shows them all", most=3)
    what, expected = f"there is no dataset {name} in the catalogue", f"one of {len(entries)} names"
    raise UsageError(what, expected=expected, got=name, next_step=step)
