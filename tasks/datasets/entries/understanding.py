"""Datasets of natural language understanding."""

from dataclasses import replace

from schemas.dataset import DatasetSpec
from tasks.datasets.adapters.multirc import adapt_multirc
from tasks.datasets.adapters.questions import adapt_qqp
from tasks.datasets.entries.moodbench_release import moodbench_file
from tasks.datasets.moodbench.news_topics import adapt_ag_news, adapt_thucnews
from tasks.datasets.moodbench.reading_comprehension import adapt_record
from tasks.datasets.pinned_files import pinned_in

_superglue = pinned_in("huggingface.co/aps/super_glue", "3de24cf8022e94f4ee4b9d55a6f539891524d646")

_JUDGED_ONE_BY_ONE = (
    "Each proposed answer is an item, judged by itself as in SuperGLUE; the released code asks for the right ones' letters.",
    "Metrics: F1 of the answer yes (SuperGLUE's F1a) and accuracy; exact match per question can be had from the subsets.",
    "What the released code takes for right is a set of letters per question and is not reproduced per item.",
)

_MULTIRC = DatasetSpec(
    id="multirc",
    title="MultiRC",
    files=(
        _superglue(
            "multirc/validation-00000-of-00001.parquet",
            "5eb64893afc5af7828b2f3b41d6a4574eb7a82cbb17c86c75842f5f95f679ada",
        ),
    ),
    record_format="parquet",
    adapter=adapt_multirc,
    question_types=("single_choice",),
    languages=("en",),
    licence="research licence of the authors (as known upstream, not verified)",
    paper="Khashabi et al. 2018, Looking Beyond the Surface, NAACL 2018; SuperGLUE, arXiv:1905.00537",
    required=("paragraph", "question", "answer", "idx", "label"),
    evaluation_version="1.0",
    expected_rows=4848,
    redistributable=False,
    differences=(
        "The whole validation set of SuperGLUE; the release has 300 rows of it.",
        "Revision, hash and number of rows are as other public projects state them; the file itself was not at hand.",
        *_JUDGED_ONE_BY_ONE,
    ),
)

UNDERSTANDING: tuple[DatasetSpec, ...] = (
    DatasetSpec(
        id="ag_news",
        title="AG News",
        files=(
            moodbench_file(
                "basic_ability/NLU/ag_news_csv/test.csv",
                "d473e9f6edd2452267fcd94d7abd176811614369cc32ef87783dd32a7c87d310",
            ),
        ),
        record_format="csv",
        columns=("class", "title", "description"),
        adapter=adapt_ag_news,
        question_types=("single_choice",),
        languages=("en",),
        licence="research and non-commercial use (as known upstream, not verified)",
        paper="Zhang et al. 2015, Character-level Convolutional Networks for Text Classification, arXiv:1509.01626",
        required=("class", "title", "description"),
        evaluation_version="1.0",
        expected_rows=301,
        redistributable=False,
        differences=(
            "Backslashes are cleaned: they stand for line breaks or escape a dollar sign. The released code leaves them.",
            "HTML tags and character references stay in the text as released.",
        ),
    ),
    DatasetSpec(
        id="thucnews",
        title="THUCNews",
        files=(
            moodbench_file(
                "basic_ability/NLU/THUCNewsText/data/test-00000-of-00001-7b7f37b8f3ca85f8.parquet",
                "e349de79c32a4a1e052fe79fa45b599760bde401622415b6b0c43679d15e362d",
            ),
        ),
        record_format="parquet",
        adapter=adapt_thucnews,
        question_types=("single_choice",),
        languages=("zh",),
        licence="research use, terms of THUCTC (as known upstream, not verified)",
        paper="Sun et al. 2016, THUCTC: An Efficient Chinese Text Classifier",
        required=("text", "label"),
        evaluation_version="1.0",
        expected_rows=300,
        redistributable=False,
        differences=("Topics have their Chinese names; the released code offers English ones for Chinese texts.",),
    ),
    DatasetSpec(
        id="qqp",
        title="QQP",
        files=(
            moodbench_file(
                "basic_ability/NLU/QQP_tsv/dev.tsv",
                "23e88ed315760d8b97ae19446bdcdfd66d20249d9fde1d1247f30f3976cc33d2",
            ),
        ),
        record_format="tsv_plain",
        adapter=adapt_qqp,
        question_types=("single_choice",),
        languages=("en",),
        licence="terms of Quora, non-commercial (as known upstream, not verified)",
        paper="Iyer et al. 2017, First Quora Dataset Release: Question Pairs; GLUE, arXiv:1804.07461",
        required=("question1", "question2", "is_duplicate"),
        evaluation_version="1.0",
        expected_rows=300,
        redistributable=False,
        differences=("The first line is the header; the released code takes it for a pair and as a rule stops there.",),
    ),
    replace(
        _MULTIRC,
        alternative=replace(
            _MULTIRC,
            files=(
                moodbench_file(
                    "basic_ability/NLU/multirc_parquet/validation-00000-of-00001.parquet",
                    "33d6367c1428f72862071566b796da18c601b78de80cf6ed16b6832a95722612",
                ),
            ),
            expected_rows=300,
            differences=(
                "300 proposed answers to 258 questions of SuperGLUE's validation set: answers were sampled, not questions.",
                "136 questions have no right answer left, which caps the released score at 65.5 %; one by one nothing is lost.",
                *_JUDGED_ONE_BY_ONE,
            ),
        ),
    ),
    DatasetSpec(
        id="record",
        title="ReCoRD",
        files=(
            moodbench_file(
                "basic_ability/NLU/record_parquet/validation-00000-of-00001.parquet",
                "3279b5755fe9a070941f83476e0739e597aa01a359c43c27c6562cff0f0322ad",
            ),
        ),
        record_format="parquet",
        adapter=adapt_record,
        question_types=("extractive",),
        languages=("en",),
        licence="Apache-2.0 for the annotations, terms of CNN and Daily Mail for the texts (as known upstream, not verified)",
        paper="Zhang et al. 2018, arXiv:1810.12885; SuperGLUE, arXiv:1905.00537",
        required=("passage", "query", "entities", "answers"),
        evaluation_version="1.0",
        expected_rows=300,
        redistributable=False,
        differences=(
            "One entity is to be named, and any form of it will do, as upstream: best token F1 and exact match over the forms.",
            "The released code wants the letters of all forms of the right entity; 132 items have several.",
            "Entities that are equal but for white space (four items) are listed once.",
            "What the released code takes for right is a set of letters and is not reproduced.",
        ),
    ),
)
