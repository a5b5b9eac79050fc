"""FinEntity: which of its financial reports, and which entity of each, become needles.

Source: Tang et al. 2023, FinEntity. LongEmotion took 200 and does not say which.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from hashlib import sha256

from schemas.context import ContextOptions
from schemas.item import Record
from tasks.benchmarks.longemotion.needle.haystacks import Haystack
from tasks.benchmarks.longemotion.needle.needles import Needle, match_layout

QUOTAS = {"Positive": 67, "Neutral": 67, "Negative": 66}
"""As balanced as 200 items with three labels can be."""

FEWEST_WORDS = 12

_CODE = re.compile(r"\s*(?:<[^<>\s]+>|\[[^\[\]\s]+\])")
_NOT_PROSE = re.compile(r"[�*@]|\(\(|\(Reporting|CONTEXT|https?:|Graphic|^\W*[A-Z]{3,}:")
_SENTENCE = re.compile(r"[\"A-Z].*[.!?][\"')]?", re.DOTALL)


def ask_tone(subject: str, _text: str | None) -> str:
    """Return the question about the tone towards a company, market or the like."""
    return f"What tone does the text take towards {subject}?"


def find_reports(records: Sequence[Record], haystack: Haystack, options: ContextOptions) -> Sequence[Needle]:
    """Return at most one entity per usable report, until each tone has its quota; the same ones whatever the seed.

    Usable: complete sentences of at least 12 words without a byline, a list mark or unreadable characters, whose text occurs once
    and with no entity of two tones. An entity must stand in the text as whole words, lie in no other one, and not occur in the
    haystack. Reports come in the order of their hashes; each is given to the tone, among those of its entities, that lacks most.
    Those returned are in the order of the file; `matched` ones have no wire codes (`<ACME.N>`, `[nL1N2A3B4C]`).
    """
    needed = Counter(QUOTAS)
    chosen = []
    usable = [(record, match_layout(_CODE.sub("", record.fields["content"]))) for record in records]
    texts = Counter(text for _, text in usable)
    for record, text in sorted(usable, key=lambda pair: sha256(pair[1].encode()).digest()):
        if texts[text] > 1 or not _is_prose(text, record):
            continue
        entities = {entity: tone for entity, tone in _entities(record, text, haystack) if needed[tone] > 0}
        if entities:
            # Of several with the wanted tone, the first in the report.
            entity = min(entities, key=lambda name: (-needed[entities[name]], text.index(name)))
            needed[entities[entity]] -= 1
            shown = text if options.needle_style == "matched" else record.fields["content"]
            chosen.append(_needle(record, shown, entity, entities[entity]))
    return sorted(chosen, key=lambda needle: needle.record.row)


def _needle(record: Record, text: str, entity: str, tone: str) -> Needle:
    return Needle(
        name=f"ec_finentity-{record.row}",
        task="ec_finentity",
        record=record,
        needle_id=str(record.row),
        text=text,
        subject=entity,
        choices=tuple(QUOTAS),
        label=tone,
        ask=ask_tone,
    )


def _is_prose(text: str, record: Record) -> bool:
    whole = _SENTENCE.fullmatch(" ".join(_CODE.sub("", record.fields["content"]).split())) is not None
    return whole and text.count('"') % 2 == 0 and not _NOT_PROSE.search(text) and len(text.split()) >= FEWEST_WORDS


def _entities(record: Record, text: str, haystack: Haystack) -> Iterator[tuple[str, str]]:
    tones: defaultdict[str, set[str]] = defaultdict(set)
    for annotation in record.fields["annotations"]:
        tones[annotation["value"].strip()].add(annotation["label"])
    if any(len(labels) > 1 for labels in tones.values()):
        return
    for entity, labels in tones.items():
        nested = any(entity in other and entity != other for other in tones)
        if entity and not nested and occurs(entity, text) and not occurs(entity.lower(), haystack.lower_text):
            yield entity, next(iter(labels))


def occurs(words: str, text: str) -> bool:
    """Return whether words stand in a text with no letter or digit right before or after them."""
    # The plain search first: it is a hundred times as fast, and most words are not there.
    return words in text and re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text) is not None
