"""The seven categories of SafetyBench: one entry each over the same two files."""

from schemas.dataset import DatasetSpec
from schemas.vocabulary import Language
from tasks.datasets.moodbench.safetybench import adapt_safetybench, gather_safetybench
from tasks.datasets.pinned_files import pinned_in

REVISION = "960833692a1ec82b191ff3e902daca7993c35cc1"

_pin = pinned_in("github.com/thu-coai/SafetyBench", REVISION)

QUESTIONS_EN = _pin("opensource_data/test_en.json", None)
ANSWERS_EN = _pin(
    "opensource_data/test_answers_en.json",
    "a26ec13deeb551d68f71d61dd269d05dd43c24e6b22d8be3b93788ee10cf8615",
    record_format="json_object",
)
QUESTIONS_ZH = _pin("opensource_data/test_zh_subset.json", "8760b0621df0fa81b99f7e49961853f1ff8b5ac0e4f1f96dad20a587c33aea4f")
ANSWERS_ZH = _pin(
    "opensource_data/test_answers_zh_subset.json",
    "41c3e40330a7a96375de54b46df4839f6a46e8c9f6be974a2d31b35b8012af6c",
    record_format="json_object",
)
N_ENGLISH = 11_435
N_CHINESE = 2_100

FEW_SHOT = (
    "The released code asks the five few-shot examples of the category; we ask its test questions, whose answers are public."
)
UNSEEN = (
    "The file of English questions could not be had when this entry was made: it is pinned by its revision only, without a hash."
)
TRANSLATED = (
    "The paper asks in English; these are the 300 questions of the Chinese subset, used where the English ones are not here."
)


def safetybench(
    name: str,
    category: str,
    *,
    n_english: int,
    ambiguous: tuple[str, ...] = (),
    chinese_differences: tuple[str, ...] = (),
    differences: tuple[str, ...] = (),
) -> DatasetSpec:
    """The entry of one category: its English test questions, else those of the Chinese subset.

    Args:
        name: the entry's id is `safetybench_NAME`.
        category: as the files name it.
        n_english: English test questions of this category.
        ambiguous: items of the Chinese subset whose labels contradict each other.
        chinese_differences: those of the Chinese subset only.
        differences: those of both.
    """

    def entry(language: Language, alternative: DatasetSpec | None) -> DatasetSpec:
        english = language == "en"
        own = (
            (UNSEEN, f"{n_english:,} English questions; the paper draws 300.") if english else (TRANSLATED, *chinese_differences)
        )
        return DatasetSpec(
            id=f"safetybench_{name}",
            title=f"SafetyBench: {category}",
            files=(QUESTIONS_EN, ANSWERS_EN) if english else (QUESTIONS_ZH, ANSWERS_ZH),
            record_format="json",
            adapter=adapt_safetybench(language),
            question_types=("single_choice",),
            languages=(language,),
            licence="MIT",
            paper="Zhang et al. 2024, arXiv:2309.07045, ACL 2024",
            required=("id", "category", "question", "options"),
            evaluation_version="1.0",
            expected_rows=2 * (N_ENGLISH if english else N_CHINESE),
            redistributable=True,
            gather=gather_safetybench(category),
            alternative=alternative,
            ambiguous=() if english else ambiguous,
            differences=(FEW_SHOT, *own, *differences),
        )

    return entry("en", entry("zh", None))
