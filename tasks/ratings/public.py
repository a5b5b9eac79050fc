"""Public sets of ratings by people, as entries of the catalogue: how the rows of each become those of one table."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from schemas.dataset import DatasetSpec
from schemas.folders import DATA_FOLDER
from schemas.json_yaml import read_json, read_text, read_yaml
from tasks.datasets.catalogue import pinned_in, pinned_list
from tasks.ratings.reading import RatedRows, turns_of
from tasks.sources.files import read_bytes

Files = Sequence[tuple[str, Path]]
"""Who rated, and the file."""
KINDS = RatedRows.create_empty().schema


def read_wide(
    files: Files,
    *,
    columns: Mapping[str, list[str]],
    dimensions: Mapping[str, str],
    values: Mapping[str, str] | None = None,
    lower_is_better: Sequence[str] = (),
) -> pl.DataFrame:
    """Return the ratings of CSV files, with a column of each for a dimension.

    `columns`: those of a file, or its name or row, that make one of a rating; `values`: ratings by their words.
    """
    tables, texts = list[pl.DataFrame](), list[pl.DataFrame]()
    for kind, path in files:
        wide = pl.read_csv(read_bytes(path), infer_schema=False).with_row_index("row", 1)
        wide = wide.with_columns(file=pl.lit(path.stem.removesuffix("_ratings")))
        named = {name: pl.concat_str(parts, separator=" ") for name, parts in columns.items() if {*parts} <= {*wide.columns}}
        if kind == "texts":
            texts.append(wide.select(**{name: named[name] for name in ("unit_id", "text")}))
            continue
        rated = wide.select(
            **named, rater_kind=pl.lit(kind), **{name: of for of, name in dimensions.items() if of in wide.columns}
        )
        tables.append(rated.unpivot(index=[*named, "rater_kind"], variable_name="dimension", value_name="rating"))
    rises = ~pl.col("dimension").is_in(lower_is_better)
    whole = pl.concat(tables, how="diagonal").with_columns(pl.col("rating").replace(values or {}), higher_is_better=rises)
    return (
        whole.drop("text", strict=False).join(pl.concat(texts), on="unit_id", how="left", maintain_order="left")
        if texts
        else whole
    )


def read_mentalalign(files: Files) -> pl.DataFrame:
    """Return ratings of ten systems' replies to a thousand posts, by one person and four language models."""
    ((_, path),) = files
    kind = pl.when(pl.col("judge") == "human").then(pl.lit("expert")).otherwise(pl.lit("judge"))
    unit = {"unit_id": "conversation_id", "cluster_id": "conversation_id", "system": "responder"}
    return pl.read_parquet(read_bytes(path)).select("dimension", "rating", **unit, rater="judge", rater_kind=kind)


def _dices(kind: str, content: Any) -> Iterator[dict[str, Any]]:
    """Yield whether 123 people, whose order is not stated, or an expert call the last reply of a dialogue safe."""
    words, is_named = content["annotations"][0]["labels_list"], kind == "expert"
    rater = {"rater_kind": kind, "rater_known": is_named, "rater": kind if is_named else None}
    scale = {"dimension": "safety_expert" if is_named else "safety", "scale": [*range(len(words))], "words": words}
    for row in content["instances"]:
        unit = {"unit_id": row["id"], "context": row["instance"]["user_prompt"], "text": row["instance"]["response"]}
        for word in row["annotations"]["safety"]["individual_human_scores"]:
            yield {**unit, **rater, **scale, "rating": words.index(word)}


def _duo(_kind: str, content: Any) -> Iterator[dict[str, Any]]:
    """Yield what the person in a dialogue says of it, and what three others say, whose names are not stated."""
    text = "\n".join(f"{turn['speaker']}: {turn['message']}" for turn in content["dialogue"])
    unit = {"unit_id": str(content["dialogue_id"]), "system": f"{content['model']} {content['prompt']}", "text": text}
    user = {"rater": f"user {content['dialogue'][0]['user_id']}", "rater_kind": "user", "rater_known": True}
    for name, rating in content["subjective_evaluation"].items():
        yield {**unit, **user, "dimension": name, "rating": rating}
        for other in (content.get("objective_evaluation") or {}).get(f"{name}_scores", ()):
            yield {**unit, "rater": None, "rater_kind": "crowd", "rater_known": False, "dimension": name, "rating": other}


def read_json_rows(files: Files, rows_of: Callable[[str, Any], Iterator[dict[str, Any]]]) -> pl.DataFrame:
    """Return the rows that each JSON file gives."""
    rows = [row for kind, path in files for row in rows_of(kind, read_json(read_bytes(path)))]
    return pl.DataFrame(rows, infer_schema_length=None)


LAYOUTS: Mapping[str, Callable[..., pl.DataFrame]] = {
    "wide": read_wide,
    "mentalalign": read_mentalalign,
    "dices": partial(read_json_rows, rows_of=_dices),
    "duo": partial(read_json_rows, rows_of=_duo),
}


def _read(paths: Sequence[Path], *, kinds: Sequence[str], ratings: Mapping[str, Any]) -> pl.DataFrame:
    """Return the rows of a set; turns of dialogues have the speakers' names of data/ratings.yaml."""
    rows = LAYOUTS[ratings["layout"]]([*zip(kinds, paths, strict=True)], **ratings.get("options", {}))
    rows = rows.with_columns(pl.lit(value, KINDS[name]).alias(name) for name, value in ratings["always"].items())
    if names := ratings.get("speakers"):
        split = {text: [{**turn, "speaker": names[turn["speaker"]]} for turn in turns_of(text)] for text in rows["text"].unique()}
        rows = rows.with_columns(turns=pl.Series([split[text] for text in rows["text"]], dtype=KINDS["turns"]))
    return rows if "language" in rows.columns else rows.drop("text", strict=False)


def _entry(name: str, repository: str, revision: str, ratings: Mapping[str, Any], **fields: Any) -> DatasetSpec:
    pin = pinned_in(repository, revision)
    if ratings["files"] == "pinned":
        files = [("own", file) for file in pinned_list(name, pin)]
    else:
        files = [(kind, pin(path)) for kind, paths in ratings["files"].items() for path in paths]
    read = partial(_read, kinds=[kind for kind, _ in files], ratings=ratings)
    fields |= {field: tuple(value) for field, value in fields.items() if isinstance(value, list)}
    return DatasetSpec(name, files=tuple(file for _, file in files), ratings=read, question_types=(), **fields)


ENTRIES = tuple(_entry(name, **row) for name, row in read_yaml(read_text(DATA_FOLDER / "ratings.yaml")).items())
"""Entries of the catalogue."""
