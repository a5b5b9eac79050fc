"""moodflow journal: the replies a lake keeps; share them, take others' in."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.console import RenderableType
from rich.markup import escape
from rich.table import Column, Table

from schemas.folders import Folder
from tasks.lake.local_state import state_folder
from tasks.models.journal.files import ImportedReplies, export_replies, import_replies, merge_replies, summarise
from tasks.models.journal.table import JOURNAL

KIB = 1024


def show_document(lake: Folder) -> dict[str, Any]:
    """What the lake's journal holds, by endpoint and model.

    Raises:
        UsageError: the lake has no journal.
        LakeError: it cannot be read.
    """
    file = state_folder(lake) / JOURNAL
    models = summarise(file)
    return {
        "journal": str(file),
        "file_bytes": file.stat().st_size,
        "replies": sum(row["replies"] for row in models),
        "models": models,
    }


def show_shown(document: dict[str, Any]) -> Sequence[RenderableType]:
    """The same for a terminal."""
    numbers = [Column(name, justify="right") for name in ("Replies", "KiB")]
    table = Table(Column("Endpoint", overflow="fold"), "Model", *numbers, "First", "Last", box=SIMPLE)
    for row in document["models"]:
        cells = (
            row["identity"],
            row["model"] or "?",
            f"{row['replies']:,}",
            f"{row['bytes'] / KIB:,.0f}",
            row["first"],
            row["last"],
        )
        table.add_row(*(escape(cell) for cell in cells))
    return [table, f"{document['replies']:,} replies in {document['journal']}, {document['file_bytes'] / KIB:,.0f} KiB"]


def export_document(file: Path, lake: Folder, model: str | None) -> dict[str, Any]:
    """Write the replies of the lake, or of one model, to a new Parquet file.

    Raises:
        UsageError: nothing to export, or the file exists already or cannot be written.
        LakeError: the journal cannot be read.
    """
    exported = export_replies(state_folder(lake) / JOURNAL, file, model)
    return {"file": str(file), "replies": exported, "file_bytes": file.stat().st_size}


def import_document(file: Path, lake: Folder) -> dict[str, Any]:
    """Take in the replies of a Parquet file.

    Raises:
        UsageError: the file cannot be read, or is no table of replies.
        LakeError: the journal cannot be written.
    """
    return _taken_document(file, lake, import_replies(file, state_folder(lake) / JOURNAL))


def merge_document(other: Folder, lake: Folder) -> dict[str, Any]:
    """Take in the replies of another journal, named by its file or its lake.

    Raises:
        UsageError: there is no other journal.
        LakeError: one of the two cannot be used.
    """
    kept = state_folder(other)
    file = kept / JOURNAL if kept.is_dir() else kept
    return _taken_document(file, lake, merge_replies(file, state_folder(lake) / JOURNAL))


def _taken_document(source: Path, lake: Folder, taken: ImportedReplies) -> dict[str, Any]:
    return {
        "source": str(source),
        "journal": str(state_folder(lake) / JOURNAL),
        "read": taken.read,
        "good": taken.good,
        "refused": taken.refused,
        "rules": dict(taken.rules),
        "added": taken.added,
        "same": taken.same,
        "kept_ours": taken.kept_ours,
    }


def taken_lines(document: dict[str, Any]) -> list[str]:
    """What became of the rows that were read, for a terminal."""
    good = f"{document['good']:,} good: {document['added']:,} added, {document['same']:,} here already"
    return [
        f"{document['read']:,} rows read from {escape(document['source'])}",
        f"{good}, {document['kept_ours']:,} another reply than ours, which stays",
        f"{document['refused']:,} refused",
        *(f"  {escape(rule)}: {count:,}" for rule, count in document["rules"].items()),
    ]
