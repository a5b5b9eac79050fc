"""Judgements made again from the judges' stored replies, without asking anyone: what the contract reads in them now."""

from typing import Any

import dataframely as dy
import polars as pl

from schemas.tables.responses import Judgements
from tasks.judging.answers import RESPONSE
from tasks.judging.contract import Contract, Parsed
from tasks.judging.rubrics import Rubric

VERDICT = [*RESPONSE, "judge", "judge_repetition"]
"""One reply of a judge, which has a row per dimension."""


def reparse_judgements(judgements: dy.DataFrame[Judgements], rubric: Rubric) -> dy.DataFrame[Judgements]:
    """Read every stored reply again.

    Args:
        judgements: of one rubric.
        rubric: as the judges would be asked by it now.

    Returns:
        One row per reply and dimension of the rubric, sorted by key; what only the call itself could tell is copied.
    """
    contracts = [Contract.of(rubric, repetition) for repetition in range(len(rubric.names))]
    rows: list[dict[str, Any]] = []
    for verdict in judgements.unique(VERDICT, keep="first", maintain_order=True).iter_rows(named=True):
        contract = contracts[verdict["judge_repetition"] % len(contracts)]
        read = None if verdict["raw_reply"] is None else contract.parse(verdict["raw_reply"])
        rows += [{**verdict, **_as_read(read), **_asked(rubric), **_rated(read, name)} for name in rubric.names]
    frame = pl.DataFrame(rows, schema=Judgements.create_empty().schema)
    return Judgements.validate(frame.sort(Judgements.primary_key()))


def _as_read(read: Parsed | None) -> dict[str, Any]:
    if read is None:
        return {"parse_status": "failed"}
    return {"parse_status": "unparsed" if read.ratings is None else "parsed", "error": read.reason}


def _asked(rubric: Rubric) -> dict[str, Any]:
    return {"rubric": rubric.id, "lowest": rubric.scale.lowest, "highest": rubric.scale.highest}


def _rated(read: Parsed | None, dimension: str) -> dict[str, Any]:
    return {"dimension": dimension, "rating": (read.ratings or {}).get(dimension) if read else None}
