"""What role cards are built from, as rows that enter the first step: posts and dialogues of a file, or cards that exist."""

from pathlib import Path
from typing import Annotated, Self

from pydantic import StringConstraints, model_validator

from schemas.base import Frozen
from schemas.dataset import LocalFile
from schemas.errors import RecordError, SourceError
from schemas.tables.role_cards import CardStep
from schemas.vocabulary import Language
from tasks.benchmarks.esc_eval.datasets import read_card
from tasks.datasets.building import build_items
from tasks.datasets.catalogue import find_dataset
from tasks.datasets.own_items import local_dataset
from tasks.judging.cards import Card
from tasks.sources.locating import Locator, choose_source
from tasks.sources.reading import read_records

Filled = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class PostTurn(Frozen):
    """What one party of a dialogue says."""

    speaker: Filled
    text: Filled


class Post(Frozen):
    """One line of the file: a post (`text`), or a dialogue (`turns`) that a summary (`situation`) may stand before."""

    id: Filled
    language: Language
    source: Filled
    text: Filled | None = None
    situation: Filled | None = None
    turns: tuple[PostTurn, ...] = ()

    @model_validator(mode="after")
    def _post_or_dialogue(self) -> Self:
        if bool(self.text) == bool(self.turns) or (self.text and self.situation):
            raise ValueError("a post has text alone, a dialogue turns, and situation where there is one")
        return self

    @property
    def row(self) -> Card:
        """Return what enters the first step."""
        said = [self.text or self.situation or "", *(f"{turn.speaker}: {turn.text}" for turn in self.turns)]
        known = {"card_id": self.id, "form": "dialogue" if self.turns else "post", "posted": "\n".join(said).strip()}
        return {**known, "text": None, "language": self.language, "source": self.source}


def read_entering(first: CardStep, source: str, mirror: Path | None) -> list[Card]:
    """Return what enters the first step: posts to extract cards from, or cards that exist; raise what the two readers do."""
    return read_posts(Path(source)) if first == "extract" else read_cards(source, mirror)


def read_posts(path: Path) -> list[Card]:
    """Return the posts and dialogues of a JSONL file; raise RecordError if a line is none, or has the id of an earlier one."""
    rows: dict[str, Card] = {}
    for record in read_records(path, "jsonl", own=True):
        try:
            post = Post.model_validate(record.fields)
            if post.id in rows:
                raise ValueError(f"id {post.id} is that of an earlier line")
        except ValueError as error:
            raise RecordError(
                "a line is no post or dialogue",
                where=f"{path}, row {record.row} (0-based)",
                expected="id, language (en or zh), source, and text or turns",
                got=" ".join(str(error).split())[:300],
                next_step="correct the line; docs/how-to/build-cards.md describes the fields",
            ) from error
        rows[post.id] = post.row
    return list(rows.values())


def read_cards(name: str, mirror: Path | None) -> list[Card]:
    """Return cards that exist: items whose context is a card, of a dataset of the catalogue or of a file of own items.

    Raise SourceError if the files cannot be had, an item breaks a rule or its context is no card; UsageError if there is no such
    dataset.
    """
    path, locator = Path(name), Locator.for_mirror(mirror)
    spec = (
        local_dataset(path.stem, path.stem, LocalFile(path=path)) if path.suffix else choose_source(find_dataset(name), locator)
    )
    built = build_items(spec, [locator.locate(file) for file in spec.files], None, 0)
    rows, bad = list[Card](), list(built.rejected["item_id"])
    for item in built.items.iter_rows(named=True):
        groups = {one["name"]: one["value"] for one in item.get("groups") or ()}
        source, text, language = groups.get("source", spec.id), item["context"] or "", item["language"]
        try:  # of which domain it is, is asked again
            read_card(text, language, card_id=item["item_id"], source=source, domain="social_and_other")
        except ValueError:
            bad.append(item["item_id"])
        known = {"card_id": item["item_id"], "form": "card", "posted": None, "text": text}
        rows.append({**known, "language": language, "source": source})
    if bad:
        raise SourceError(
            f"items of {name} break a rule, or their context is no card",
            where=", ".join(map(str, bad[:3])),
            expected="items whose context has the four labelled lines of a role card",
            got=f"{len(bad)} others",
            next_step="name a dataset of role cards, or correct the file",
        )
    return rows
