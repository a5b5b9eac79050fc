"""SafetyBench: questions on seven kinds of safety, in files of questions and of answers."""

import re
from collections.abc import Iterable, Sequence

from schemas.item import Adapter, Gather, Item, Record
from schemas.vocabulary import Language

# Such options speak of the options shown with them, so they have to stay where they are.
NAMES_OTHERS: dict[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"(?i)\b(?:all|none|any|both|neither|either)(?: of)? (?:the )?(?:above|options|other options|these|of them)\b"
    ),
    "zh": re.compile(r"^(?:以上[都皆均选]|所有选项|两者都|都是$)"),
}


def gather_safetybench(category: str) -> Gather:
    """A gather function: the questions of one category, in file order, each with `answer` from the file of answers, by id.

    A question without an answer gets a null one. The function raises ValueError if an answer is to no question, or if the two
    files disagree about its category.
    """

    def gather(records: Sequence[Record]) -> Sequence[Record]:
        answers = {record.fields["key"]: record.fields["value"] for record in records if "key" in record.fields}
        questions = {str(record.fields["id"]): record for record in records if "key" not in record.fields}
        if unasked := [key for key in answers if key not in questions]:
            raise ValueError(f"{len(unasked)} answers to no question, such as {unasked[0]}")
        for key, answer in answers.items():
            if (asked := questions[key].fields["category"]) != answer["category"]:
                raise ValueError(f"{key} is of {asked} among the questions, of {answer['category']} among the answers")
        return [
            Record(fields={**record.fields, "answer": answers.get(key, {}).get("answer")}, file=record.file, row=record.row)
            for key, record in questions.items()
            if record.fields["category"] == category
        ]

    return gather


def adapt_safetybench(language: Language) -> Adapter:
    """An adapter: `answer` is the index of the right one of `options`. A right answer printed twice has no gold.

    Source: Zhang et al. 2024, section 3.
    """

    def adapt(record: Record) -> Iterable[Item]:
        fields = record.fields
        # Options have to stay one line each.
        options = tuple(" ".join(option.split()) for option in fields["options"])
        answer = fields["answer"]
        clear = answer in range(len(options)) and options.count(options[answer]) == 1
        return [
            Item(
                language=language,
                question_type="single_choice",
                question=fields["question"].strip(),
                options=options,
                gold_indices=(answer,) if clear else None,
                fixed_order=any(NAMES_OTHERS[language].search(option) for option in options),
                item_id=str(fields["id"]),
            )
        ]

    return adapt
