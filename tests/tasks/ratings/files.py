"""Files of ratings by people, made for tests."""

import json
from pathlib import Path
from typing import Any

import polars as pl

ROW: dict[str, Any] = {"source": "days", "unit_id": "a", "dimension": "warmth", "rater": "ann", "rater_kind": "expert"}
ROW |= {"rating": 2, "scale": [1, 2, 3]}


def written(folder: Path, *rows: dict[str, Any], ending: str = "jsonl") -> Path:
    file = folder / f"ratings.{ending}"
    if ending == "parquet":
        pl.DataFrame(rows).write_parquet(file)
    elif ending == "csv":
        frame = pl.DataFrame(
            [{name: str(cell) if isinstance(cell, list) else cell for name, cell in row.items()} for row in rows]
        )
        frame.write_csv(file)
    else:
        file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return file
