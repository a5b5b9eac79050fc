"""Emotion classification: what a person feels, or what tone a report has, in a passage hidden in a novel.

Source: LongEmotion, sections 3.1 and 3.2.1. The released files show what the paper leaves open: an EmoBench scenario with its
choices and label in book text. Of FinEntity's reports (Tang et al. 2023) LongEmotion took 200 and does not say which; which of
them, and which entity of each, become needles is decided here.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from itertools import groupby
from random import Random

from schemas.context import ContextOptions, LazySample, SampleBuilder
from schemas.dataset import DatasetSpec
from schemas.item import Record
from tasks.benchmarks.longemotion.datasets.release import PAPER
from tasks.benchmarks.longemotion.needle.haystacks import Haystack, lay_out
from tasks.benchmarks.longemotion.needle.names import clashing_names, names_in
from tasks.benchmarks.longemotion.needle.needles import Needle, list_grid, match_layout
from tasks.benchmarks.moodbench.datasets.emotional_situations import UPSTREAM
from tasks.datasets.catalogue import pinned_in, read_differences

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
        if texts[text] > 1 or not _is_usable(text, record):
            continue
        entities = {entity: tone for entity, tone in _entities(record, text, haystack) if needed[tone] > 0}
        if entities:
            # Of several with the wanted tone, the first in the report.
            entity = min(entities, key=lambda name: (-needed[entities[name]], text.index(name)))
            needed[entities[entity]] -= 1
            content = text if options.needle_style == "matched" else record.fields["content"]
            chosen.append(_needle(record, content, entity, entities[entity]))
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


def _is_usable(text: str, record: Record) -> bool:
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


EMOBENCH_LENGTHS = (10_000, 30_000)
FINENTITY_LENGTHS = (20_000, 67_000)
"""Shortest and longest length in tokens, drawn uniformly: around the released means, 19,345 and 43,588."""

OPENING_WORDS = 8
_NAMED = "The text tells of {subject}. What would {subject} most likely feel in the end?"
_UNNAMED = 'One passage of the text begins "{opening}". What would {subject} of that passage most likely feel in the end?'
_UNPLACED = "What would {subject} most likely feel in the end?"

Find = Callable[[Sequence[Record], Haystack, ContextOptions], Sequence[Needle]]


def ask_feeling(subject: str, text: str | None) -> str:
    """Return the question about a person's feeling; one without a name is named by the first words of the passage, if any."""
    if names_in(subject):
        return _NAMED.format(subject=subject)
    whom = "the narrator" if subject == "I" else subject.replace("my ", "the narrator's ", 1)
    if text is None:
        return _UNPLACED.format(subject=whom)
    opening = " ".join(text.split()[:OPENING_WORDS]).replace('"', "'")
    return _UNNAMED.format(opening=opening, subject=whom)


def find_scenarios(records: Sequence[Record], haystack: Haystack, _options: ContextOptions) -> Sequence[Needle]:
    """Return the English scenarios of EmoBench, one needle per question about one."""
    english = [record for record in records if record.fields["language"] == "en"]
    names = frozenset().union(*(names_in(record.fields["subject"].strip()) for record in english))
    return [_scenario(record, names, haystack) for record in english]


def _scenario(record: Record, names: frozenset[str], haystack: Haystack) -> Needle:
    fields = record.fields
    text, subject, qid = (fields[name].strip() for name in ("scenario", "subject", "qid"))
    choices = list(fields["emotion_choices"])
    Random(record.sha256).shuffle(choices)  # noqa: S311 - a fixed draw, not a secret
    return Needle(
        name=f"ec_emobench-{qid}",
        task="ec_emobench",
        record=record,
        needle_id=qid,
        text=text,
        subject=subject,
        choices=tuple(choices),
        label=fields["emotion_label"],
        ask=ask_feeling,
        subset=fields["coarse_category"],
        clashing=tuple(clashing_names(text, subject, names, haystack)),
    )


# A text hidden in a book must not be shown by its layout. Books break their lines at a fixed width, needles do not; so paragraphs
# are unwrapped, and what is laid out in another way (verse, plays, tables, letters' heads) is left out.
BEGINS, ENDS = "CHAPTER I.", "THE END."
FULL_LINE = 50
"""Characters. Lines of prose that another one follows are longer; those of verse are not."""


def read_prose(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the paragraphs of the prose between the first chapter's heading and the end of the story.

    Licence, front matter and advertisements lie outside. Underscores, which mark italics, are removed.
    """
    stripped = [line.rstrip() for line in lines]
    story = stripped[stripped.index(BEGINS) : stripped.index(ENDS)]
    blocks = [list(run) for is_block, run in groupby(story, key=bool) if is_block]
    return tuple(" ".join(" ".join(block).replace("_", "").split()) for block in blocks if _is_prose(block))


def _is_prose(block: Sequence[str]) -> bool:
    return not any(line[0] in " [*" for line in block) and all(len(line) >= FULL_LINE for line in block[:-1])


def hidden_in_a_book(find: Find, drawn: tuple[int, int]) -> SampleBuilder:
    """Return a sample builder that hides the needles among its records in the book whose lines are the other ones."""

    def build_samples(records: Sequence[Record], options: ContextOptions, seed: int) -> Sequence[LazySample]:
        lines = [record for record in records if "line" in record.fields]
        name = lines[0].file
        paragraphs = read_prose([record.fields["line"] for record in lines])
        # Names and duplicates are looked for in the book as it is printed, in either style.
        printed = lay_out(paragraphs, name, "matched")
        needles = find([record for record in records if "line" not in record.fields], printed, options)
        return list_grid(needles, lay_out(paragraphs, name, options.needle_style), options, drawn, seed)

    return build_samples


list_emobench_samples = hidden_in_a_book(find_scenarios, EMOBENCH_LENGTHS)
"""Sample builder of EC-E, from EmoBench's EU.jsonl and the lines of a Gutenberg book."""

list_finentity_samples = hidden_in_a_book(find_reports, FINENTITY_LENGTHS)
"""Sample builder of EC-F, from FinEntity.json and the lines of a Gutenberg book."""

_novel_file = pinned_in("github.com/GITenberg/The-Little-Colonel-s-Hero_15122", "69e1e7ab1c6c998ea3e46e8b55239fe480b657c4")

_NOVEL = _novel_file("15122.txt", record_format="lines")
"""Annie Fellows Johnston, The Little Colonel's Hero, 1902, as Project Gutenberg has it (63,233 tokens of prose)."""

_NOVEL_LICENCE = "novel: public domain in the USA"

_BOOK = (
    "The haystack is one Gutenberg novel, in place of slices of BookCorpus.",
    "Of the novel's file, licence, front matter, verse and the play of chapter XIII are left out; paragraphs are lines.",
    "A context longer than the novel goes on from the novel's start; Context.haystack records it. No needle occurs twice.",
    "needle_style matched: the needle is laid out as the novel is. As released (as_is), capitals and spacing give it away.",
    "Neither paper nor code says how lengths and depths were chosen: drawn uniformly, or given by context.lengths and .depths.",
)

EC_EMOBENCH = DatasetSpec(
    id="longemotion_ec_emobench",
    evaluation_version="1.1",
    title="LongEmotion, emotion classification of EmoBench scenarios, built anew",
    files=(UPSTREAM, _NOVEL),
    sample_builder=list_emobench_samples,
    task="ec_emobench",
    question_types=("label_choice",),
    licence=f"EmoBench: MIT; {_NOVEL_LICENCE}",
    paper=f"{PAPER}, sections 3.1 and 3.2.1; scenarios: Sabour et al. 2024, arXiv:2402.12071",
    expected_rows=400 + 7296,
    differences=(*_BOOK, *read_differences("longemotion_ec_emobench")),
)

EC_FINENTITY = DatasetSpec(
    id="longemotion_ec_finentity",
    title="LongEmotion, emotion classification of FinEntity reports, built anew",
    evaluation_version="1.1",  # contexts as long as the released ones on average
    files=(pinned_in("github.com/yixuantt/FinEntity", "3b6cedc5485b669c2ed168f1d949f517636eb7b8")("data/FinEntity.json"), _NOVEL),
    sample_builder=list_finentity_samples,
    task="ec_finentity",
    question_types=("label_choice",),
    licence=f"FinEntity: not stated upstream; {_NOVEL_LICENCE}",
    paper=f"{PAPER}, sections 3.1 and 3.2.1; reports: Tang et al. 2023, arXiv:2310.12406",
    expected_rows=979 + 7296,
    differences=(*_BOOK, *read_differences("longemotion_ec_finentity")),
)
