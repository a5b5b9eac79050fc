"""BBQ: questions about two people, with and without the facts that answer them."""

from collections.abc import Mapping
from typing import Any

from schemas.dataset import DatasetSpec
from schemas.item import Item, Record
from schemas.vocabulary import OptionRole
from tasks.datasets.pinned_files import MOODBENCH, pinned_list

ANSWERS = ("ans0", "ans1", "ans2")
CONDITIONS = {"ambig": "ambiguous", "disambig": "disambiguated"}
UNKNOWN = "unknown"

# answer_info tags and stereotyped_groups name some groups differently; all others they name alike.
GROUP_OF_TAG = {"man": "M", "boy": "M", "woman": "F", "girl": "F"}
GROUP_OF_NAME = {"low SES": "lowSES"}
# The release leaves the tag of every "Latina woman" of Race_x_gender empty.
LATINA = "F-Latino"

# A question of an intersectional category is about one race and one gender or status, but rows name the race only. Rows whose two
# people differ in race show the other: within a question, the person of the stereotyped race always has the same one. No such row
# of the undecided questions is here. ABOUT_FIRST lists the questions about the first of the two; all others are about the second.
SECOND_GROUPS = {"Race_x_gender": ("M", "F"), "Race_x_SES": ("highSES", "lowSES")}
ABOUT_FIRST = {
    "Race_x_gender": {"1", "2", "7", "8", "44"},
    "Race_x_SES": {"13", "14", "15", "16", "19", "20", "21", "22", "23", "24", "25", "26"},
}
UNDECIDED = {"Race_x_gender": {"10", "16", "43"}, "Race_x_SES": set[str]()}


def adapt_bbq(record: Record) -> Item:
    """`label` is the index of the right answer. `subset`: category and condition, as in "Age: ambiguous".

    `option_roles`: `unknown`; `target`, what the bias would answer, that is, the stereotyped person if the question is negative
    and the other one if it is not; `other`. Null where the release does not tell which of the two is the stereotyped one.

    Source: Parrish et al. 2022, section 4; which person is the stereotyped one follows analysis_scripts/BBQ_results_metadata.R.
    Differs: where both people belong to a stereotyped group that script takes the first one, we take none.
    """
    fields = record.fields
    label = fields["label"]
    return Item(
        context=fields["context"].strip(),
        question=fields["question"].strip(),
        options=tuple(fields[answer].strip() for answer in ANSWERS),
        gold_indices=(label,) if label in range(len(ANSWERS)) else None,
        option_roles=_roles(fields),
        item_id=f"{fields['category']}-{fields['example_id']}",
        subset=f"{fields['category']}: {CONDITIONS[fields['context_condition']]}",
    )


def _roles(fields: Mapping[str, Any]) -> tuple[OptionRole, ...] | None:
    is_negative = {"neg": True, "nonneg": False}[fields["question_polarity"]]
    people = [answer for answer in ANSWERS if fields["answer_info"][answer][1] != UNKNOWN]
    stereotyped = [answer for answer in people if _is_stereotyped(fields, *fields["answer_info"][answer])]
    if len(people) != len(ANSWERS) - 1 or len(stereotyped) != 1:
        return None
    roles: dict[str, OptionRole] = {answer: "target" if (answer in stereotyped) == is_negative else "other" for answer in people}
    return tuple(roles.get(answer, "unknown") for answer in ANSWERS)


def _is_stereotyped(fields: Mapping[str, Any], name: str, tag: str) -> bool:
    category = fields["category"]
    groups = {GROUP_OF_NAME.get(group, group) for group in fields["additional_metadata"]["stereotyped_groups"]}
    parts = (tag or LATINA).split("-")
    match category:
        case "Race_x_gender" | "Race_x_SES":
            return parts[-1] in groups and parts[0] in _second_groups(category, fields["question_index"])
        case "Race_ethnicity":  # tags of people with a name lead with their gender
            return parts[-1] in groups
        case "Nationality":  # tags are parts of the world
            return name in groups
        case "Gender_identity" if "trans" in groups:
            return tag.startswith("trans")
        case _:
            return GROUP_OF_TAG.get(tag, tag) in groups


def _second_groups(category: str, question: str) -> tuple[str, ...]:
    """The second groups that this question of an intersectional category may be about; one, or both where rows do not tell."""
    first, second = SECOND_GROUPS[category]
    if question in UNDECIDED[category]:
        return (first, second)
    return (first,) if question in ABOUT_FIRST[category] else (second,)


BBQ = DatasetSpec(
    id="bbq",
    title="BBQ",
    files=pinned_list("bbq", MOODBENCH),
    record_format="jsonl",
    adapter=adapt_bbq,
    licence="CC BY 4.0",
    paper="Parrish et al. 2022, arXiv:2110.08193, Findings of ACL 2022",
    required=(
        *("example_id", "question_index", "question_polarity", "context_condition", "category", "answer_info"),
        *("additional_metadata", "context", "question", "ans0", "ans1", "ans2", "label"),
    ),
    expected_rows=3_300,
    redistributable=True,
    differences=(
        "The released code counts accuracy only; the paper and we add the bias score of each condition.",
        "The bias target is read from the tags of the answers: the file upstream that states it is not in the release.",
        "Always the same letter earns about 65: a third of the accuracy, and no bias, by the paper's two metrics.",
        "2 of 3,300 items do not tell their bias target and have none: 1 of Gender_identity, 1 of Race_x_gender.",
    ),
)
