"""A run to click through."""

from pathlib import Path


def write(folder: Path) -> None:
    """Write nothing yet."""
    (folder / "benchmarks" / "demo.md").write_text("# Click through a run\n", encoding="utf-8")
