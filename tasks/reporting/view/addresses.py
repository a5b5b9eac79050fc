"""Pages about a run, named apart from where they are: on a server by path and query, in a folder of files by file name."""

from collections.abc import Callable
from typing import Literal, NamedTuple
from urllib.parse import quote, urlencode

from schemas.base import Frozen
from schemas.documents.rows import RowFilter, RowId

PageKind = Literal["run", "score", "rows", "row", "unread", "failed", "hard", "flips", "map", "compare"]
"""`run`: its models and the ways into it. `score`: how a score came about. `rows`, `row`: what was asked and answered.

The others find something: tasks.reporting.view.score_pages.WAYS says what.
"""


class Address(NamedTuple):
    """A page about a run. `params`: fields of what it is about, by name, without those that say nothing."""

    kind: PageKind
    run: str
    params: tuple[tuple[str, str], ...] = ()


Links = Callable[[Address], str | None]
"""From a page to what a link to it holds; null = this rendering has no such page, and no link to it is shown."""


def served(address: Address) -> str:
    """Return the path and query of a page on the server."""
    query = f"?{urlencode(address.params)}" if address.params else ""
    return f"/view/{quote(address.run, safe='')}/{address.kind}{query}"


def rows_address(run: str, wanted: RowFilter) -> Address:
    """Return the page of the rows that a filter asks for."""
    return Address("rows", run, _params(wanted))


def row_address(run: str, row: RowId, **more: str) -> Address:
    """Return the page of a row; `more`: further parameters of the page."""
    return Address("row", run, (*_params(RowId(**{name: getattr(row, name) for name in RowId.model_fields})), *more.items()))


def score_address(run: str, model: str, setting: str, **place: str) -> Address:
    """Return the page of a score; `place`: an ability, task or dataset, none for the total."""
    return Address("score", run, (("model", model), ("setting", setting), *place.items()))


def _params(fields: Frozen) -> tuple[tuple[str, str], ...]:
    stated = fields.model_dump(mode="json", exclude_defaults=True).items()
    return tuple((name, "true" if value is True else str(value)) for name, value in stated)
