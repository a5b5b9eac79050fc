"""Name the classes that a macro-averaged F1 counts: options of a closed set are one class in every language."""

import polars as pl

KEY = ["dataset", "language"]


def name_classes(items: pl.DataFrame) -> pl.Series:
    """Return the names of the classes of each item, in the order of its options; null where it has none.

    A class is named by the text of its option. Where all items of a language have the same options, and those of every other
    language as many, options at the same place are one class. It is named by all of its texts: `literal / 字面义`.

    Args:
        items: `dataset`, `language` and `options`.
    """
    closed = items.drop_nulls("options").group_by(KEY).agg(pl.col("options").unique(maintain_order=True)).sort(KEY)
    names: dict[tuple[str, str], list[str]] = {}
    for (dataset,), rows in closed.group_by("dataset", maintain_order=True):
        lists = [options for of_language in rows["options"].to_list() for options in of_language]
        if len(lists) == rows.height and len({*map(len, lists)}) == 1:
            shared = [" / ".join(dict.fromkeys(texts)) for texts in zip(*lists, strict=True)]
            names |= {(str(dataset), language): shared for language in rows["language"]}
    shown = items.select(*KEY, "options").iter_rows()
    named = [options and names.get((dataset, language), options) for dataset, language, options in shown]
    return pl.Series("classes", named, pl.List(pl.String))
