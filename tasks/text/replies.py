"""Tell what a model thought from what it answers, by the marks between the two, and find the JSON object in a reply."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from schemas.json_yaml import DEEPEST

_LEFT = r"(?:<|＜|◁|&(?:amp;)?lt;|\\u003c|\[(?=THINK(?:ING)?\]|/(?i:think(?:ing)?)\]))"
_RIGHT = r"(?:>|＞|▷|\]|&(?:amp;)?gt;|\\u003e)"
_NAME = (
    r"(?i:(?:(?:\w{1,20}[:_-])?(?:think(?:ing)?|thoughts?|reasoning|scratchpad|monologue)(?:[_-]\w{1,20})?)"
    r"|antthinking|reflection|analysis|cot|思考)\s{0,9}"
)
_CHANNEL = rf"\|channel\|?{_RIGHT}\s{{0,9}}"
_MESSAGE = rf"(?:\s{{0,9}}(?:to=[^<&]{{0,80}})?(?:{_LEFT}\|constrain\|{_RIGHT})?\w{{0,20}}{_LEFT}\|message\|{_RIGHT})?"
_FORMS = {
    # </Thinking >, [/THINK], ◁/think▷, <|END_THINKING|>; <|think_end|>, <think/>; Gemma: <|channel>thought ... <channel|>
    "closes": rf"\|?\s{{0,9}}(?:[/\\]\s{{0,9}}|(?i:end_(?:of_)?)){_NAME}\|?{_RIGHT}|\|?{_NAME}(?:(?<=(?i:_end))\||/){_RIGHT}"
    rf"|(?:/?channel\||unused95){_RIGHT}",
    # Whatever stands before it is no answer. What gpt-oss says in its commentary is one if nothing else comes.
    "answers": rf"{_CHANNEL}(?:final|commentary(?!\s{{0,9}}to=)){_MESSAGE}|\|im_start\|{_RIGHT}\s{{0,9}}answer\b"
    rf"|\|(?i:begin_of_solution|start_response|response|answer|final)\|{_RIGHT}",
    "ends": rf"\|(?:(?i:end_of_solution|end_response)|end|return|call|message|start)\|{_RIGHT}(?:assistant\b)?",
    "opens": rf"\|?\s{{0,9}}{_NAME}(?:(?<=\s)[^<>]{{0,200}})?\|?{_RIGHT}|{_CHANNEL}(?:analysis|thought|commentary)?{_MESSAGE}"
    rf"|unused94{_RIGHT}|\|im_start\|{_RIGHT}\s{{0,9}}think\b",
}
_MARK = re.compile(_LEFT + "(?:" + "|".join(f"(?P<{kind}>{forms})" for kind, forms in _FORMS.items()) + ")")
_WORDS = re.compile(r'(?:\A\s*+(?=(?:analysis|commentary)(?:[^\W_]|["“]))|assistant\n{0,2})(analysis|commentary|final)')
"""Channels of gpt-oss where a detokenizer dropped its tokens: "analysisShe smiles ... assistantfinalB"."""

_GRANITE = re.compile(r"\A\s*+Here(?:'s| is) my thought process:?(.*?)Here(?:'s| is) my response:?", re.DOTALL)
"""Granite marks what it thinks in words."""

_SIGN_OF_MARK = re.compile(r"[<＜◁&\[\\]|assistant|analysis|commentary|Here")
"""Without any of these a reply has no mark, which is soon seen: most replies have none."""

_QUOTE, _END_OF_QUOTE = re.compile(r"""(?<![A-Za-z0-9.,;!?…)\]。，！？])[`'"]|[“‘「『《]"""), re.compile("[`'\"”’」』》]")
_WITHIN_SENTENCE = re.compile(r"(?<=\S )[^\s>]{1,40}>(?:[,.;:)]| [a-z])")


def strip_reasoning(reply: str) -> str:
    """Return the answer in a reply, without what the model thought: see `split_reasoning`."""
    return split_reasoning(reply)[1].strip()


def split_reasoning(reply: str) -> tuple[str | None, str]:
    """Split a reply into what the model thought and its answer; a reply without marks is the answer as it is.

    * A thought that is closed but never opened begins with the reply: chat templates swallow the opening mark.
    * One that is never closed was cut off: it goes on to the end, and what stood before it is the answer.
    * A thought may name the mark that closes it, so the last one counts behind which anything is said.
    * A mark in quotes is spoken of. So is one that opens a thought within a sentence, and one that would cut off how a JSON
      object begins.
    """
    if not _SIGN_OF_MARK.search(reply):
        return None, reply
    text = _GRANITE.sub(r"<think>\1</think>", _WORDS.sub(r"<|channel|>\1", reply))
    marks = [mark for mark in _MARK.finditer(text) if not _is_spoken_of(mark)]
    borders = [0, *(border for mark in marks for border in mark.span()), len(text)]
    pieces = [text[start:end] for start, end in zip(borders[::2], borders[1::2], strict=True)]
    last_words = max((index for index, piece in enumerate(pieces) if piece.strip()), default=0)
    thoughts, rest, depth = list[str](), list(filter(str.strip, pieces[:1])), 0
    current = rest
    for index, kind in enumerate((mark.lastgroup for mark in marks), 1):
        # Behind the last word of a reply that has had its thought, a mark that closes nothing is one too many.
        swallowed = kind == "closes" and current is rest and (depth or index <= last_words or not thoughts)
        if kind == "answers" or swallowed:
            thoughts += rest
            rest.clear()
        current = thoughts if kind == "opens" else rest
        depth = depth + 1 if kind == "opens" else 0 if kind == "answers" else max(0, depth - 1)
        current += filter(str.strip, pieces[index : index + 1])
    answer = "".join(rest).strip()
    if not marks or (answer[:1] != "{" and reply.lstrip()[:1] == "{" and reply.rstrip()[-1:] == "}"):
        return None, reply
    return "\n\n".join(map(str.strip, thoughts)) or None, answer


def _is_spoken_of(mark: re.Match[str]) -> bool:
    text, start = mark.string, mark.start()
    quoted = start and _QUOTE.match(text, start - 1) and _END_OF_QUOTE.match(text, mark.end())
    return bool(quoted or (mark.lastgroup == "opens" and _WITHIN_SENTENCE.match(text, start)))


_DECODER = json.JSONDecoder(strict=False)
"""Lets line breaks stand in a text: models write them, and they leave no doubt about what is meant."""

_START = re.compile(r'\{\s*"')
_FENCE = re.compile(r"```(?:json)?\s*+(.*?)```", re.DOTALL | re.IGNORECASE)


def read_object(text: str | None) -> Mapping[str, Any] | None:
    """Return the JSON object of a reply: its whole text, else a fenced block, else what the outermost braces hold.

    Raw line breaks in strings are mended; of a list the first object counts. Empty if there is none, null if no reply came.
    """
    if text is None:
        return None
    for candidate in _candidates(text):
        try:
            value = _DECODER.decode(candidate)
        except (ValueError, RecursionError):
            continue
        for entry in value if isinstance(value, list) else (value,):
            if isinstance(entry, dict):
                return entry
    return {}


def objects_from_end(text: str, decoder: json.JSONDecoder = _DECODER) -> Iterator[Any]:
    """Yield the complete JSON objects that have a key, as the decoder gives them, the one that begins last first.

    After DEEPEST in a row that are not complete it ends: what holds them is nested too deep to be meant.
    """
    # Behind the last brace that closes nothing is complete: a reply that opens objects without end costs no time.
    failed = 0
    for start in reversed([match.start() for match in _START.finditer(text, 0, text.rfind("}") + 1)]):
        try:
            yield decoder.raw_decode(text, start)[0]
            failed = 0
        except (ValueError, RecursionError):
            failed += 1
            if failed > DEEPEST:
                return


def _candidates(text: str) -> Iterator[str]:
    if text.lstrip()[:1] in ("{", "["):
        yield text
    answer = strip_reasoning(text)
    yield from _FENCE.findall(answer)
    yield answer[answer.find("{") : answer.rfind("}") + 1]
