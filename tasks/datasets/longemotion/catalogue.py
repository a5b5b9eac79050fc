"""LongEmotion without its classification task: detection, questions, summaries, conversations, expression."""

from schemas.dataset import DatasetSpec, PinnedFile
from schemas.vocabulary import LongTask
from tasks.datasets.adapters.constructed import adapt_nothing
from tasks.datasets.longemotion.emotion_conversation import STAGES, checkpoints_of
from tasks.datasets.longemotion.emotion_detection import build_contrast_sets, read_contrast_sets
from tasks.datasets.longemotion.emotion_expression import read_situations
from tasks.datasets.longemotion.emotion_qa import read_questions
from tasks.datasets.longemotion.emotion_summary import read_reports
from tasks.datasets.pinned_files import pinned_in

longemotion_file = pinned_in("github.com/LongEmotion/LongEmotion", "7149110920c83589e979a0f1615d2661af884594")
_worry_file = pinned_in("github.com/ben-aaron188/covid19worry", "7324d50869578589a47781bc1d26123ca48e27c8")
_emotionbench_file = pinned_in("github.com/CUHK-ARISE/EmotionBench", "48f6e1b01c449c213374172b24e6a461b59cd088")

PAPER = "LongEmotion, arXiv:2509.07403"
LICENCE = "none stated"
"""The repository has no licence file."""

_BY_MD5 = "The file could not be had for this entry: it is checked against the md5 its authors report."

_STAGE_TITLES: dict[LongTask, str] = {
    "mc1": "reception and inquiry",
    "mc2": "diagnosis",
    "mc3": "consultation",
    "mc4": "consolidation and ending",
}


def _conversation(task: LongTask) -> DatasetSpec:
    return DatasetSpec(
        id=f"longemotion_{task}",
        title=f"LongEmotion, emotion conversation: {_STAGE_TITLES[task]}",
        files=(
            longemotion_file(
                "data/Emotion_Conversations.jsonl", "957ca87cdf4bd81899bb05a79f58f690b5fab16e5060241cd492477732d97ffc"
            ),
        ),
        record_format="jsonl",
        adapter=adapt_nothing,
        construct=checkpoints_of(task),
        long_task=task,
        question_types=("counselor_reply",),
        languages=("en",),
        licence=LICENCE,
        paper=f"{PAPER}, section 3.2.3",
        required=("id", "stages"),
        evaluation_version="1.0",
        expected_rows=100,
        differences=(
            "The case description that most dialogues were written from is not shown; the released code leaves it out, too.",
        ),
    )


def _detection(name: str, title: str, path: str, sha256: str, *differences: str) -> DatasetSpec:
    return DatasetSpec(
        id=name,
        title=title,
        files=(longemotion_file(path, sha256),),
        record_format="jsonl",
        adapter=adapt_nothing,
        construct=read_contrast_sets,
        long_task="ed",
        question_types=("odd_one_out",),
        languages=("en",),
        licence=LICENCE,
        paper=f"{PAPER}, section 3.2.1",
        required=("text", "label", "ground_truth"),
        evaluation_version="1.0",
        expected_rows=136,
        differences=(
            "In 113 of 136 sets the odd one is Relaxation, in the others it is Anxiety among Relaxation.",
            *differences,
        ),
    )


_DETECTION = (
    DatasetSpec(
        id="longemotion_ed",
        title="LongEmotion, emotion detection, built anew",
        files=(
            _worry_file(
                "data_phase_1/files_clean/meta/rwwd_full.csv", "8cdb8b79916ba48351f174c5d13a23f204e0024af54e6ea2006e4b8b0fae4fb4"
            ),
        ),
        record_format="csv",
        adapter=adapt_nothing,
        construct=build_contrast_sets,
        long_task="ed",
        question_types=("odd_one_out",),
        languages=("en",),
        licence="GPL-3.0 for the repository; terms for passing its participants' texts on not verified",
        paper=f"{PAPER}, sections 3.1 and 3.2.1; texts: Kleinberg et al. 2020, arXiv:2004.04225",
        required=("chosen_emotion", "text_long"),
        evaluation_version="1.0",
        expected_rows=2491,
        differences=(
            "Built anew from the first phase of the corpus, which has 59 % of the released segments; which texts meet is drawn.",
            "Disgust, with 17 texts, is never the majority; its one published set goes to Anxiety and Relaxation.",
            "The corpus has fewer texts than 136 sets need: they are reused, evenly, and never within a set.",
            "The odd one's rank by length is drawn with equal chances, so that length gives nothing away.",
            "emotion_pairs: balanced has every emotion as the odd one 17 times, and seven as the majority 19 or 20 times.",
        ),
    ),
    _detection(
        "longemotion_ed_released",
        "LongEmotion, emotion detection, released file",
        "data/Emotion_Detection.jsonl",
        "9e9f5ce96450c637bf40f9a05947d5cd872fa68bca15afd569ad3bd5846a3a59",
    ),
    _detection(
        "longemotion_ed_backup",
        "LongEmotion, emotion detection, earlier version of the released file",
        "data/Emotion_Detection_backup.jsonl",
        "52bbff5f85475f0f26c0ea9d93e4479b652c88be4346d40b533548585e98b06a",
        "32 texts in 30 of the sets are longer than in the later file: they keep what was typed to reach 500 characters.",
    ),
)

_QUESTIONS = DatasetSpec(
    id="longemotion_qa",
    title="LongEmotion, emotion QA",
    files=(longemotion_file("data/Emotion_QA.jsonl", None, md5="e7862cad3fd5f279526e7de60a6e85e5"),),
    record_format="jsonl",
    adapter=adapt_nothing,
    construct=read_questions,
    long_task="qa",
    question_types=("extractive",),
    languages=("en",),
    licence=LICENCE,
    paper=f"{PAPER}, section 3.2.2",
    required=("number", "problem", "answer", "context"),
    evaluation_version="1.0",
    differences=("Questions are expert-written: there is no other source than the released file.", _BY_MD5),
)

_REPORT_FIELDS = (
    *("id", "case_description", "consultation_process", "experience_and_reflection", "causes", "symptoms"),
    *("treatment_process", "characteristics_of_illness", "treatment_effect"),
)

_JOINED = "Sections are joined to one text; the released code shows lists as Python prints them in one of its settings."


def _summaries(name: str, title: str, file: PinnedFile, differences: tuple[str, ...], rows: int | None = None) -> DatasetSpec:
    return DatasetSpec(
        id=name,
        title=title,
        files=(file,),
        record_format="jsonl",
        adapter=adapt_nothing,
        construct=read_reports,
        long_task="es",
        question_types=("aspect_summary",),
        languages=("en",),
        licence=LICENCE,
        paper=f"{PAPER}, section 3.2.2",
        required=_REPORT_FIELDS,
        evaluation_version="1.0",
        expected_rows=rows,
        differences=differences,
    )


_SUMMARIES = (
    _summaries(
        "longemotion_es",
        "LongEmotion, emotion summary, original reports",
        longemotion_file("data/Emotion_Summary_origin.jsonl", "4f1e16f5a2fcfbac30ef0c69e0199889666c4bad78d8493486e93d8a4ef925c2"),
        ("The original reports, about a fifth as long as the expanded ones that the paper's models were graded on.", _JOINED),
        rows=150,
    ),
    _summaries(
        "longemotion_es_released",
        "LongEmotion, emotion summary, expanded reports as released",
        longemotion_file("data/Emotion_Summary.jsonl", None, md5="58ee9da4ba955932b3142778cdb9b5d5"),
        (_JOINED, _BY_MD5),
    ),
)

_SITUATIONS_SHA256 = "3b4ef2ea1e5452814064bb480ec89feb83228f151a51ff9472134c3d68152b35"
"""Of EmotionBench's file and of LongEmotion's copy of it, byte for byte."""


def _expression(situations: str, *, copied: bool) -> DatasetSpec:
    pin = longemotion_file if copied else _emotionbench_file
    return DatasetSpec(
        id="longemotion_ee",
        title="LongEmotion, emotion expression",
        files=(
            pin(situations, _SITUATIONS_SHA256),
            longemotion_file(
                "data/Emotion_Expression_Questionnaires.json",
                "f8f1a41a3a8530b6f8d9abfa8caabdcec73c040a45be3308152a9d8304fbb5ea",
                record_format="json",
            ),
        ),
        record_format="json_object",
        adapter=adapt_nothing,
        construct=read_situations,
        long_task="ee",
        question_types=("emotion_expression",),
        languages=("en",),
        licence="situations: GPL-3.0 for the repository of EmotionBench; questionnaire: none stated",
        paper=f"{PAPER}, section 3.2.3; situations: Huang et al. 2023, arXiv:2308.03656",
        required=("key", "value"),
        evaluation_version="1.0",
        expected_rows=2,
        alternative=None if copied else _expression("data/Emotion_Expression_Situations.json", copied=True),
        differences=(
            "Three of the 428 situations occur twice; they stay, as they count in the published means.",
            "The emotion and the factor that a situation is filed under are shown to nobody.",
        ),
    )


LONGEMOTION: tuple[DatasetSpec, ...] = (
    *_DETECTION,
    _QUESTIONS,
    *_SUMMARIES,
    *(_conversation(task) for task in STAGES),
    _expression("situations.json", copied=False),
)
