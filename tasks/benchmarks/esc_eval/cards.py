"""How ESC-Eval (arXiv 2406.14952) builds role cards: what enters the first step, and the steps from a post to a graded card.

Posts and dialogues of a file or a corpus enter, or cards that exist.
"""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

import polars as pl
from pydantic import BaseModel, ConfigDict, create_model

from schemas.chat import ChatMessage
from schemas.dataset import LocalFile
from schemas.errors import SourceError
from schemas.folders import DATA_FOLDER
from schemas.json_yaml import read_text, read_yaml
from schemas.plan import Plan
from schemas.tables.role_cards import QUALITIES, CardStep
from schemas.usage import Role
from schemas.vocabulary import Language
from tasks.benchmarks.esc_eval.datasets import card_item, card_text, read_card
from tasks.benchmarks.esc_eval.posts import CORPORA, Filled, draw, read_corpus, read_posts
from tasks.datasets.building import build_items
from tasks.datasets.catalogue import find_items
from tasks.datasets.own_items import local_dataset
from tasks.judging.cards import ANNOTATORS, EXTRACTOR, Card, CardPipeline, read_annotations
from tasks.judging.prompts import fence_data
from tasks.judging.replies import read_reply
from tasks.solvers.state import SolverResources
from tasks.sources.locating import Locator, choose_source


def read_entering(first: CardStep, plan: Plan) -> list[Card]:
    """Return what enters the first step, as many as the plan's sample; raise what the readers of posts and cards do."""
    name, sample = plan.benchmark, plan.sample
    if first != "extract":
        rows = read_cards(name, plan.mirror)
    elif corpus := CORPORA.get(name):
        rows, sample = read_corpus(name, corpus, plan.folders.get(name)), sample or corpus.sample
    else:
        rows = read_posts(Path(name))
    return draw(rows, sample, plan.seed)


def read_cards(name: str, mirror: Path | None) -> list[Card]:
    """Return cards that exist: items whose context is a card, of a dataset of the catalogue or of a file of own items.

    Raise SourceError if the files cannot be had, an item breaks a rule or its context is no card; UsageError if there is no such
    dataset.
    """
    path, locator = Path(name), Locator.for_mirror(mirror)
    spec = local_dataset(path.stem, path.stem, LocalFile(path=path)) if path.suffix else choose_source(find_items(name), locator)
    built = build_items(spec, [locator.locate(file) for file in spec.files], None, 0)
    rows, bad = list[Card](), list(built.rejected["item_id"])
    for item in built.items.to_dicts():
        groups = {group["name"]: group["value"] for group in item.get("groups") or ()}
        source, text, language = groups.get("source", spec.id), item["context"] or "", item["language"]
        try:  # of which domain it is, is asked again
            read_card(text, language, card_id=item["item_id"], source=source, domain="social_and_other")
        except ValueError:
            bad.append(item["item_id"])
        row = {"card_id": item["item_id"], "form": "card", "posted": None, "text": text}
        rows.append(row | {"language": language, "source": source})
    if bad:
        raise SourceError(
            f"some items of {name} are not role cards",
            where=", ".join(map(str, bad[:3])),
            expected="items whose context has the four labelled lines of a role card",
            got=f"{len(bad)} others",
            next_step="give a dataset of role cards, or correct the file",
        )
    return rows


PROMPTS, TAXONOMY = "prompts/role_cards/cards.yaml", "taxonomies/esc_eval.yaml"
"""Files under data; both enter the keys of what rests on them."""

Category = Mapping[str, Any]
"""A domain, a group or a leaf of the taxonomy: its id, and its name by language."""

FEELINGS_ONLY, INVALID, NO_CATEGORY = "feelings_only", "invalid", "none"


def reply_type(**values: Any) -> type[BaseModel]:
    """Return the type of a reply that has these names and no others; `values`: the types of what stands there."""
    fields: dict[str, Any] = {name: (value, ...) for name, value in values.items()}
    return create_model("CardReply", __config__=ConfigDict(extra="forbid"), **fields)


def one_of(*values: str) -> Any:
    """Return the type of a choice between values."""
    return Literal[values]


EXTRACTION = reply_type(age=Filled, gender=one_of("male", "female", "not mentioned"), occupation=Filled, problem=Filled)


@cache
def load_texts(file: str) -> dict[str, Any]:
    """Return the content of one of the two files."""
    return dict(read_yaml(read_text(DATA_FOLDER / file)))


def taxonomy_leaves() -> dict[str, tuple[Category, ...]]:
    """Return the domain, the group and the leaf itself of every leaf category, by its id, in order."""
    domains = load_texts(TAXONOMY)["domains"]
    return {leaf["id"]: (domain, group, leaf) for domain in domains for group in domain["groups"] for leaf in group["leaves"]}


def choices(classes: Iterable[Category], language: Language) -> str:
    """Return classes of the taxonomy as lines to choose from."""
    return "\n".join(f"- {category['id']}: {category[language]}" for category in classes)


class CardEnds(Exception):  # noqa: N818  no error: what most cards come to
    """A card goes no further: it is `dropped`, or a call `failed`; and why."""

    def __init__(self, status: Literal["dropped", "failed"], reason: str) -> None:
        self.status, self.reason = status, reason
        super().__init__(reason)


async def ask(
    row: Card, models: SolverResources, role: Role, parts: tuple[str, ...], reply: type[BaseModel], listed: str = ""
) -> Card:
    """Return what a model says of a card, or of the post that one is made of; once: at temperature 0 it would say the same.

    Args:
        row: of the card, which notes the call.
        models: by role.
        role: who is asked.
        parts: names of the prompt's texts.
        reply: type of what it says, which the endpoint is given as a JSON schema too.
        listed: what there is to choose from.

    Raises:
        CardEnds: the call failed, or the reply is none of that type.
    """
    schema, texts = json.dumps(reply.model_json_schema()), load_texts(PROMPTS)[row["language"]]
    material, nonce = fence_data("TEXT", row["text"] or row["posted"])
    task = "\n\n".join(texts[part].format(choices=listed, nonce=nonce, schema=schema) for part in (*parts, "reply"))
    messages = (ChatMessage(role="system", content=task), ChatMessage(role="user", content=material))
    call = await models.ask(role, row["step"], messages, json_schema=schema)
    row["call_keys"].append(call.request.key)
    if call.reply.failure is not None:
        raise CardEnds("failed", call.reply.failure)
    try:
        return read_reply(call.reply.text or "", reply)[0].model_dump()
    except ValueError:
        raise CardEnds("dropped", "unreadable") from None


async def extract(row: Card, models: SolverResources) -> Card:
    """Make a card of a post or a dialogue; drop a record that is none."""
    if row.get("reason"):
        raise CardEnds("dropped", row["reason"])
    reply = await ask(row, models, EXTRACTOR, (row["form"],), EXTRACTION)
    fields: Card = {name: " ".join(value.split()) for name, value in reply.items()}
    return {"text": card_text(row["language"], **fields)}


async def screen(row: Card, models: SolverResources) -> Card:
    """Find the domain of a card; drop it if it tells of feelings alone."""
    domains = load_texts(TAXONOMY)["domains"]
    reply = reply_type(scene=one_of(*(domain["id"] for domain in domains), FEELINGS_ONLY))
    answer = await ask(row, models, EXTRACTOR, ("filter",), reply, choices(domains, row["language"]))
    if answer["scene"] == FEELINGS_ONLY:
        raise CardEnds("dropped", FEELINGS_ONLY)
    return answer


async def annotate(row: Card, models: SolverResources) -> Card:
    """Have two annotators name leaf category and grade, unless people did."""
    if (given := row.get("annotations")) is not None:
        if len(given) < len(ANNOTATORS[:2]):
            raise CardEnds("failed", "unannotated")
        return {}
    leaves = taxonomy_leaves()
    reply = reply_type(category=one_of(*leaves, NO_CATEGORY), grade=one_of(*QUALITIES, INVALID))
    listed = choices((leaf for _, _, leaf in leaves.values()), row["language"])
    replies = [(role, await ask(row, models, role, (role, "annotate"), reply, listed)) for role in ANNOTATORS[:2]]
    return {"annotations": [{"annotator": role, **annotation} for role, annotation in replies]}


def disputed(annotations: Sequence[Mapping[str, str]]) -> dict[str, tuple[str, ...]]:
    """Return what the first two annotations differ in, and how; raise CardEnds if any has no category or calls it invalid."""
    if any(annotation["grade"] == INVALID or annotation["category"] == NO_CATEGORY for annotation in annotations):
        raise CardEnds("dropped", INVALID)
    values = {name: tuple(annotation[name] for annotation in annotations[:2]) for name in ("category", "grade")}
    return {name: both for name, both in values.items() if len(set(both)) > 1}


async def adjudicate(row: Card, models: SolverResources) -> Card:
    """Take over what both annotators say; where they differ, what a third chooses of the two, a person where people annotated."""
    annotations = row["annotations"]
    values = dict(annotations[0])
    if (left := disputed(annotations)) and not models.roles:
        third: Mapping[str, str] = next(iter(annotations[2:]), {})
        if any(third.get(name) not in both for name, both in left.items()):
            raise CardEnds("failed", "undecided")
        values |= {name: third[name] for name in left}
    elif left:
        leaves, role = taxonomy_leaves(), ANNOTATORS[2]
        categories = dict.fromkeys(annotation["category"] for annotation in annotations)
        listed = choices((leaves[name][-1] for name in categories), row["language"])
        reply = reply_type(**{name: one_of(*both) for name, both in left.items()})
        answer = await ask(row, models, role, (role, "annotate"), reply, listed)
        values |= answer
        annotations = [*annotations, {"annotator": role, "category": None, "grade": None, **answer}]
    return {"annotations": annotations, "category": values["category"], "quality": values["grade"]}


STEPS: Mapping[CardStep, Callable[[Card, SolverResources], Awaitable[Card]]] = {
    "extract": extract,
    "filter": screen,
    "annotate": annotate,
    "adjudicate": adjudicate,
}


async def advance(row: Card, step: CardStep, models: SolverResources) -> Card:
    """Return what a step makes of a card that was kept until now: its row, with what became of it."""
    row = {**row, "step": step, "status": "kept", "call_keys": []}
    try:
        return row | await STEPS[step](row, models)
    except CardEnds as end:
        return row | {"status": end.status, "reason": end.reason}


def card_items(cards: pl.DataFrame, quality: str) -> list[dict[str, Any]]:
    """Return the cards of a quality as own items, by id, with all three levels of their category among their groups."""
    leaves, items = taxonomy_leaves(), []
    for row in cards.filter(pl.col("quality") == quality).sort("card_id").to_dicts():
        levels = zip(("domain", "category2", "category3"), (level["id"] for level in leaves[row["category"]]), strict=True)
        fields = {name: row[name] for name in ("card_id", "source", "quality")}
        item = card_item(row["text"], row["language"], **fields, **dict(levels))
        items.append(item.model_dump(mode="json", exclude_unset=True))
    return items


CARD_PIPELINES = (
    CardPipeline(
        "esc_eval",
        version="1",
        read=read_entering,
        texts=lambda: {file: load_texts(file) for file in (PROMPTS, TAXONOMY)},
        advance=advance,
        items=card_items,
        annotate=lambda path, cards: read_annotations(path, cards, (*taxonomy_leaves(), NO_CATEGORY), (*QUALITIES, INVALID)),
        printed=DATA_FOLDER / "published" / "esceval_table6.csv",
    ),
)
