"""Write the file of replies to fill in."""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl

from tasks.interchange.replies import shown_order, tested_calls
from tasks.lake.files import new_file, require_absent, require_ending
from tasks.lake.lake import Lake
from tasks.models.journal.request_files import flatten
from tasks.ratings.reading import FORMATS
from tasks.solvers.infer_job import InferJob


async def template_rows(job: InferJob, lake: Lake) -> list[dict[str, Any]]:
    """Return rows to fill in, one for each call whose prompt rests on no reply."""
    return [
        {
            "dataset": job.dataset,
            "item_id": presentation.row["item_id"],
            "prompt_sha256": sha256(request.messages_json.encode()).hexdigest(),
            "model": job.entry.name,
            "setting": job.options.setting,
            "repetition": presentation.repetition,
            "turn": turn,
            "option_order": [*shown_order(presentation)] or None,
            "prompt": flatten(request),
            "reply": None,
        }
        async for presentation, turn, request in tested_calls(job, lake, {})
    ]


def write_template(rows: Iterable[Mapping[str, Any]], path: Path) -> int:
    """Write rows to fill in as a new file of the form that its name says; return how many there are."""
    require_ending(path, "--to", *FORMATS)
    require_absent(path)
    types: dict[str, Any] = {"option_order": pl.List(pl.Int64), "reply": pl.String}
    frame = pl.DataFrame([*rows], schema_overrides=types, infer_schema_length=None)
    with new_file(path) as temporary:
        if path.suffix == ".parquet":
            frame.write_parquet(temporary)
        elif path.suffix == ".jsonl":
            frame.write_ndjson(temporary)
        else:
            order = pl.format("[{}]", pl.col("option_order").cast(pl.List(pl.String)).list.join(","))
            frame.with_columns(option_order=order).write_csv(temporary)
    return frame.height
