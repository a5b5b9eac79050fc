"""Datasets of texts to be summed up: news messages, news articles, meetings."""

from schemas.dataset import DatasetSpec
from tasks.datasets.entries.moodbench_release import moodbench_file
from tasks.datasets.moodbench.summaries import adapt_cnewsum, adapt_lcsts, adapt_vcsum, join_meetings, join_segments
from tasks.datasets.pinned_files import pinned_in

LONG_TEST_SHA256 = "ee564707cf7c487e51973027971490fa0471cfad9e6325d85c61c91b32c40ccd"
JUDGED = "A judge rates the summary, as in the paper; the released code takes ROUGE-1 F1."
VCSUM_PAPER = "Wu et al. 2023, arXiv:2305.05280"
VCSUM_SPEAKERS = "Turns are shown with their speakers; the released code prints a list of sentences, without speakers."

_vcsum_file = pinned_in("github.com/hahahawu/VCSum", "8e51d72e4e6f3af4074fd5b260b6f6d2e75e86c7")

_VCSUM_COPY = DatasetSpec(
    id="vcsum",
    title="VCSum",
    files=(
        moodbench_file("basic_ability/NLG/vcsum_txt/long_test.txt", LONG_TEST_SHA256),
        moodbench_file(
            "basic_ability/NLG/vcsum_txt/tmp/short_test.txt",
            "777643695a458b046366c24d7c540a1ff8eb7eb1496121785ccdb2678893bfe8",
            record_format="jsonl",
        ),
    ),
    record_format="jsonl",
    adapter=adapt_vcsum,
    gather=join_segments,
    question_types=("judged_summary",),
    languages=("zh",),
    licence="MIT",
    paper=VCSUM_PAPER,
    required=("id", "eos_index", "summary"),
    evaluation_version="1.0",
    expected_rows=162,
    redistributable=True,
    differences=(
        JUDGED,
        VCSUM_SPEAKERS,
        "The meetings are put together from the segments of the short split, which give the turns of the long one exactly.",
    ),
)

SUMMARIES: tuple[DatasetSpec, ...] = (
    DatasetSpec(
        id="lcsts",
        title="LCSTS",
        files=(
            moodbench_file(
                "basic_ability/NLG/lcsts/test.json", "0c13add3ab6529c14161d1c61a511ebb64655ed55985d3288b3532e19e4a8416"
            ),
        ),
        record_format="jsonl",
        adapter=adapt_lcsts,
        question_types=("judged_summary",),
        languages=("zh",),
        licence="research use on application (as known upstream, not verified); of the repackaging: Apache-2.0",
        paper="Hu et al. 2015, arXiv:1506.05865",
        required=("input", "output"),
        evaluation_version="1.0",
        expected_rows=300,
        redistributable=False,
        differences=(
            JUDGED,
            "The sentence that states the task is not shown as part of the text; the released code leaves it there.",
            "The released configuration names a path of its authors' machine and loads nothing; we read the released file.",
            "Four of the 300 rows repeat another one exactly; they are kept.",
        ),
    ),
    DatasetSpec(
        id="cnewsum",
        title="CNewSum",
        files=(
            moodbench_file(
                "basic_ability/NLG/CNewSum/test.simple.label.jsonl",
                "baa1689455573276f184a6d736b7264d11f69333db265eb65879093742d4681d",
            ),
        ),
        record_format="jsonl",
        adapter=adapt_cnewsum,
        question_types=("judged_summary",),
        languages=("zh",),
        licence="terms of the data not stated (the folder holds the MIT licence of other code)",
        paper="Wang et al. 2021, arXiv:2110.10874",
        required=("article", "summary"),
        evaluation_version="1.0",
        expected_rows=300,
        redistributable=False,
        differences=(
            JUDGED,
            "The test split alone; the released code pools six files, those of training and development among them.",
            "Spaces between words are taken out of Chinese text only; the released code takes them out of Latin text too.",
        ),
    ),
    DatasetSpec(
        id="vcsum",
        title="VCSum",
        files=(
            _vcsum_file("vcsum_data/long_test.txt", LONG_TEST_SHA256),
            _vcsum_file("vcsum_data/overall_context.txt", None, record_format="jsonl"),
        ),
        record_format="jsonl",
        adapter=adapt_vcsum,
        gather=join_meetings,
        question_types=("judged_summary",),
        languages=("zh",),
        licence="MIT",
        paper=VCSUM_PAPER,
        required=("id", "eos_index", "summary"),
        evaluation_version="1.0",
        redistributable=True,
        alternative=_VCSUM_COPY,
        differences=(
            JUDGED,
            VCSUM_SPEAKERS,
            "overall_context.txt is pinned by its revision only: its content could not be had when this entry was made.",
        ),
    ),
)
