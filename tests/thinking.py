"""How models write what they think before they answer, for servers and unit tests alike."""

from collections.abc import Callable

Wrap = Callable[[str, str], str]
"""From a thought and an answer to a reply."""


def between(opening: str, closing: str) -> Wrap:
    return lambda thought, answer: f"{opening}{thought}{closing}{answer}"


FORMS: dict[str, Wrap] = {
    "think": between("<think>", "</think>"),
    "line breaks": between("<think>\n", "\n</think>\n\n"),
    "upper case": between("<THINKING>", "</THINKING>"),
    "blanks": between("< think >", "</ think >"),
    "attributes": between('<thinking budget="300" mode=deep>', "</thinking>"),
    "thought": between("<thought>", "</thought>"),
    "reasoning": between("<reasoning>", "</reasoning>"),
    "reflection": between("<Reflection>", "</Reflection>"),
    "scratchpad": between("<scratchpad>", "</scratchpad>"),
    "analysis tag": between("<analysis>", "</analysis>"),
    "inner monologue": between("<inner_monologue>", "</inner_monologue>"),
    "prefix": between("<seed:think>", "</seed:think>"),
    "antthinking": between("<antThinking>", "</antThinking>"),
    "Chinese": between("<思考>", "</思考>"),
    "escaped": between("&lt;think&gt;", "&lt;/think&gt;"),
    "escaped twice": between("&amp;lt;think&amp;gt;", "&amp;lt;/think&amp;gt;"),
    "escaped as in JSON": between("\\u003cthink\\u003e", "\\u003c/think\\u003e"),
    "full width": between("＜think＞", "＜/think＞"),
    "backslash": between("<think>", "<\\think>"),
    "square brackets": between("[THINK]", "[/THINK]"),
    "no opening, square brackets": between("[thinking] ", "[/thinking]"),
    "triangles": between("◁think▷", "◁/think▷"),
    "tokens": between("<|begin_of_thought|>", "<|end_of_thought|>"),
    "tokens and a solution": lambda thought, answer: (
        f"<|begin_of_thought|>\n{thought}\n<|end_of_thought|>\n\n<|begin_of_solution|>\n{answer}\n<|end_of_solution|>"
    ),
    "tokens and a response": lambda thought, answer: (
        f"<|START_THINKING|>{thought}<|END_THINKING|><|START_RESPONSE|>{answer}<|END_RESPONSE|>"
    ),
    "tokens named at their ends": between("<|think_start|>", "<|think_end|>"),
    "thought token and answer token": between("<|thought|>", "<|answer|>"),
    "Gemma": between("<|channel>thought\n", "\n<channel|>"),
    "Gemma without a name": between("<|channel>\n", "\n<channel|>\n"),
    "unused tokens": between("<unused94>thought\n", "<unused95>"),
    "roles": between("<|im_start|>think\n", "\n<|im_start|>answer\n"),
    "Granite": between("Here is my thought process:\n", "\nHere is my response:\n"),
    "gpt-oss": lambda thought, answer: (
        f"<|channel|>analysis<|message|>{thought}<|end|><|start|>assistant<|channel|>final<|message|>{answer}<|return|>"
    ),
    "gpt-oss from its start": lambda thought, answer: (
        f"<|start|>assistant<|channel|>analysis<|message|>{thought}<|end|>\n<|start|>assistant<|channel|>final<|message|>{answer}"
    ),
    "gpt-oss with commentary": lambda thought, answer: (
        f"<|channel|>analysis<|message|>{thought}<|end|><|start|>assistant<|channel|>commentary<|message|>{thought}<|end|>"
        f"<|start|>assistant<|channel|>final <|constrain|>json<|message|>{answer}<|return|>"
    ),
    "gpt-oss with a tool": lambda thought, answer: (
        f"<|channel|>analysis<|message|>{thought}<|end|><|start|>assistant<|channel|>commentary to=functions.look "
        f"<|constrain|>json<|message|>{thought}<|call|><|start|>assistant<|channel|>final<|message|>{answer}<|return|>"
    ),
    "gpt-oss escaped": lambda thought, answer: (
        f"&lt;|channel|&gt;analysis&lt;|message|&gt;{thought}&lt;|end|&gt;"
        f"&lt;|start|&gt;assistant&lt;|channel|&gt;final&lt;|message|&gt;{answer}"
    ),
    "gpt-oss without tokens": lambda thought, answer: f"analysis{thought}assistantfinal{answer}",
    "gpt-oss in words": lambda thought, answer: (
        f"analysis{thought}assistantcommentary{thought}assistantanalysis{thought}assistantfinal{answer}"
    ),
    "gpt-oss without its beginning": lambda thought, answer: (
        f"{thought}<|end|><|start|>assistant<|channel|>final<|message|>{answer}"
    ),
    "no opening": lambda thought, answer: f"{thought}\n</think>\n\n{answer}",
    "no opening, Gemma": lambda thought, answer: f"thought\n{thought}<channel|>{answer}",
    "no opening, token": lambda thought, answer: f"{thought}<|END_THINKING|>{answer}",
    "again": lambda thought, answer: f"<think>{thought}</think>\n<think>{thought}</think>{answer}",
    "in one another": lambda thought, answer: (
        f"<thinking>{thought}<reflection>{thought}</reflection>{thought}</thinking>{answer}"
    ),
    "named": lambda thought, answer: f"<think>The tag `</think>` would end this. {thought}</think>{answer}",
    "named without quotes": lambda thought, answer: f"<think>I end this with </think> and answer. {thought}</think>{answer}",
    "empty before it": lambda thought, answer: f"<think>\n\n</think>\n{thought}</think>\n{answer}",
    "closed twice": lambda thought, answer: f"<think>{thought}</think>{answer}</think>",
    "afterwards": lambda thought, answer: f"{answer}<reflection>{thought}</reflection>",
}
"""Replies whose answer is the answer and nothing else, by what is special about them."""

THOUGHT = 'She smiles at the end. Is the answer A? {"answer": "A", "choice": "A"} I would give it a 1.\nThe answer is A.'
"""What any reader would take for an answer."""
