"""Say which rows of a dataset break a rule and are left out, and stop a dataset of which too many do."""

import polars as pl

from schemas.dataset import DatasetSpec
from schemas.errors import LayoutError
from tasks.datasets.own_items import adapt_item_record
from tasks.sources.files import name_source

MOST_REJECTED = 0.1
"""Share of a dataset's rows that may break a rule; above it, its files have another layout than its adapter reads."""

SHOWN_ROWS = 3
LONGEST_REASON = 120


def describe_rejected(spec: DatasetSpec, rejected: pl.DataFrame) -> str:
    """Say how many rows of how many are left out, and why."""
    verb = "breaks a rule and is left out" if rejected.height == 1 else "break a rule and are left out"
    return f"has {_counted(rejected)} that {verb}: {_rules(spec, rejected)}"


def require_layout(spec: DatasetSpec, rejected: pl.DataFrame) -> None:
    """Raise LayoutError if too many rows break a rule; of a file in the format of items, rows are mended one by one."""
    if spec.adapter is adapt_item_record or rejected.is_empty():
        return
    if rejected.height / rejected["rows_in_all"][0] > MOST_REJECTED:
        raise LayoutError(
            "the files do not have the layout that the adapter expects",
            where=f"{spec.id}: {', '.join(name_source(file) for file in spec.files[:SHOWN_ROWS])}",
            expected="at most a tenth of the rows rejected",
            got=f"{_counted(rejected)} break a rule, {_rules(spec, rejected)}",
            next_step="check that these are the files of the entry; if their layout has changed, change the adapter",
        )


def _counted(rejected: pl.DataFrame) -> str:
    return f"{rejected.height:,} {'row' if rejected.height == 1 else 'rows'} of {rejected['rows_in_all'][0]:,}"


def _rules(spec: DatasetSpec, rejected: pl.DataFrame) -> str:
    by_file = spec.record_format == "folder"
    position = pl.col("source_file" if by_file else "source_row").sort()
    reason = pl.col("reason").drop_nulls().first().str.replace(r"^\w+: ", "")
    broken = rejected.explode("broken_rules").group_by("broken_rules", maintain_order=True).agg(pl.len(), position, reason)
    rules = []
    for rule, count, numbers, why in broken.sort("broken_rules").iter_rows():
        more = (", ..." if count > SHOWN_ROWS else "") + (f", {why[:LONGEST_REASON]}" if why and not by_file else "")
        rules.append(f"{rule} ({count}: {'' if by_file else 'row '}{', '.join(map(str, numbers[:SHOWN_ROWS]))}{more})")
    return "; ".join(rules) if by_file else f"{'; '.join(rules)}; the first row is row 0"
