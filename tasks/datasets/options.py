"""Options of an item: the gold a released label stands for, an order drawn from the record, and options that name each other."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import Any

from schemas.item import Item, Record, option_letters, text_id

Gold = tuple[int, ...] | None


def shuffle_options(item: Item, record: Record) -> Item:
    """Put the options of an item into an order drawn from its record: the same on every machine and in every run.

    Their gold, which may be null, their roles and what the released code takes for right go with them.
    """
    options, roles = item.options or (), item.option_roles
    order = list(range(len(options)))
    Random(record.sha256).shuffle(order)  # noqa: S311 - a fixed draw, not a secret

    def moved(gold: Gold) -> Gold:
        return None if gold is None else tuple(sorted(order.index(index) for index in gold))

    return item.model_copy(
        update={
            "options": tuple(options[index] for index in order),
            "gold_indices": moved(item.gold_indices),
            "reference_gold_indices": moved(item.reference_gold_indices),
            "option_roles": None if roles is None else tuple(roles[index] for index in order),
        }
    )


def find_gold(labels: Iterable[Any], label: Any) -> Gold:
    """Return the index of the option that a released label, one of `labels`, stands for; null if it is none of them."""
    values = list(labels)
    return (values.index(label),) if label in values else None


def choice(
    question: str,
    options: Mapping[Any, str],
    gold: str = "label",
    shared: str | None = None,
    read: Callable[[Record], Mapping[str, Any]] = lambda _record: {},
    *,
    fixes_order: bool = False,
    **texts: str,
) -> Callable[[Record], Item]:
    """Return the adapter of a dataset whose items offer the same few options, or those that stand in fields of their own.

    In all texts {name} stands for a field, without white space around it.

    Args:
        question: what is asked.
        options: by the labels that the release has for them, in the order they are shown.
        gold: field that holds the label of the right one.
        shared: field of a text that several items may ask about; they are one cluster.
        read: makes further fields of a record, or replaces some.
        fixes_order: whether options that name each other stay in their order.
        texts: further fields of the item, such as its context, subset and language.
    """

    def adapt(record: Record) -> Item:
        fields = {**record.fields, **read(record)}
        present = {name: value for name, value in fields.items() if value is not None}  # a null must not read as "None"
        words = {name: value.strip() if isinstance(value, str) else value for name, value in present.items()}
        item = {name: text.format_map(words) or None for name, text in texts.items()}
        displayed = tuple(text.format_map(words) for text in options.values())
        return Item.model_validate(
            {
                "question": question.format_map(words),
                "options": displayed,
                "gold_indices": find_gold(options, words.get(gold, fields[gold])),
                "fixed_order": fixes_order and order_matters(displayed),
                "cluster": text_id(fields[shared]) if shared else None,
                **item,
            }
        )

    return adapt


_JOINED = r"\s*(?:[和与、，,及或+&]|and|or)\s*"
_TAIL = r"(?:[两二]者)?的?(?:总和|[均都皆]不?(?:是|对|可|正确|错))?"
_LETTERS = re.compile(rf"(?:both\s+|either\s+|neither\s+)?([A-J](?:{_JOINED}[A-J])+)\s*{_TAIL}")
_ABOVE = re.compile(r"\b(?:all|any|both|neither|none|some) of the (?:above|below|preceding|following)\b", re.IGNORECASE)
_ABOVE_CHINESE = re.compile(r"(?:以上|上述)(?:所有|全部|全|都|均|皆|各|选项|说法|答案|[两二三几]|$)")
_LATEX = re.compile(r"\$|\\mathrm|[{}]")


def order_matters(options: Sequence[str]) -> bool:
    """Return whether an option names others by letter ("both A and B") or by place ("none of the above")."""
    letters = frozenset(option_letters(len(options)))
    by_place = any(_ABOVE.search(option) or _ABOVE_CHINESE.match(option.strip()) for option in options)
    return by_place or any(_names_letters(option, letters) for option in options)


def _names_letters(option: str, letters_here: frozenset[str]) -> bool:
    """Return whether it consists of distinct letters that stand for options here, joined, and at most a verdict on them."""
    match = _LETTERS.fullmatch(_LATEX.sub("", option).strip())
    if match is None:
        return False
    letters = re.findall(r"[A-J]", match[1])
    return len(set(letters)) == len(letters) and letters_here.issuperset(letters)
