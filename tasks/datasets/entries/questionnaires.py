"""Datasets of comprehensive emotional intelligence."""

from schemas.dataset import DatasetSpec
from tasks.datasets.entries.moodbench_release import moodbench_file
from tasks.datasets.moodbench.questionnaires import adapt_empathy_quotient, adapt_questionnaire

_FOLDER = "values/mental_health/liangbiao/data/meq"
_REQUIRED = ("Question", "Choices", "Score")
_UNREADABLE = "The released code gives a failed call the lowest points of its item; here it is a missing value."

QUESTIONNAIRES: tuple[DatasetSpec, ...] = (
    DatasetSpec(
        id="eq60",
        title="Empathy Quotient, 60 items",
        files=(
            moodbench_file(
                f"{_FOLDER}/EQ-60共情商量表-中文.json", "59fb57808857fda2037e27c5468453c04ab7509064e5d6cfe56a8f0a2fba2cac"
            ),
        ),
        record_format="json",
        adapter=adapt_empathy_quotient,
        question_types=("questionnaire",),
        languages=("zh",),
        licence="Autism Research Centre, research use (as known upstream, not verified); translation of unknown origin",
        paper="Baron-Cohen and Wheelwright 2004, The Empathy Quotient, Journal of Autism and Developmental Disorders 34",
        required=_REQUIRED,
        evaluation_version="1.0",
        expected_rows=60,
        redistributable=False,
        differences=(
            "Scored by the published key: 21 items for agreement, 19 for disagreement, 20 fillers that do not count.",
            "The file scores all 60 upwards with agreement: complete agreement gets 100 % by it and 52.5 % by the published key.",
            "The instrument has four levels, worth 0, 0, 1 and 2 points; the file's fifth, neutral, is worth 0 here.",
            "Level low as in the paper; the released weights have it at high.",
            _UNREADABLE,
        ),
    ),
    DatasetSpec(
        id="iri30",
        title="Emotional intelligence, 30 items (IRI30)",
        files=(
            moodbench_file(f"{_FOLDER}/IRI30项情商问卷.json", "61e0e7344a16bb35319ae75242221cb1a38c87acf24a028f9c47287632e2fa95"),
        ),
        record_format="json",
        adapter=adapt_questionnaire,
        question_types=("questionnaire",),
        languages=("zh",),
        licence="not stated",
        paper="none known",
        required=_REQUIRED,
        evaluation_version="1.0",
        expected_rows=30,
        redistributable=False,
        differences=(
            "The file bears the name of the Interpersonal Reactivity Index, whose statements are others; no key is published.",
            "All 30 statements affirm that the speaker recognises, regulates or uses emotions: none is scored in reverse.",
            "Complete agreement with everything gets 100 %.",
            "Level low as in the paper; the released weights have it at high.",
            _UNREADABLE,
        ),
    ),
    DatasetSpec(
        id="interpersonal_relationship",
        title="Interpersonal relationship test",
        files=(
            moodbench_file(
                f"{_FOLDER}/人际关系测试16道.json", "342537a86e0a5757da0223f6dd3b2135449fd841ec493b0012aa1c2da91b4549"
            ),
        ),
        record_format="json",
        adapter=adapt_questionnaire,
        question_types=("questionnaire",),
        languages=("zh",),
        licence="not stated",
        paper="none known: a popular test of 16 items",
        required=_REQUIRED,
        evaluation_version="1.0",
        expected_rows=16,
        redistributable=False,
        differences=(_UNREADABLE,),
    ),
    DatasetSpec(
        id="effective_communication",
        title="Effective communication test",
        files=(
            moodbench_file(f"{_FOLDER}/有效沟通测试.json", "6a367097a7271212723c5497d2a9caa72b21c38916f0f0385e7d46df2c106644"),
        ),
        record_format="json",
        adapter=adapt_questionnaire,
        question_types=("questionnaire",),
        languages=("zh",),
        licence="not stated",
        paper="none known: a popular test of 15 items",
        required=_REQUIRED,
        evaluation_version="1.0",
        expected_rows=15,
        redistributable=False,
        differences=(
            "Scored as the file does, upwards with frequency in all items; no published key is known.",
            "Whether often is better is arguable for items 14 (changing the subject) and 15 (avoiding demands on the telephone).",
            "The most frequent answer in every item gets 100 %.",
            "Level high as in the paper; the released weights have it at low.",
            _UNREADABLE,
        ),
    ),
)
