"""What follows from premises, a text or a dialogue: FOLIO, LogiQA, MuTual-plus, WSC."""

import re
from collections.abc import Sequence
from dataclasses import replace

from schemas.item import Item, Record, text_id
from tasks.benchmarks.moodbench.datasets.release import MOODBENCH, moodbench_entry, moodbench_file
from tasks.datasets.catalogue import pinned_in, pinned_list
from tasks.datasets.options import choice, find_gold

VERDICTS = {
    "True": "True: the premises imply the conclusion",
    "False": "False: the premises imply that the conclusion does not hold",
    "Uncertain": "Uncertain: the premises imply neither",
}


def _list_premises(record: Record) -> dict[str, str]:
    premises = record.fields["premises"]
    return {"premises": "\n".join(premises), "list": "\n".join(f"- {premise.strip()}" for premise in premises)}


FOLIO = moodbench_entry(
    id="folio",
    evaluation_version="1.1",
    title="FOLIO",
    files=(moodbench_file("basic_ability/NLI/FOLIO_jsonltxt/folio-validation.jsonl"),),
    adapter=choice(
        "Going by the premises alone, how does this conclusion stand? Order the three verdicts, the one that most likely is "
        "right first.\nConclusion: {conclusion}",
        VERDICTS,
        shared="premises",
        read=_list_premises,
        question_type="ranking",
        context="Premises:\n{list}",
    ),
    question_types=("ranking",),
    licence="CC BY-SA 4.0",
    paper="Han et al. 2022, arXiv:2209.00840",
    expected_rows=204,
)

LETTERS = ("A", "B", "C", "D")
BLOCK = 8
# A letter and what the release puts after it: a full stop, a blank, in four options a question mark.
PRINTED = re.compile(r"\s*([A-D])[.?\s]\s*")
# Persons of the text may be called A to D; an option that is just such a name must not stand beside another letter.
NAME = re.compile(r"[A-D]\.?")


def join_logiqa_lines(records: Sequence[Record]) -> list[Record]:
    """Join blocks of eight lines (none, letter, text, question, options) to questions."""
    return [_join(records[start : start + BLOCK]) for start in range(0, len(records), BLOCK)]


def adapt_logiqa(record: Record) -> Item:
    """`label` is the letter printed before the right option; 19 questions print their options in the order A, C, B, D.

    Options are put in the order of their letters. Where the printed letters are not all four, the label is the option's place.
    """
    fields = record.fields
    options = _order_options(fields["options"])
    return Item(
        context=fields["text"].strip(),
        question=fields["question"].strip(),
        options=options,
        gold_indices=find_gold("abcd", fields["label"].strip()),
        fixed_order=any(NAME.fullmatch(option) for option in options),
        cluster=text_id(fields["text"].strip()),
    )


def _join(block: Sequence[Record]) -> Record:
    _, label, text, question, *options = (record.fields["line"] for record in block)
    return replace(block[0], fields={"label": label, "text": text, "question": question, "options": options})


def _order_options(printed: Sequence[str]) -> tuple[str, ...]:
    """Options without their letters, in the order of these; with less than four letters they stay in their places."""
    marks = [PRINTED.match(option) for option in printed]
    letters = [mark.group(1) if mark else None for mark in marks]
    complete = sorted(letter or "" for letter in letters) == list(LETTERS)
    # Where letters lack, one that is not the place's own belongs to the sentence.
    bare = [
        option[mark.end() :].strip() if mark and (complete or letter == own) else option.strip()
        for option, mark, letter, own in zip(printed, marks, letters, LETTERS, strict=True)
    ]
    return tuple(bare[letters.index(letter)] for letter in LETTERS) if complete else tuple(bare)


LOGIQA = moodbench_entry(
    id="logiqa",
    evaluation_version="1.1",
    title="LogiQA",
    files=(pinned_in("github.com/lgw863/LogiQA-dataset", "ff6c4cbca47627b3ac2da94a29fa28204a167b41")("Test.txt"),),
    file_format="lines",
    join_records=join_logiqa_lines,
    adapter=adapt_logiqa,
    licence="CC BY-NC-SA 4.0",
    paper="Liu et al. 2020, arXiv:2007.08124",
    expected_rows=5208,
)

# Turns are run together; M and F say who speaks. A time of day such as 5:30 is no turn.
TURN = re.compile(r"\s+(?=[MF]:)")


def _read_dialogue(record: Record) -> dict[str, str | list[str]]:
    """Put turns on lines and replies on one line each; a reply that asks to repeat is right if no other fits."""
    fields = record.fields
    replies = [" ".join(option.split()) for option in fields["options"]]
    return {"dialogue": TURN.sub("\n", fields["article"].strip()), "replies": replies}


MUTUAL = moodbench_entry(
    id="mutual",
    evaluation_version="1.1",
    title="MuTual-plus",
    files=pinned_list("mutual", MOODBENCH),
    file_format="jsonl",
    adapter=choice(
        "Which of these replies continues the dialogue logically? Speakers are marked M (man) and F (woman).",
        {letter: f"{{replies[{index}]}}" for index, letter in enumerate(LETTERS)},
        gold="answers",
        shared="article",
        read=_read_dialogue,
        context="{dialogue}",
    ),
    licence="none stated upstream",
    paper="Cui et al. 2020, MuTual: A Dataset for Multi-Turn Dialogue Reasoning, arXiv:2004.04494",
)


def _mark_pronoun(record: Record) -> dict[str, str]:
    """Mark the pronoun, of which the text may have several, at the word `span2_index` or, as one record needs, the next."""
    fields = record.fields
    words, pronoun, start = fields["text"].split(), fields["span2_text"].split(), fields["span2_index"]
    if words[start : start + len(pronoun)] != pronoun:
        start += 1
    marked = [*words[:start], f"**{' '.join(pronoun)}**", *words[start + len(pronoun) :]]
    return {"marked": " ".join(marked), "pronoun": " ".join(pronoun)}


WSC = moodbench_entry(
    id="wsc",
    evaluation_version="1.1",
    title="WSC",
    files=(moodbench_file("basic_ability/NLI/wsc.fixed_parquet/validation-00000-of-00001.parquet"),),
    adapter=choice(
        'Does the pronoun marked as **{pronoun}** refer to "{span1_text}"?',
        {1: "yes", 0: "no"},
        shared="text",
        read=_mark_pronoun,
        context="{marked}",
    ),
    licence="CC BY 4.0 (as known upstream, not verified)",
    paper="Levesque et al. 2012, The Winograd Schema Challenge; SuperGLUE, arXiv:1905.00537",
    expected_rows=104,
)
