"""Wordings in which models answer with a set of options or with an order of them, as templates; see `wordings`.

Of a set of two: {first} and {second} its letters, {first_text} and {second_text} its texts, {first_json} and {second_json} these
inside a JSON string, {other} a letter outside it. Of an order: {order} all letters from best to worst with commas, {chain} with
signs between, {numbered} as a list with texts; {best} {second} {worst} letters of it; {best_text} a text; {verdict} the word that
stands before a colon in it (FOLIO's "True: ..."). {outside} is a letter that the item does not have.
"""

from collections.abc import Mapping

SETS: tuple[str, ...] = (
    "{first}, {second}",
    "{first}{second}",
    "{first} and {second}",
    "{first}\n{second}",
    "({first}) and ({second})",
    "({first})({second})",
    '{"answer": ["{first}", "{second}"]}',
    "- {first}. {first_text}\n- {second}. {second_text}",
    "* **{first}**: the text says so.\n* **{second}**: this follows from it.",
    "- {first}: the text says so in its first line\n- {second}: this follows from it",
    "1. {first}\n2. {second}",
    "\\boxed{{first}, {second}}",
    "<final>{first}{second}</final>",
    "Answer: {first}, {second}",
    "Answers: {first}, {second}",
    "The answers are {first} and {second}.",
    "The correct options are {first} and {second}.",
    "The correct answers are ({first}) and ({second}).",
    "Both {first} and {second} are correct.",
    "Options {first} and {second} apply.",
    "{first} and {second}, but not {other}.",
    "{first} and {second} are correct. {other} is not.",
    "{first}、{second}",
    "选{first}{second}",
    "正确选项有{first}、{second}。",
    "不选{other}，应选{first}和{second}。",
)
"""PLAIN: the set of {first} and {second}."""

ONES: tuple[str, ...] = (
    "{first}",
    "Only {first} is correct.",
    "{first}, not {other}.",
    "只有{first}正确。",
)
"""PLAIN: the set of {first} alone."""

SETS_REFUSED: tuple[str, ...] = (
    "",
    "Answer:",
    "\\boxed{}",
    "{first} or {second}",
    "Answer: {first}\nAnswer: {second}",
    "Neither {first} nor {second}.",
    "I cannot answer this.",
    "None of the options is right.",
    "{first}, {outside}",
    "{first}或{second}",
    "{first}、{second}都不正确。",
)
"""REFUSE. Options may say "nothing" or "none" of their own: these are filled where none does."""

SETS_EITHER: Mapping[str, str] = {
    "{first}, {second}?": "a mark that may be a doubt or a slip",
    "<answer>{first}</answer>\n<answer>{second}</answer>": "one tag for each, or two answers",
    "\\boxed{{first}}, \\boxed{{second}}": "one box for each, or two answers",
    "The answer is {first}. The answer is also {second}.": "two statements, the second added to the first",
}
"""May be read as the set of {first} and {second}, or not at all."""

ORDERS: tuple[str, ...] = (
    "{chain}",
    "Answer: {order}",
    "The order is {order}.",
    "From best to worst: {order}",
    "Ranking: {chain}",
    "{numbered}",
    '{"ranking": "{order}"}',
    "[THINK]Answer: {worst}[/THINK]{order}",
    "排序：{order}",
)
"""PLAIN: the whole order."""

BESTS: tuple[str, ...] = (
    "{best}",
    "{best}. {best_text}",
    "{best_text}",
    "The answer is {best}.",
    "The answer is {best}, since {second} would need another premise.",
    "{best}, not {second}.",
    "The best option is {best}, followed by {second}.",
    "答案：{best}",
    "应选{best}，而不是{second}。",
)
"""PLAIN: {best} comes first, whatever follows it."""

VERDICTS: tuple[str, ...] = (
    "{verdict}",
    "The answer is {verdict}.",
    '{"answer": "{verdict}"}',
    "{best}. {verdict}",
)
"""PLAIN: the option whose word this is comes first."""

ORDERS_REFUSED: tuple[str, ...] = (
    "",
    "Answer:",
    "{best} or {second}",
    "Should I choose {best}?",
    "{outside}",
    "I cannot answer this.",
    "答案不是{best}。",
    "是{best}吗？",
)
"""REFUSE."""
