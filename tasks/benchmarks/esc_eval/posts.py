"""What role cards are made of: posts and dialogues of a file, or of a corpus that ESC-Eval (arXiv 2406.14952) draws from."""

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self

from pydantic import Field, StringConstraints, model_validator

from schemas.base import Frozen
from schemas.errors import RecordError, SourceMissingError
from schemas.vocabulary import Language
from tasks.datasets.building import UNUSABLE, rank
from tasks.judging.cards import Card
from tasks.sources.reading import read_records

Filled = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class PostTurn(Frozen):
    """What one party of a dialogue says."""

    speaker: Filled
    text: Filled


class Post(Frozen):
    """One line of the file: a post (`text`), or a dialogue (`turns`) that a summary (`situation`) may stand before."""

    id: Filled = Field(description="a unique name")
    language: Language = Field(description="the card is written in it")
    source: Filled = Field(description="where it comes from; results can be broken down by it")
    text: Filled | None = Field(default=None, description="a post")
    situation: Filled | None = Field(default=None, description="a summary before the dialogue")
    turns: tuple[PostTurn, ...] = ()

    @model_validator(mode="after")
    def _post_or_dialogue(self) -> Self:
        if bool(self.text) == bool(self.turns) or (self.text and self.situation):
            raise ValueError("a post has only text; a dialogue has turns and may have a situation")
        return self

    @property
    def row(self) -> Card:
        """Return what enters the first step."""
        lines = [self.text or self.situation or "", *(f"{turn.speaker}: {turn.text}" for turn in self.turns)]
        row = {"card_id": self.id, "form": "dialogue" if self.turns else "post", "posted": "\n".join(lines).strip()}
        return row | {"text": None, "language": self.language, "source": self.source}


def read_posts(path: Path) -> list[Card]:
    """Return the posts and dialogues of a JSONL file; raise RecordError if a line is none, or has the id of an earlier one."""
    rows: dict[str, Card] = {}
    for record in read_records(path, "jsonl", own=True):
        try:
            post = Post.model_validate(record.fields)
            if post.id in rows:
                raise ValueError(f"id {post.id} is used twice")
        except ValueError as error:
            raise RecordError(
                "a line is neither a post nor a dialogue",
                where=f"{path}, row {record.row} (0-based)",
                expected="id, language (en or zh), source, and text or turns",
                got=" ".join(str(error).split())[:300],
                next_step="correct the line; moodflow docs build-cards describes the fields",
            ) from error
        rows[post.id] = post.row
    return list(rows.values())


def draw(rows: Sequence[Card], sample: int | None, seed: int) -> list[Card]:
    """Return the rows that are drawn until so many are posts or cards: those with a reason are none; all if sample is null.

    A row's rank rests on the seed and its text, as in the draw of a dataset's items.
    """
    if sample is None:
        return list(rows)
    drawn = sorted(rows, key=lambda row: rank(seed, row["posted"] or row["text"] or row["card_id"]))
    before = accumulate((row.get("reason") is None for row in drawn), initial=0)
    return [row for row, n_good in zip(drawn, before, strict=False) if n_good < sample]


class Corpus(NamedTuple):
    """A corpus: the records that the paper draws, the files of its public form, and what makes a post or dialogue of a record.

    `is_whole`: a file is one record, a list of turns.
    """

    title: str
    language: Language
    sample: int
    files: str
    post: Callable[[Any], Mapping[str, Any]]
    is_whole: bool = False


def _texts(*fields: str) -> Callable[[Mapping[str, str]], Mapping[str, Any]]:
    return lambda record: {"text": "\n".join(record[field] for field in fields)}


def _turns(turns: Sequence[Mapping[str, str]], speaker: str) -> list[dict[str, str]]:
    return [{"speaker": turn[speaker], "text": turn["content"]} for turn in turns]


def _esconv(record: Mapping[str, Any]) -> dict[str, Any]:
    return {"situation": record["situation"], "turns": _turns(record["dialog"], "speaker")}


def _extes(record: Mapping[str, Any]) -> dict[str, Any]:
    """Each turn is an object with the words of User or of AI; an AI's has its strategy, too."""
    spoken = [{"speaker": name, "text": turn[name]} for turn in record["content"] for name in ("User", "AI") if name in turn]
    return {"situation": record["description"], "turns": spoken}


CORPORA = {
    "epitome": Corpus("EPITOME", "en", 500, "*.csv", _texts("seeker_post")),
    "mhp_reddit": Corpus("MHP Reddit", "en", 1000, "*.csv", _texts("title", "text")),
    "psych8k": Corpus("Psych8K", "en", 1000, "*.json", _texts("input")),
    "esconv": Corpus("ESConv", "en", 1000, "*.json", _esconv),
    "extes": Corpus("ExTES", "en", 500, "*.json", _extes),
    "psyqa": Corpus("PsyQA", "zh", 1000, "*.json", _texts("question", "description")),
    "smile": Corpus("Smile", "zh", 1000, "*.json", lambda turns: {"turns": _turns(turns, "role")}, is_whole=True),
}
"""The seven of the paper's section 3.1."""


def read_corpus(name: str, corpus: Corpus, folder: Path | None) -> list[Card]:
    """Return the records of a corpus; one that is no post, or repeats one, has the rule that it breaks as its reason.

    Raises:
        SourceMissingError: there is no such file.
        SourceError: a file cannot be read.
    """
    paths = sorted(folder.glob(corpus.files)) if folder else []
    if not paths:
        raise SourceMissingError(
            f"{corpus.title} was not found on this machine",
            where=f"folders.{name}",
            expected=f"a folder with files {corpus.files} as its authors publish them",
            got=str(folder or "no folder"),
            next_step=f"get the corpus from its authors and add --set folders.{name}=DIR",
        )
    rows, texts = list[Card](), set[str]()
    for path in paths:
        records = [record.fields for record in read_records(path, "csv" if path.suffix == ".csv" else "json", own=True)]
        for number, record in enumerate([records] if corpus.is_whole else records):
            row = _read_post(corpus, record, f"{name}-{path.stem}-{number}")
            rows.append({"reason": "repeated", **row} if row["posted"] in texts else row)
            texts.add(row["posted"])
    return rows


def _read_post(corpus: Corpus, record: Any, card_id: str) -> Card:
    origin = {"language": corpus.language, "source": corpus.title}
    try:
        return Post.model_validate({"id": card_id, **origin, **corpus.post(record)}).row
    except ValueError:
        reason = "no_text"
    except UNUSABLE:
        reason = "other_fields"
    return {"card_id": card_id, "form": "post", **origin, "posted": "", "text": None, "reason": reason}
