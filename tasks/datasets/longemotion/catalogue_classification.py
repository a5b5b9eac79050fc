"""LongEmotion's classification task: built anew from its sources, and as released."""

from schemas.dataset import DatasetSpec, PinnedFile
from schemas.vocabulary import LongTask
from tasks.datasets.adapters.constructed import adapt_nothing
from tasks.datasets.longemotion.catalogue import LICENCE, PAPER, longemotion_file
from tasks.datasets.longemotion.emotion_classification import construct_emobench, construct_finentity
from tasks.datasets.longemotion.released_classification import read_released
from tasks.datasets.pinned_files import pinned_in

_emobench_file = pinned_in("github.com/Sahandfer/EmoBench", "3b4f84312541f8469e909965e1fff3691ef85c62")
_finentity_file = pinned_in("github.com/yixuantt/FinEntity", "3b6cedc5485b669c2ed168f1d949f517636eb7b8")
_novel_file = pinned_in("github.com/GITenberg/The-Little-Colonel-s-Hero_15122", "69e1e7ab1c6c998ea3e46e8b55239fe480b657c4")

_EMOBENCH_SHA256 = "60140a7617779bdb496cd50dcebaf33037c39c65821ae300a6a24a72fd7c7037"
_NOVEL = _novel_file("15122.txt", "ce3d826810352aa6d091625e483814efa8c250949c42c0d85daae96ca85d5697", record_format="lines")
"""Annie Fellows Johnston, The Little Colonel's Hero, 1902, as Project Gutenberg has it (63,233 tokens of prose)."""

_NOVEL_LICENCE = "novel: public domain in the USA"

_BOOK = (
    "The haystack is one Gutenberg novel, in place of slices of BookCorpus.",
    "Of the novel's file, licence, front matter, verse and the play of chapter XIII are left out; paragraphs are lines.",
    "A context longer than the novel goes on from the novel's start; Context.haystack records it. No needle occurs twice.",
    "needle_style matched: the needle is laid out as the novel is. As released (as_is), capitals and spacing give it away.",
    "Neither paper nor code says how lengths and depths were chosen: drawn uniformly, or given by context.lengths and .depths.",
)

_RELEASED = (
    "The file could not be had for this entry: it is checked against the md5 its authors report.",
    "Where the needle lies is known only if an EmoBench scenario stands in the text letter for letter, once.",
)


def _released(task: LongTask, title: str, path: str, md5: str) -> DatasetSpec:
    files: tuple[PinnedFile, ...] = (longemotion_file(path, None, md5=md5),)
    if task == "ec_emobench":
        files += (_emobench_file("data/EU.jsonl", _EMOBENCH_SHA256, record_format="jsonl"),)
    return DatasetSpec(
        id=f"longemotion_{task}_released",
        title=title,
        files=files,
        record_format="jsonl",
        adapter=adapt_nothing,
        construct=read_released(task),
        long_task=task,
        question_types=("label_choice",),
        languages=("en",),
        licence=LICENCE,
        paper=f"{PAPER}, section 3.2.1",
        required=("id", "label", "choices"),
        evaluation_version="1.0",
        differences=_RELEASED if task == "ec_emobench" else _RELEASED[:1],
    )


EMOTION_CLASSIFICATION: tuple[DatasetSpec, ...] = (
    DatasetSpec(
        id="longemotion_ec_emobench",
        title="LongEmotion, emotion classification of EmoBench scenarios, built anew",
        files=(_emobench_file("data/EU.jsonl", _EMOBENCH_SHA256), _NOVEL),
        record_format="jsonl",
        adapter=adapt_nothing,
        construct=construct_emobench,
        long_task="ec_emobench",
        question_types=("label_choice",),
        languages=("en",),
        licence=f"EmoBench: MIT; {_NOVEL_LICENCE}",
        paper=f"{PAPER}, sections 3.1 and 3.2.1; scenarios: Sabour et al. 2024, arXiv:2402.12071",
        required=("qid", "language", "coarse_category", "scenario", "subject", "emotion_choices", "emotion_label"),
        evaluation_version="1.0",
        expected_rows=400 + 7296,
        redistributable=True,
        differences=(
            *_BOOK,
            "All 200 English questions, on 140 scenarios; lengths drawn from 10,000 to 30,000 tokens.",
            "A person whose name the novel has too gets a neutral one from a fixed list, in needle, subject and choices.",
            "Subjects without a name (I, my mom, the teacher) are told apart in the question by the passage's first eight words.",
        ),
    ),
    DatasetSpec(
        id="longemotion_ec_finentity",
        title="LongEmotion, emotion classification of FinEntity reports, built anew",
        files=(
            _finentity_file("data/FinEntity.json", "3208667de69383120b0380aebeaabe360669eda72269c33e1c8b09d63df55463"),
            _NOVEL,
        ),
        record_format="json",
        adapter=adapt_nothing,
        construct=construct_finentity,
        long_task="ec_finentity",
        question_types=("label_choice",),
        languages=("en",),
        licence=f"FinEntity: not stated upstream; {_NOVEL_LICENCE}",
        paper=f"{PAPER}, sections 3.1 and 3.2.1; reports: Tang et al. 2023, arXiv:2310.12406",
        required=("content", "annotations"),
        evaluation_version="1.0",
        expected_rows=979 + 7296,
        differences=(
            *_BOOK,
            "200 of the 979 reports, 67 positive, 67 neutral and 66 negative, one entity of each; the paper does not say which.",
            "Left out: reports with an entity of two tones, repeated or unreadable ones, fragments, lists and bylines.",
            "Entities that the novel mentions are left out. Lengths are drawn from 20,000 to 80,000 tokens.",
            "needle_style matched: wire codes such as <ACME.N> are taken out of the reports.",
        ),
    ),
    _released(
        "ec_emobench",
        "LongEmotion, emotion classification of EmoBench scenarios, released file",
        "data/Emotion_Classification_Emobench.jsonl",
        "f4a57874680c07ce32a15202b4d6ec51",
    ),
    _released(
        "ec_finentity",
        "LongEmotion, emotion classification of FinEntity reports, released file",
        "data/Emotion_Classification_Finentity.jsonl",
        "4679bb7ab038f9cf30d6c3fd8c235038",
    ),
)
