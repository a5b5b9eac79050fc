"""Figurative language: SemEval-2018 Task 3 (irony), VUA20 (metaphor). The class that F1 is about is option 0."""

import re
from collections.abc import Iterable

from schemas.item import Item, Record
from tasks.datasets.adapters.labels import find_gold, label_item

# The tweets were collected by these tags, so every ironic one still carries one. The task's own input files have lost them.
COLLECTED_BY = re.compile(r"(?i)#(?:irony|sarcasm|not)\b")
SPACES = re.compile(r"\s+")
IRONY = ("ironic", "not ironic")
USES = ("used metaphorically", "used literally")
METAPHOR_QUESTION = (
    'Is the word "{word}", marked with asterisks, used metaphorically or literally in this sentence? It is used metaphorically '
    "if its meaning here differs from a more basic meaning of the word and can be understood by comparison with that one."
)


def adapt_semeval2018_task3(record: Record) -> Iterable[Item]:
    """`Label` "1" = ironic, "0" = not. The hashtags #irony, #sarcasm and #not are taken out of the tweet."""
    tweet = SPACES.sub(" ", COLLECTED_BY.sub("", record.fields["Tweet text"])).strip()
    gold = find_gold({"1": 0, "0": 1}, record.fields["Label"])
    return [label_item("en", tweet, "Is this tweet ironic?", IRONY, gold)]


def adapt_vua20(record: Record) -> Iterable[Item]:
    """`w_index`: place of the word among those that spaces part; `label` "1" = metaphor. `subset`: part of speech."""
    fields = record.fields
    words = fields["sentence"].split(" ")
    place = int(fields["w_index"])
    if place < 0:
        raise ValueError(f"the place of the word is {place}, below 0")
    word = words[place]
    sentence = " ".join([*words[:place], f"*{word}*", *words[place + 1 :]])
    gold = find_gold({"1": 0, "0": 1}, fields["label"])
    item = label_item("en", sentence, METAPHOR_QUESTION.format(word=word), USES, gold)
    return [item.model_copy(update={"subset": fields["POS"]})]
