"""The page of a dataset: what it asks, an example of our own items, scores and what they are worth, source and licence."""

from collections.abc import Iterator, Mapping

from docs.generate.catalogue_examples import Bundled, first_annotation, gold_lines, right_answer
from docs.generate.catalogue_links import benchmark_link, benchmark_page, dataset_page, link, reference_link, task_page, trail
from docs.generate.catalogue_places import Catalogue, Place
from docs.generate.catalogue_published import paper_with, printed_part
from docs.generate.catalogue_scores import scores_part
from docs.generate.markdown import block, bullets, folded, joined, table
from schemas.dataset import BundledFile, DatasetSpec, PinnedFile, SourceFile
from schemas.usage import TESTED
from tasks.scoring.published import paper_of
from tasks.solvers.state import Call
from tasks.sources.locating import sources
from tasks.text.number_format import counted
from tasks.text.tables import escape

MOST_FILES = 6
"""Files that a page lists one by one; `datasets show` lists all."""

LONG = 2_500
"""Characters of a prompt that is folded."""


def dataset_text(catalogue: Catalogue, name: str, asks: Mapping[str, str], bundled: Mapping[str, Bundled]) -> str:
    """Return the page of a dataset. `asks`: by task and by dataset; `bundled`: the datasets of our own."""
    spec, places, page = catalogue.datasets[name], catalogue.of_dataset(name), dataset_page(name)
    own = bundled.get(name)
    asked = asks.get(name) or asks[places[0].task.id]
    sibling = None if own else next(iter(siblings(catalogue, name, bundled)), None)
    return joined(
        trail(catalogue, places, page),
        f"# {escape(catalogue.title_of(name))}",
        f"{escape(asked)} Its name in commands is `{name}`.",
        facts_part(spec, own, sibling, page),
        "## Where it counts",
        place_part(catalogue, name, places, page),
        "## An example",
        *(example_part(own) if own else absent_part(spec, sibling, page)),
        "## Scores",
        *scores_part(places, own, page),
        "## Published scores",
        published_part(catalogue, places, page),
        "## What differs from the paper",
        bullets(map(escape, spec.differences)) or "Nothing that the catalogue knows of.",
        *ambiguous_part(spec),
        "## Source and licence",
        *source_part(spec),
        "## Check it",
        "Find or fetch the files, verify and read them, and see which scores they allow:",
        block("console", f"moodflow datasets check {name}"),
    )


def siblings(catalogue: Catalogue, name: str, bundled: Mapping[str, Bundled]) -> Iterator[Bundled]:
    """Yield our own datasets of the same tasks."""
    for task in dict.fromkeys(place.task.id for place in catalogue.of_dataset(name)):
        yield from (bundled[place.dataset] for place in catalogue.tasks[task] if place.dataset in bundled)


def facts_part(spec: DatasetSpec, own: Bundled | None, sibling: Bundled | None, page: str) -> str:
    """Return a table of what is known in a word each."""
    example = own or sibling
    groups = [group["name"] for group in (example.row["groups"] or ())] if example else []
    types = ", ".join(reference_link("question type", kind, page) for kind in spec.question_types)
    rows = [
        ("Question type", types or "none: ratings by people"),
        ("Languages", ", ".join(spec.languages) or "none that a judge is asked in"),
        ("Size", size_words(spec, own)),
        ("Results by", ", ".join(["language", "part of the dataset", *(f"`{name}`" for name in groups)])),
        ("Evaluation version", spec.evaluation_version),
        ("Paper", escape(spec.paper)),
        ("Licence", escape(spec.licence)),
        ("Redistribution", "allowed" if spec.redistributable else "not allowed; left out of redacted reports"),
    ]
    return table(("Property", "Value"), rows)


def size_words(spec: DatasetSpec, own: Bundled | None) -> str:
    """Return how many items there are of our own, how many rows the files of another have."""
    if own:
        return f"{own.built.items.height} items"
    return f"{spec.expected_rows:,} rows in all of its files" if spec.expected_rows else "not stated"


def place_part(catalogue: Catalogue, name: str, places: list[Place], page: str) -> str:
    """Return where the dataset stands, with the items asked and its share of the total."""
    if catalogue.datasets[name].ratings:
        return "In no benchmark: it holds ratings by people, with which judges are compared."
    if not places:
        return "No benchmark that comes with MoodFlow asks it; a blueprint of your own can."
    heads = (
        "Benchmark",
        "Task",
        "Level",
        ">Items asked",
        ">Weight in its task",
        ">Share of its ability, %",
        ">Share of the total, %",
    )
    rows = [
        (
            benchmark_link(catalogue, place.blueprint.name, page),
            link(escape(place.task.title), task_page(place.task.id), page),
            place.task.level,
            items_asked(place),
            f"{place.weight:g}",
            place.of_main,
            "gate" if place.of_total is None else place.of_total,
        )
        for place in places
    ]
    return table(heads, rows)


def items_asked(place: Place) -> str:
    """Return how many items a run asks if nothing is said; the paper's number beside it where that is another."""
    own, paper = place.blueprint.sample_of(place.dataset), paper_of(place.blueprint)
    theirs = paper.items(place.dataset) if paper and place.blueprint.name in paper.blueprints else own
    return f"at most {own}" if own == theirs else f"at most {own} (paper: {theirs})"


def example_part(own: Bundled) -> Iterator[str]:
    """Yield the example: what is sent, and what is right."""
    row, calls = own.row, own.ask()
    yield f"Item `{row['item_id']}`, one of {own.built.items.height} items of our own, as `{own.setting}` asks it."
    for call in first_calls(calls):
        yield call_part(call)
    if len(calls) > 1:
        steps = dict.fromkeys(f"`{call.role}`: {call.step}" for call in calls)
        yield folded(f"All {len(calls)} calls about this item, by who is asked and what for", bullets(steps))
    yield "### Gold"
    yield gold_part(own)


def first_calls(calls: tuple[Call, ...]) -> list[Call]:
    """Return the first call to each model that takes part."""
    firsts: dict[str, Call] = {}
    for call in calls:
        firsts.setdefault(call.role, call)
    return [*firsts.values()]


def call_part(call: Call) -> str:
    """Return the messages of a call as they are sent."""
    whom = "the model under test" if call.role == TESTED else f"the {call.role.replace('_', ' ')}"
    body = joined(*(joined(f"*{message.role}*", block("text", message.content)) for message in call.request.messages))
    title = f"What {whom} gets"
    if sum(len(message.content) for message in call.request.messages) > LONG:
        return joined(f"### {title}", folded("The prompt, which is long", body))
    return joined(f"### {title}", body)


def gold_part(own: Bundled) -> str:
    """Return what is right about the example."""
    lines = [f"**{escape(name)}**: {escape(text)}" for name, text in gold_lines(own.row)]
    reply = right_answer(own.row)
    annotation = first_annotation(own.built, own.row["item_id"])
    return joined(
        bullets(lines),
        f"A reply that earns everything:\n\n{block('text', reply)}" if reply else None,
        f"Annotations of the first turn, which no setting shows a model:\n\n{block('json', annotation)}" if annotation else None,
        None if lines or annotation else "There is none: a judge rates the answer.",
    )


def absent_part(spec: DatasetSpec, sibling: Bundled | None, page: str) -> Iterator[str]:
    """Yield what stands in place of an example of a dataset that is not ours."""
    yield "No item of this dataset comes with MoodFlow, so none is shown."
    if sibling:
        example = link(f"`{sibling.spec.id}`", f"{dataset_page(sibling.spec.id)}#an-example", page)
        same = " in the same form" if sibling.row["question_type"] in spec.question_types else ""
        yield f"An item of our own for the same task{same} is on the page of {example}."


def published_part(catalogue: Catalogue, places: list[Place], page: str) -> str:
    """Return what each paper prints of the ability that the dataset belongs to: none prints single datasets."""
    parts: dict[str, str] = {}
    for place in places:
        paper = paper_with(place.blueprint)
        if paper and paper.title not in parts and (table := printed_part(place.blueprint, place.path[0].id)):
            target = f"{benchmark_page(catalogue.family_of(place.blueprint.name))}#published-scores"
            whole = link(f"published scores of {escape(paper.title)}", target, page)
            share = f"Of {escape(place.path[0].title)}, to which this dataset gives {place.of_main:.1f} %"
            parts[paper.title] = f"{share} ({whole}):\n\n{table}"
    return joined(*parts.values()) or "No paper prints scores on it."


def ambiguous_part(spec: DatasetSpec) -> Iterator[str]:
    """Yield the items whose labels contradict each other, which keeps the best possible score below 100."""
    if spec.ambiguous:
        yield f"Labels that contradict each other keep the best possible score below 100: {escape('; '.join(spec.ambiguous))}."


def source_part(spec: DatasetSpec) -> Iterator[str]:
    """Yield the files of a dataset and of what stands in for it, with what pins each."""
    for number, source in enumerate(sources(spec)):
        if number:
            yield joined(
                "Used where these are not here:",
                bullets(escape(text) for text in source.differences if text not in spec.differences),
            )
        rows = [file_row(file) for file in source.files[:MOST_FILES]]
        yield table(("Repository", "Revision", "File", "Pinned by"), rows)
        if (more := len(source.files) - MOST_FILES) > 0:
            yield f"And {counted(more, 'more file')}: `moodflow datasets show {spec.id}` lists all."
    if spec.canary:
        yield f"Its canary, by which training sets can be cleaned of it: `{spec.canary}`."


def file_row(file: SourceFile) -> tuple[str, str, str, str]:
    """Return the row of a file."""
    if isinstance(file, BundledFile):
        return "MoodFlow", "this release", f"`data/bundled/{file.name}`", "the release"
    if not isinstance(file, PinnedFile):
        return "your own", "–", f"`{file.path.name}`", "–"
    pin = f"sha256 `{file.sha256}`" if file.sha256 else f"md5 `{file.md5}`" if file.md5 else "revision only"
    return escape(file.repository), f"`{file.revision}`", f"`{file.path}{f', {file.member}' if file.member else ''}`", pin
