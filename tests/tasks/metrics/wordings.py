r"""Wordings in which models answer a question that has one right option, as templates to be filled with real items.

PLAIN: any person reads the option named {letter} or {text}, and no other. REFUSE: no answer is given, or none that stands.
EITHER: may be read as {letter} or not at all, with the reason why that is arguable; never as another option. `any`: in every
language.

Places: {letter} {text} the option meant, {other} {other_text} another option of the item, {outside} a letter that the item does
not have. {lower} the letter in lower case, {wide} full width, {circled} {bold} other alphabets, {ordinal} {ordinal_zh} its place
in words, {json_text} the text inside a JSON string, {typed} the text with curly quotes and dashes for straight ones or the other
way round, {small_text} in lower case. {listing} all options with letters, {rejected} all but the one meant, {verdicts} each with
what speaks for or against it.
"""

from collections.abc import Mapping

Wordings = Mapping[str, tuple[str, ...]]

PLAIN: Wordings = {
    "any": (
        # the letter alone
        "{letter}",
        "{letter}.",
        "({letter})",
        "「{letter}」",
        "{wide}",
        "{circled}",
        "{bold}",
        "**{letter}**",
        "`{letter}`",
        "```\n{letter}\n```",
        "# {letter}",
        "~~{other}~~ {letter}",
        # with its text
        "{letter}. {text}",
        "{text} ({letter})",
        # the text alone
        "{text}",
        "{typed}",
        # what nobody sees or minds
        "\u200b{letter}",
        "✅ {letter}",
        "=> {letter}",
        # formulas
        "$\\boxed{{letter}}$",
        "\\boxed{\\mathrm{{letter}}}",
        "\\boxed{\\text{Option {letter}}}",
        # objects
        '{"answer": "{letter}"}',
        '["{letter}"]',
        '{"selected": "{letter}",}',
        # tags and special tokens
        "<answer>{letter}</answer>",
        "<p><strong>{letter}. {text}</strong></p>",
        "[ANSWER]{letter}[/ANSWER]",
        "<|begin_of_box|>{letter}<|end_of_box|>",
        "{letter}</s>",
        "[/INST] {letter}",
        # labels
        "Answer: {letter}",
        "Ans: {letter}",
        "Option {letter}",
        # thoughts, each with another option in it
        "<think>The answer is {other}. Hmm, no.</think>{letter}",
        "<thought>\nAnswer: {other}\n</thought>\n{letter}",
        "<reasoning>\nThe answer is {other}, or is it?\n</reasoning>\n<answer>\n{letter}\n</answer>",
        "&lt;think&gt;The answer is {other}.&lt;/think&gt;{letter}",
        "[THINK]The answer is {other}. Let me check.[/THINK]{letter}",
        "◁think▷The answer is {other}. Let me look again.◁/think▷{letter}",
        "analysisThe answer is {other}? The last line says otherwise.assistantfinal{letter}",
        "<|channel>thought\nThe answer is {other}? No.\n<channel|>{letter}",
    ),
    "en": (
        # statements
        "The answer is {letter}.",
        "I choose {letter}.",
        "I pick {letter} — it matches best.",
        "It must be {letter}.",
        "Certainly! **{letter}**",
        "Choice {letter} describes it best.",
        "{letter} because it matches the text.",
        "Based on the information given, **{letter}. {text}** is the most suitable option.",
        "Of all the options, ({letter}) is the most plausible.",
        "The answer should be {letter}.",
        "The answer seems to be {letter}.",
        "The answer has to be {letter}.",
        "This is option {letter}.",
        "Thus: **{letter}**",
        "I am confident that {letter} is right.",
        "The answer to this question is {letter}. {text}",
        "The statement that fits is {letter}.",
        "The answer is “{text}”.",
        # steps, then the answer
        "{listing}\n\nThe correct answer is **{letter}**.",
        "That rules out {other}, leaving {letter}.",
        "Although {other} is tempting, {letter} is the better choice.",
        # the answer, then a look at the others
        "{letter}, not {other}.",
        "{letter}\n\n{other} is incorrect because the text says nothing of it.",
        "{letter}. {text}\n\nWhy not the others:\n{rejected}",
        # corrections
        "{other}. Wait, no: {letter}",
    ),
    "zh": (
        # 陈述
        "答案：{letter}",
        "选{letter}",
        "{letter}选项最符合题意。",
        "选项{letter}最合适。",
        "答案是“{text}”。",
        # 繁體
        "正確答案是{letter}。",
        "我原本以為是{other}，但其實是{letter}。",
        # 先作答再看其他选项
        "不是{other}，而是{letter}。",
        "应选{letter}而不是{other}。",
        # 更正
        "{other}。不对，应该是{letter}。",
        "答案：{other}\n\n抱歉，我看错了题目。\n\n答案：{letter}",
    ),
}

NOTHING: Wordings = {
    "any": (
        "",
        "...",
        "?",
        "Answer:",
        "\\boxed{}",
        '{"answer": ""}',
        "<think>The answer is {letter}.",
        "[THINK]The answer is {letter}.",
        "◁think▷The answer is {letter}.",
        "<|channel|>analysis<|message|>The answer is {letter}.<|end|>",
        # an option that is not there
        "{outside}",
        "The answer is {outside}.",
        # two, and no word which of them
        "{letter}\n{other}",
        "{letter}, {other}",
        "Answer: {letter}\nAnswer: {other}",
        '{"answer": ["{letter}", "{other}"]}',
        "{listing}",
    ),
    "en": (
        "The answer is",
        "{letter} or {other}",
        "Either {letter} or {other}.",
    ),
    "zh": (
        "答案是",
        "{letter}或{other}",
        "答案是{letter}或{other}。",
        "{letter}和{other}都正确。",
        "答案是{letter}。答案是{other}。",
    ),
}
"""Of REFUSE: empty, cut off, outside the options, or two. What the options say cannot change that."""

DENIED: Wordings = {
    "any": (
        "~~{letter}~~",
        "{letter} ❌",
        '{"answer": "not {letter}"}',
    ),
    "en": (
        # denied
        "Not {letter}.",
        "The answer is not {letter}.",
        "{letter} is wrong.",
        "{letter}? No.",
        "The option to avoid is {letter}.",
        # asked
        "Is it {letter}?",
        # others say
        "Many would choose {letter}, but they are mistaken.",
        "The user claims that the answer is {letter}.",
        "It is often assumed that {letter} is correct.",
        # not as things are
        "If the first line were missing, the answer would be {letter}.",
        # no answer
        "I don't know.",
        "I cannot answer this.",
        "None of the above.",
    ),
    "zh": (
        # 否定
        "不是{letter}。",
        "{letter}错误。",
        # 收回
        "答案是{letter}，但这是错误的。",
        # 他人与假设
        "粗心的读者会选{letter}。",
        "容易误选{letter}。",
        "如果没有第一句，答案就是{letter}。",
        # 没有答案
        "我不知道。",
        "以上都不对。",
    ),
}
"""Of REFUSE: denied, withdrawn, asked, reported, supposed, declined. An option may say the same ("No", "Not known")."""

CUT_REFUSED: Wordings = {
    "any": (
        "<think>The answer is {letter}. But",
        "<|channel>thought\nThe answer is {letter}. But",
        "analysisWe look at each option. The answer is {letter}. But",
        "<reasoning>The answer is {letter}. But",
    ),
    "en": ("The answer is",),
}
"""Of REFUSE: the reply ended at its token limit."""

EITHER: Mapping[str, Mapping[str, str]] = {
    "any": {
        "{letter}?": "a mark that may be a doubt or a slip",
        '{"{letter}": 0.9, "{other}": 0.1}': "weights, and one of them is far larger",
        '<|channel|>commentary<|message|>{"choice": "{letter}"}<|end|>': "a channel for tools",
    },
    "en": {
        "The answer might be {letter}.": "a guess, but of one",
        "I am torn between {letter} and {other}, but I lean towards {letter}.": "a guess that leans to one",
        "The {ordinal} option.": "named by its place",
        "I cannot deny that {letter} is right.": "two denials make a statement",
    },
    "zh": {
        "可能是{letter}。": "a guess, but of one",
        "不确定，但我猜是{letter}。": "a guess, but of one",
        "除了{letter}，其他选项都不对。": "a denial of all others",
    },
}

CUT_EITHER: Mapping[str, Mapping[str, str]] = {
    "any": {"{letter}. {text}": "the limit may have cut what follows an answer, or the answer itself"},
    "en": {
        "The answer is {letter} because": "the answer came before the limit, but what follows might turn it",
    },
    "zh": {
        "答案：{letter}\n解析：": "the answer came before the limit",
    },
}
