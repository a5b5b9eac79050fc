"""Datasets of Values: bias and morality."""

from schemas.dataset import DatasetSpec
from tasks.datasets.entries.moodbench_release import moodbench_file
from tasks.datasets.entries.safetybench import safetybench
from tasks.datasets.moodbench.bbq import adapt_bbq
from tasks.datasets.moodbench.crows_pairs import adapt_crows_pairs
from tasks.datasets.moodbench.stereoset import adapt_stereoset, gather_stereoset
from tasks.datasets.pinned_files import pinned_in

_stereoset = pinned_in("github.com/moinnadeem/StereoSet", "ead7d086a64a192a1eca88e0dd2fd163de375218")

BBQ_FILES = {
    "Age": "3c4a428fbc665c1fbf8a8f6294265129aa53f2fb15ef837423de54969e7483ec",
    "Disability_status": "e40f669de50a61ec58de5fc76c9210d756072b5da513846f9c1bcd887e0c53ae",
    "Gender_identity": "e3b22181af2f8de04cab14a64b587af93b198d00fc8efb564c16582bd186e614",
    "Nationality": "8c2f8ede64d3cabb06d8c2df1a5d90155818ab647cad08efd6888430c30809bc",
    "Physical_appearance": "cd12f9df6bc8645b1d525d598e76f91186887bff37aa35884e3dc5a2a2cf3dce",
    "Race_ethnicity": "6948632bb0621eaaa6552532641a4fd998028dc7275bee240c151dddd43ad1e6",
    "Race_x_SES": "879248c8be197f59a3c8bbfb8f3f9509e667e728e57424b8caf4d653c4fbb5b0",
    "Race_x_gender": "388db0dbd06c25a1cf1a13c69b8c25e44ef832ba146c270ae99adb83342fe61f",
    "Religion": "35a2030b306c2ff0215b3a827308b3d70073feaf214fb6f52a1587154993a22f",
    "SES": "37733e166b44d200f9ed9e25e72bcf9266cdeafe8e98e239b898fd9fdfa81802",
    "Sexual_orientation": "5bd44b0d32d7a40d7fb6de5cf1914f65dad02159732453b6c1bf8a530fbd64bb",
}

VALUES: tuple[DatasetSpec, ...] = (
    DatasetSpec(
        id="crows_pairs",
        title="CrowS-Pairs",
        files=(
            moodbench_file(
                "values/value/CrowS-Pairs_csv/crows_pairs_anonymized.csv",
                "c6f318b6b492d14f8677d4cc0f57d50da4513febc17bc32498b44d8f79fe1072",
            ),
        ),
        record_format="csv",
        adapter=adapt_crows_pairs,
        question_types=("single_choice",),
        languages=("en",),
        licence="CC BY-SA 4.0",
        paper="Nangia et al. 2020, arXiv:2010.00133, EMNLP 2020",
        required=("Unnamed: 0", "sent_more", "sent_less", "stereo_antistereo", "bias_type"),
        evaluation_version="1.0",
        expected_rows=300,
        redistributable=True,
        differences=(
            "The less stereotypical sentence is always right; the released code takes the other one in the 47 antistereo rows.",
            "The order of the two sentences is drawn per row; the released code always shows the less stereotypical one last.",
            "The dataset's own measure compares likelihoods of the two sentences; like MoodBench we ask which one it is.",
            "Blodgett et al. 2021 doubt many of the pairs, and so do its authors; none is left out here.",
        ),
    ),
    DatasetSpec(
        id="stereoset",
        title="StereoSet",
        files=(_stereoset("data/dev.json", "73a0f31b711688112602e4c3ac6ab1e1a7cadcdd67df6c6fd55501c889676c90"),),
        record_format="json_object",
        adapter=adapt_stereoset,
        question_types=("ranking",),
        languages=("en",),
        licence="CC BY-SA 4.0",
        paper="Nadeem et al. 2021, arXiv:2004.09456, ACL 2021",
        required=("key", "value"),
        evaluation_version="1.0",
        expected_rows=2,
        redistributable=True,
        gather=gather_stereoset,
        differences=(
            "The file of the MoodBench release could not be had and differs from this one, the upstream development set.",
            "The hash is the one that the dataset's own loader on Hugging Face states for this file; we have not seen the file.",
            "The model ranks the three sentences, in an order drawn per test; upstream compares their likelihoods.",
            "The released code explains the three roles, always shows the anti-stereotype as B and counts answers equal to B.",
            "The released code asks the intersentence tests only.",
        ),
    ),
    DatasetSpec(
        id="bbq",
        title="BBQ",
        files=tuple(moodbench_file(f"values/value/BBQ_jsonl/{category}.jsonl", sha256) for category, sha256 in BBQ_FILES.items()),
        record_format="jsonl",
        adapter=adapt_bbq,
        question_types=("single_choice",),
        languages=("en",),
        licence="CC BY 4.0",
        paper="Parrish et al. 2022, arXiv:2110.08193, Findings of ACL 2022",
        required=(
            *("example_id", "question_index", "question_polarity", "context_condition", "category", "answer_info"),
            *("additional_metadata", "context", "question", "ans0", "ans1", "ans2", "label"),
        ),
        evaluation_version="1.0",
        expected_rows=3_300,
        redistributable=True,
        differences=(
            "The released code counts accuracy only; the paper and we add the bias score of each condition.",
            "The bias target is read from the tags of the answers: the file upstream that states it is not in the release.",
            "Always the same letter earns about 65: a third of the accuracy, and no bias, by the paper's two metrics.",
            "2 of 3,300 items do not tell their bias target and have none: 1 of Gender_identity, 1 of Race_x_gender.",
        ),
    ),
    safetybench("unfairness_bias", "Unfairness and Bias", n_english=1_904),
    safetybench("ethics_morality", "Ethics and Morality", n_english=1_934),
)
