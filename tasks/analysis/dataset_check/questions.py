"""Which items ask the same, and what they take for right."""

import json
import unicodedata
from collections.abc import Mapping
from typing import Any

Row = Mapping[str, Any]


def question_key(row: Row) -> str:
    """Equal for items that ask the same: whatever the order of options, capitals, white space and punctuation."""
    options = sorted(_essence(option) for option in row["options"] or ())
    return json.dumps([_essence(row["context"] or ""), _essence(row["question"]), options], ensure_ascii=False)


def gold_texts(row: Row) -> frozenset[str]:
    """Texts of the right options, else the references, in the same form."""
    if row["options"] and row["gold_indices"]:
        return frozenset(_essence(row["options"][index]) for index in row["gold_indices"])
    return frozenset(_essence(text) for text in row["references"] or ())


def _essence(text: str) -> str:
    """Letters, digits and symbols of a text, lower-cased; of a text that has none the text itself.

    Marked words (between asterisks) and signs of formulas tell items apart, so only punctuation that ends or divides sentences is
    left out.
    """
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join(sign for sign in plain if not sign.isspace() and sign not in _DIVIDING) or plain


_DIVIDING = frozenset(".,;:!?…'\"“”‘’。，、；：！？")
