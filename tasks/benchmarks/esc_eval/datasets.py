"""Role cards of ESC-Eval: a person with a problem in four labelled lines, read, written and made into items.

Source: arXiv:2406.14952, sections 3.1 and 3.2.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from pydantic import Field

from schemas.base import Frozen
from schemas.dataset import BundledFile, DatasetSpec
from schemas.item import Item, Record
from schemas.vocabulary import Language
from tasks.benchmarks.moodbench.bundled import BUNDLED
from tasks.datasets.catalogue import pinned_in

Gender = Literal["female", "male", "not mentioned"]
AgeGroup = Literal["teenage", "young", "middle-aged", "old", "not mentioned"]

LABELS: Mapping[Language, tuple[str, str]] = {"en": ("Age,Gender,Occupation,Problem", ": "), "zh": ("年龄,性别,职业,问题", "：")}
"""What the lines begin with, and what stands behind it."""

NOT_MENTIONED = "not mentioned"
GENDERS: Mapping[Gender, str] = {"female": "女", "male": "男", "not mentioned": "未提及"}

AGES: Mapping[AgeGroup, tuple[int, str]] = {
    "teenage": (18, r"\bteen|少年"),
    "young": (40, r"\byoung|青年"),
    "middle-aged": (60, r"\bmiddle|中年"),
    "old": (1000, r"\bold\b|老年"),
    "not mentioned": (0, r"\bnot mentioned\b|未提及"),
}
"""The age in years at which a group has ended, and how it is named."""

GROUPS = ("domain", "category2", "category3", "source", "age_group", "gender")
"""Fields of a card by which results are broken down."""


class RoleCard(Frozen):
    """A role card: `text` is what is shown to who plays it; the finer levels of its category are null where nobody said them."""

    card_id: str
    language: Language
    source: str
    domain: Literal["family_and_life", "work_and_study", "social_and_other"]
    category2: str | None = None
    category3: str | None = None
    quality: Literal["high", "middle", "invalid"] = "high"
    age_raw: str
    age_group: AgeGroup | None = Field(description="null = the text names none or several")
    gender: Gender
    occupation: str
    problem: str
    text: str


def card_text(language: Language, age: str, gender: Gender, occupation: str, problem: str) -> str:
    """Return the four labelled lines of a card."""
    labels, colon = LABELS[language]
    values = (age, GENDERS[gender] if language == "zh" else gender, occupation, problem)
    return "\n".join(f"{label}{colon}{value}" for label, value in zip(labels.split(","), values, strict=True))


def read_card(text: str, language: Language, **others: Any) -> RoleCard:
    """Return the card of four labelled lines, and `others`, what they do not say; raise ValueError if they are others."""
    labels = LABELS[language][0].split(",")
    lines = r"\s*\n\s*".join(rf"{label}\s*[:：]\s*(\S.*?)" for label in labels)
    match = re.fullmatch(rf"\s*{lines}\s*", text, flags=re.IGNORECASE | re.DOTALL)
    if match is None:
        raise ValueError(f"a card has the lines {', '.join(labels)}, this one is {text[:80]!r}")
    english = {word: name for name, word in GENDERS.items()}
    age, gender, occupation, problem = (english.get(value, value) for value in match.groups())
    gender, occupation = gender.lower(), NOT_MENTIONED if occupation.lower() == NOT_MENTIONED else occupation
    read = {"age_raw": match[1], "age_group": age_group(age), "gender": gender, "occupation": occupation, "problem": problem}
    return RoleCard.model_validate({"text": text, "language": language, **read, **others})


def age_group(age: str) -> AgeGroup | None:
    """Return the group of an age in years or in words; null if it names none or several."""
    if years := re.match(r"\d+", age):
        return next((group for group, (end, _) in AGES.items() if int(years[0]) < end), None)
    groups = [group for group, (_, words) in AGES.items() if re.search(words, age, flags=re.IGNORECASE)]
    return groups[0] if len(groups) == 1 else None


def card_item(text: str, language: Language, **others: Any) -> Item:
    """Return the item of a card, as `read_card` reads it; where it cannot be read one without a question, which is rejected."""
    make_item = partial(Item, question_type="role_play", language=language)
    try:
        card = read_card(text, language, **others)
    except ValueError:
        return make_item(item_id=others["card_id"], context=text, question="")
    groups = {name: value for name in GROUPS if (value := getattr(card, name)) is not None}
    return make_item(item_id=card.card_id, context=text, question=card.problem, subset=card.domain, groups=groups)


_pin = pinned_in("github.com/haidequanbu/ESC-Eval", "9ad46e7b5e247e824dae4633910eaa82be668beb")

DOMAINS = {"家庭生活": "family_and_life", "工作学习": "work_and_study", "社会与其他": "social_and_other"}
LANGUAGES: dict[str, Language] = {"english": "en", "chinese": "zh"}
SOURCES = {"ESconv": "ESConv", "MHP": "MHP Reddit", "Psych": "Psych8K", "smile": "Smile"}
"""Corpora that the release calls otherwise than their authors do."""


def _released_card(record: Record) -> Item:
    """`base` is the card, `res` its domain, in Chinese. A translation for annotators, `base_biaozhu`, is not read."""
    fields = record.fields
    source, domain = SOURCES.get(fields["source"], fields["source"]), DOMAINS[fields["res"]]
    return card_item(fields["base"], LANGUAGES[fields["language"]], source=source, card_id=f"card-{fields['id']}", domain=domain)


GOODBYE = "A dialogue ends when the seeker says goodbye, in the released code always after five turns."

ESC_EVAL = tuple(
    DatasetSpec(
        id=f"esc_eval_{language}",
        title=f"ESC-Eval, role cards ({language})",
        files=(_pin(f"data/card_high_{language}.json"),),
        adapter=_released_card,
        question_types=("role_play",),
        languages=(language,),
        licence="none stated",
        paper="ESC-Eval, arXiv:2406.14952",
        required=("id", "base", "res", "source", "language"),
        expected_rows=rows,
        differences=("Ages in years are put into the groups that other cards name: below 18, 40 and 60, and above.", GOODBYE),
    )
    for language, rows in zip(LANGUAGES.values(), (331, 324), strict=True)
)

ESC_EVAL_MINI = tuple(
    replace(
        BUNDLED[0],
        id=f"esc_eval_mini_{language}",
        title=f"Bundled items: role cards ({language})",
        files=(BundledFile(name=f"role_cards_{language}.jsonl"),),
        question_types=("role_play",),
        languages=(language,),
        differences=("Our own cards in place of the released ones; too few to rank models.", GOODBYE),
    )
    for language in LANGUAGES.values()
)

DATASETS = (*ESC_EVAL, *ESC_EVAL_MINI)
