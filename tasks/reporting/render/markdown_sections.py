"""Sections of the markdown report: place of the options, data and licences."""

from collections.abc import Iterator

from tasks.analysis.number_format import NONE, count, counted, number, percent
from tasks.reporting.content.position_bias import PlaceRow, Positions, Stability
from tasks.reporting.content.request import Provenance
from tasks.reporting.render.markup import cell, fence, table


def write_positions(positions: Positions | None) -> Iterator[str]:
    """What the place of an option did; nothing without single choices."""
    if positions is None:
        return
    yield "### Place of the options"
    yield cell(" ".join(positions.sentences))
    places = [
        [
            row.letter,
            count(row.golds),
            number(row.accuracy, 3),
            f"{percent(row.chosen_share)} ({count(row.chosen)})",
            f"{percent(row.gold_share)} ({count(row.golds_read)})",
        ]
        for row in positions.places
    ]
    yield table(
        ["Right option at", "Replies", "Accuracy", "Chosen, share of readable replies", "Right, share of the same"], places
    )
    heads = ["Dataset", "Accuracy by place of the right option (replies)"]
    heads += ["Items in several orders", "Followed the content", "Followed the letter", "Neither"] if positions.stability else []
    yield table(
        heads,
        (
            [cell(part.title), _accuracies(part.places), *(_stability(part.stability) if positions.stability else [])]
            for part in positions.datasets
        ),
    )
    yield "Single choices only, places as shown; later letters exist only in items with more options."
    if positions.stability and positions.stability.unread:
        yield (
            f"{counted(positions.stability.unread, 'item')} with fewer than two readable replies cannot be told apart and stand "
            "in none of the counts."
        )


def _accuracies(places: tuple[PlaceRow, ...]) -> str:
    return ", ".join(f"{row.letter} {number(row.accuracy, 2)} ({count(row.golds)})" for row in places)


def _stability(stability: Stability | None) -> list[str]:
    if stability is None:
        return [NONE] * 4
    return [count(n) for n in (stability.items, stability.content, stability.letter, stability.mixed)]


def write_provenance(provenance: Provenance) -> Iterator[str]:
    """The datasets of the run with their licences, and the canary strings."""
    yield "## Data and licences"
    if provenance.note:
        yield cell(provenance.note)
    if not provenance.notices:
        yield "The manifest of this run names no datasets."
        return
    rows = [
        [
            cell(f"{notice.title} ({notice.id})"),
            cell(notice.licence),
            "yes" if notice.redistributable else "no",
            cell(", ".join(notice.sources)),
            cell(notice.evaluation_version),
            cell("; ".join(notice.ambiguous)),
        ]
        for notice in provenance.notices
    ]
    yield table(["Dataset", "Licence", "Texts may be passed on", "Source", "Evaluation version", "Ambiguous items"], rows)
    if provenance.canaries:
        yield "Canary strings, which the authors ask to be kept with the data so that it can be kept out of training sets:"
        yield fence("\n".join(provenance.canaries))
