"""Datasets of memory and personalisation."""

from dataclasses import replace

from schemas.dataset import DatasetSpec
from tasks.datasets.entries.moodbench_release import REPOSITORY, REVISION, moodbench_file
from tasks.datasets.moodbench.booksort import adapt_booksort
from tasks.datasets.moodbench.longmemeval import adapt_longmemeval
from tasks.datasets.moodbench.personafeedback import KINDS, adapt_personafeedback, join_personas
from tasks.datasets.pinned_files import pinned_in

_personas = pinned_in("huggingface.co/PersonalAILab/PersonaFeedback", "785d590")
_longmemeval = pinned_in("huggingface.co/xiaowu0162/longmemeval", "d8673c8819c3e42833f9b1849300ab94c12bbb6a")
_moodbench = pinned_in(REPOSITORY, REVISION)
_USERS = range(1, 201)
_REVISION_ONLY = "Pinned by revision only: the files could not be had for this entry; layout as public readers of them have it."

_LONGMEMEVAL = DatasetSpec(
    id="longmemeval",
    title="LongMemEval, evidence sessions only",
    files=(_longmemeval("longmemeval_oracle", None),),
    record_format="json",
    adapter=adapt_longmemeval,
    question_types=("open_ended",),
    languages=("en",),
    licence="MIT",
    paper="Wu et al. 2025, arXiv:2410.10813",
    required=(
        *("question_id", "question_type", "question", "answer", "question_date"),
        *("haystack_dates", "haystack_sessions"),
    ),
    evaluation_version="1.0",
    expected_rows=500,
    redistributable=True,
    differences=(
        _REVISION_ONLY,
        "As in the released code, only the evidence sessions are shown, so that no long history is searched.",
        "The date of the question is shown, which temporal questions need; the released code does not show it.",
        "Sessions are shown in the order of their dates; the file does not keep it.",
        "The paper names Recall@K, a measure of retrieval; the released code computes recall of the words of the reference.",
        "LongMemEval has a model judge each reply.",
        "The reference is a rubric for preferences, and an explanation for the 30 questions without an answer.",
    ),
)

COMPANIONSHIP: tuple[DatasetSpec, ...] = (
    DatasetSpec(
        id="personafeedback",
        title="PersonaFeedback",
        files=(
            *(_personas(f"data/{kind}/{difficulty}.jsonl", None) for kind in KINDS for difficulty in ("easy", "medium", "hard")),
            *(_personas(f"persona/{user}.json", None, record_format="json_object") for user in _USERS),
        ),
        record_format="jsonl",
        gather=join_personas,
        adapter=adapt_personafeedback,
        question_types=("single_choice",),
        languages=("en",),
        licence="Apache-2.0",
        paper="Tao et al. 2025, arXiv:2506.12915",
        required=("user_id", "question", "chosen", "reject"),
        evaluation_version="1.0",
        redistributable=True,
        differences=(
            _REVISION_ONLY,
            "200 users are expected, from the number of uploaded files; a user without a persona is an error.",
            "The sample is drawn from all questions of the six files; the released code draws 100 of each file.",
            "The folder of the specific questions is spelt spedific upstream, where the released code does not find it.",
            "The model chooses as an onlooker; the released prompt has it play the user.",
            "The paper calls the evaluation model-based; as in the released code, one of two replies is chosen without a judge.",
        ),
    ),
    DatasetSpec(
        id="booksort",
        title="Book-SORT",
        files=(
            moodbench_file(
                "company_ability/memory/booksort/data/test_e1000_s50.parquet",
                "8a59d729f1829e31875052df4aa93f9aeb0401583919496242c171ae48d0b9a4",
            ),
        ),
        record_format="parquet",
        adapter=adapt_booksort,
        question_types=("single_choice",),
        languages=("en",),
        licence="CC0-1.0",
        paper="Pink et al. 2024, Assessing Episodic Memory in LLMs with Sequence Order Recall Tasks, arXiv:2410.08133",
        required=("excerpt_text", "segment_1", "segment_2", "present_seg1_first", "distance_bin"),
        evaluation_version="1.0",
        expected_rows=300,
        redistributable=True,
        differences=(
            "The flag says which segment to show first, as upstream; the released code always shows the earlier one first.",
            "The released code takes that flag for the answer, which is wrong in 151 of 300 rows.",
            "The asterisks at the ends of excerpts and segments are not shown.",
            "Level medium as in the paper; the released weights have it at low, as a sub-ability of its own.",
        ),
    ),
    replace(
        _LONGMEMEVAL,
        alternative=replace(
            _LONGMEMEVAL,
            files=(_moodbench("data/company_ability/memory/longmemeval/longmemeval_oracle.json", None),),
        ),
    ),
)
