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
        "{letter})",
        "({letter})",
        "「{letter}」",
        '"{letter}"',
        "{wide}",
        "{circled}",
        "{bold}",
        "**{letter}**",
        "__{letter}__",
        "*{letter}*",
        "`{letter}`",
        "```\n{letter}\n```",
        "~~{other}~~ {letter}",
        # with its text
        "{letter}. {text}",
        "**{letter}** {text}",
        "{letter}\n{text}",
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
        "\\boxed{\\textbf{({letter})}}",
        "\\fbox{{letter}}",
        "\\textbf{{letter}}",
        "\\mathbf{{letter}}",
        "\\({letter}\\)",
        "${letter}",
        "$\\text{({letter})}$",
        # objects
        '{"answer": "{letter}"}',
        '{"final_answer": "{letter}", "explanation": "This is what the text points to."}',
        '["{letter}"]',
        "{'answer': '{letter}'}",
        '{"selected": "{letter}",}',
        # tags and special tokens
        "<answer>{letter}</answer>",
        "<ans>({letter})</ans>",
        "<output>{letter}</output>",
        "<b>{letter}</b>",
        "<p><strong>{letter}. {text}</strong></p>",
        "[ANSWER]{letter}[/ANSWER]",
        "&lt;answer&gt;{letter}&lt;/answer&gt;",
        "<|begin_of_box|>{letter}<|end_of_box|>",
        "<|begin_of_solution|>\n{letter}\n<|end_of_solution|>",
        "<|START_RESPONSE|>{letter}<|END_RESPONSE|>",
        "{letter}</s>",
        "<|im_start|>assistant\n{letter}<|im_end|>",
        "[/INST] {letter}",
        # labels
        "assistant\n\n{letter}",
        "AI: {letter}",
        "Model: ({letter})",
        "助手：{letter}",
        "Answer: {letter}",
        "Answer - {letter}",
        "Ans: {letter}",
        # thoughts, each with another option in it
        "<think>The answer is {other}. Hmm, no.</think>{letter}",
        "<thinking>Answer: {other}</thinking>\n{letter}",
        "<thought>\nAnswer: {other}\n</thought>\n{letter}",
        "<reasoning>\nThe answer is {other}, or is it?\n</reasoning>\n<answer>\n{letter}\n</answer>",
        "&lt;think&gt;The answer is {other}.&lt;/think&gt;{letter}",
        "<seed:think>The answer is {other}.</seed:think>{letter}",
        "<mm:think>The answer is {other}.</mm:think>\n{letter}",
        "[THINK]The answer is {other}. Let me check.[/THINK]{letter}",
        "◁think▷The answer is {other}. Let me look again.◁/think▷{letter}",
        "<|begin_of_thought|>\nIs it {other}?\n<|end_of_thought|>\n\n<|begin_of_solution|>\n{letter}\n<|end_of_solution|>",
        "<|START_THINKING|>The answer is {other}.<|END_THINKING|><|START_RESPONSE|>{letter}<|END_RESPONSE|>",
        "<|channel|>analysis<|message|>Answer: {other}.<|end|><|start|>assistant<|channel|>final<|message|>{letter}<|return|>",
        "<|start|>assistant<|channel|>analysis<|message|>{other}.<|end|><|start|>assistant<|channel|>final<|message|>**{letter}**",
        "analysisThe answer is {other}? The last line says otherwise.assistantfinal{letter}",
        "analysisWe weigh {other} first. The answer is {other}, perhaps.assistantfinalAnswer: {letter}",
        "<|channel>thought\nThe answer is {other}? No.\n<channel|>{letter}",
        "<|channel>thought\n<channel|>{letter}",
    ),
    "en": (
        # statements
        "The answer is {letter}.",
        "The correct answer is option {letter}.",
        "The right choice here is {letter}.",
        "I choose {letter}.",
        "I pick {letter} — it matches best.",
        "It must be {letter}.",
        "Sure! The answer is {letter}.",
        "Certainly! **{letter}**",
        "Okay, {letter}.",
        "Option {letter} is the best fit.",
        "Choice {letter} describes it best.",
        "({letter}) is right.",
        "{letter} because it matches the text.",
        "{letter}. {text}\n\nExplanation: I read the text twice, and a careful reader will agree.",
        "Most likely {letter}.",
        "Based on the information given, **{letter}. {text}** is the most suitable option.",
        "Of all the options, ({letter}) is the most plausible.",
        "The answer should be {letter}.",
        "The answer seems to be {letter}.",
        "The answer has to be {letter}.",
        "This is option {letter}.",
        "This corresponds to option {letter}.",
        "Hence the correct option is ({letter}).",
        "Thus: **{letter}**",
        "Selected option: {letter}",
        "The letter of the right option is {letter}.",
        "Answer: The correct answer is {letter}.",
        "The statement that fits is {letter}.",
        "The answer is “{text}”.",
        # steps, then the answer
        "First, {other}: nothing in the text supports it. Next, {letter}: this fits. The answer is {letter}.",
        "Let me go through the options.\n\n{verdicts}\n\nTherefore, the correct answer is {letter}.",
        "That rules out {other}, leaving {letter}.",
        "At first glance one might pick {other}, but the correct answer is {letter}.",
        "Although {other} is tempting, {letter} is the better choice.",
        "## Step 1: Read\nIt is short.\n\n## Step 2: Decide\nIts end decides.\n\nThe final answer is: $\\boxed{{letter}}$",
        # the answer, then a look at the others
        "{letter}, not {other}.",
        "{letter} rather than {other}.",
        "{letter}\n\n{other} is incorrect because the text says nothing of it.",
        "{letter}. {text}\n\nWhy not the others:\n{rejected}",
        "I would go with {letter}, although {other} has some appeal.",
        "{letter}. {text}\n\nNot {other}: the text does not mention it.",
        "The answer is {letter}.\n\n| Option | Verdict |\n|---|---|\n| {letter} | correct |\n| {other} | wrong |",
        "| Answer |\n|---|\n| {letter} |",
        "| Question | Answer |\n|---|---|\n| 1 | {letter} |",
        # corrections
        "{other}. Wait, no: {letter}",
        "Answer: {other}\n\nHold on, I misread the last line.\n\nAnswer: {letter}",
        "Answer: {other}\nOn second thought, I have to correct myself.\nAnswer: {letter}",
        "The answer is {other}. Actually, no, the answer is {letter}.",
        "I first thought it was {other}, but it is {letter}.",
        "Initially I chose {other}. However, the correct answer is {letter}.",
        "{other}. {other_text}\n\nSorry, I misread the question. The correct answer is {letter}. {text}",
        "I change my answer from {other} to {letter}.",
        "Final answer: {letter} (I had written {other} before, which was a slip.)",
        "\\boxed{{other}}\n\nWait, let me recheck. I made a mistake above.\n\n\\boxed{{letter}}",
    ),
    "zh": (
        # 陈述
        "答案：{letter}",
        "答案应该是{letter}。",
        "正确答案为（{letter}）。",
        "正确的选项为{letter}：{text}",
        "最合适的选项是{letter}。",
        "最符合题意的是{letter}。",
        "【答案】：{letter}。",
        "【正确答案】{letter}",
        "最终答案：{letter}",
        "最终答案是\\boxed{{letter}}。",
        "答：{letter}",
        "选{letter}",
        "选择{letter}",
        "我认为应该选{letter}。",
        "故选：{letter}",
        "根据原文，选项{letter}正确。",
        "{letter}正确。",
        "{letter}项正确。",
        "{letter}是正确的。",
        "{letter}选项最符合题意。",
        "选项{letter}最合适。",
        "{letter}. {text}\n\n理由：原文最后一句说明了原因。",
        "好的，答案是{letter}。",
        "当然，答案为{letter}。",
        "显然是{letter}。",
        "最有可能的是{letter}。",
        "答案是选项{letter}，即“{text}”。",
        # 繁體
        "正確答案是{letter}。",
        "我認為應該選{letter}。",
        "應選（{letter}）。",
        "因此，答案應為{letter}。",
        "綜上所述，正確答案為{letter}。",
        "我原本以為是{other}，但其實是{letter}。",
        # 先分析后作答
        "分析：原文先交代背景，再说明原因。\n结论：{letter}",
        "逐项分析：\n{verdicts}\n因此正确答案是{letter}。",
        "选项：\n{listing}\n\n答案：{letter}",
        # 先作答再看其他选项
        "不是{other}，而是{letter}。",
        "应选{letter}而不是{other}。",
        "{letter}正确，{other}错误。",
        "**{letter}. {text}**\n\n其他选项不符合：\n{rejected}",
        # 更正
        "{other}。不对，应该是{letter}。",
        "答案：{other}\n更正：答案应为{letter}。",
        "答案：{other}\n\n抱歉，我看错了题目。\n\n答案：{letter}",
        '{"正确答案": "{letter}. {json_text}", "理由": "原文最后一句说明了原因。"}',
    ),
}

NOTHING: Wordings = {
    "any": (
        "",
        "...",
        "?",
        "```\n```",
        "Answer:",
        "Answer: [LETTER]",
        "Answer: $LETTER",
        "Answer: <letter>",
        "\\boxed{}",
        '{"answer": ""}',
        "<think>The answer is {letter}.",
        "◁think▷The answer is {letter}.",
        # an option that is not there
        "{outside}",
        "The answer is {outside}.",
        # two, and no word which of them
        "{letter}\n{other}",
        "{letter}, {other}",
        "Answer: {letter}\nAnswer: {other}",
        '{"answer": ["{letter}", "{other}"]}',
        "{letter}. {text}\n{other}. {other_text}",
        "{listing}",
        "答案：{letter}\n答案：{other}",
    ),
    "en": (
        "The answer is",
        "{letter} or {other}",
        "Either {letter} or {other}.",
        "It could be {letter}, but it could just as well be {other}.",
        "{letter} and {other} are equally likely.",
        "Possible answers: {letter}, {other}",
    ),
    "zh": (
        "答案是",
        "{letter}或{other}",
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
        '{"incorrect_option": "{letter}"}',
    ),
    "en": (
        # denied
        "Not {letter}.",
        "Certainly not {letter}, that much is clear.",
        "The answer is not {letter}.",
        "The answer is definitely not ({letter}).",
        "{letter} is wrong.",
        "{letter}? No.",
        "{letter}. {text} is incorrect.",
        "Option {letter} is the worst choice.",
        "The least suitable option is {letter}.",
        "The worst answer is {letter}.",
        "The option to avoid is {letter}.",
        "I don't think it is {letter}.",
        "I doubt that the answer is {letter}.",
        "We can exclude {letter}.",
        "There is no evidence for {letter}.",
        # withdrawn
        "The answer is {letter}. No, that is not right.",
        "{letter}. Wait, that's not right.",
        "Answer: {letter}\n\nI take that back.",
        "I withdraw my answer {letter}.",
        "I said {letter} earlier, but that was a mistake.",
        "I used to think the answer was {letter}.",
        # asked
        "Is it {letter}?",
        "Would you say {letter}?",
        "Why would anyone choose {letter}?",
        # others say
        "Many would choose {letter}, but they are mistaken.",
        "Most people pick {letter} here.",
        "A careless reader would say {letter}.",
        "You might be tempted to choose {letter}.",
        "The user claims that the answer is {letter}.",
        "It is often assumed that {letter} is correct.",
        # not as things are
        "If the first line were missing, the answer would be {letter}.",
        "Let's assume the answer is {letter} and see what follows.",
        # no answer
        "I don't know.",
        "I cannot answer this.",
        "As an AI, I have no feelings, so I cannot choose {letter} or any other option.",
        "There is not enough information to decide.",
        "None of the above.",
        "None of these options is right.",
    ),
    "zh": (
        # 否定
        "不是{letter}。",
        "{letter}错误。",
        "选项{letter}可以排除。",
        # 收回
        "答案是{letter}。不对，我再想想。",
        "答案是{letter}，但这是错误的。",
        "我原以为是{letter}，但其实不是。",
        "我本來以為是{letter}，但我錯了。",
        "答案：{letter}\n\n等等，这个答案有误，需要重新分析。",
        "我收回{letter}这个答案。",
        # 他人与假设
        "很多人会选{letter}，但他们错了。",
        "粗心的读者会选{letter}。",
        "容易误选{letter}。",
        "如果没有第一句，答案就是{letter}。",
        # 没有答案
        "我不知道。",
        "抱歉，我无法回答这个问题。",
        "抱歉，我无法在{letter}和{other}之间做出选择。",
        "作为人工智能，我没有感情，无法选择{letter}或其他选项。",
        "以上都不对。",
    ),
}
"""Of REFUSE: denied, withdrawn, asked, reported, supposed, declined. An option may say the same ("No", "Not known")."""

CUT_REFUSED: Wordings = {
    "any": (
        "<think>The answer is {letter}. But",
        "<|channel>thought\nThe answer is {letter}. But",
        "<reasoning>The answer is {letter}. But",
    ),
    "en": ("The answer is",),
}
"""Of REFUSE: the reply ended at its token limit."""

EITHER: Mapping[str, Mapping[str, str]] = {
    "any": {
        "{letter}?": "a mark that may be a doubt or a slip",
        '{"answer": "{letter}", "alternative": "{other}"}': "the key says which one is meant, to those who read keys",
        "{verdicts}": "one option only is called right, but none is stated",
        "✅ {letter}. {text}\n❌ {other}. {other_text}": "a tick is as good as a word, to a person",
        '<|channel|>commentary<|message|>{"choice": "{letter}"}<|end|>': "a channel for tools",
        "{letter}\n\n<think>The answer is {other}.</think>": "a thought after the answer is a thought all the same",
    },
    "en": {
        "{letter} maybe": "a guess, but of one",
        "The answer might be {letter}.": "a guess, but of one",
        "Probably {letter}, but {other} is also possible.": "a guess that leans to one",
        "Experts say the answer is {letter}.": "reported, in agreement",
        "{letter} is the only option that is not wrong.": "two denials make a statement",
        "Nothing but {letter} fits.": "a denial of all others",
        "None of the options fits except {letter}.": "a denial of all others",
    },
    "zh": {
        "可能是{letter}。": "a guess, but of one",
        "也许是{letter}吧。": "a guess, but of one",
        "不确定，但我猜是{letter}。": "a guess, but of one",
        "{letter}吧": "a guess, but of one",
        "毫无疑问是{letter}。": "a denial of doubt",
        "据说答案是{letter}。": "reported, in agreement",
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
