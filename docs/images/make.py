"""Make the pictures of README and docs from a run of five scripted models: `make pictures`.

Only the date below a picture changes between two times of making it.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from docs.generate.scripted_run import run_models

QUALITIES = (95, 85, 75, 60, 30)
PICTURES = {"report.png": "headline"}
"""Files beside this one, with the name of the figure that each shows."""

MOST_BYTES = 150_000


def main() -> None:
    """Run the models, then write each picture over the one that is there."""
    with TemporaryDirectory() as folder:
        command = run_models(Path(folder), QUALITIES)
        for name, figure in PICTURES.items():
            file = Path(__file__).parent / name
            command(["figure", "latest", "--name", figure, "--to", str(file), "--lake", str(Path(folder) / "lake")])
            if (size := file.stat().st_size) > MOST_BYTES:
                raise SystemExit(f"{file} has {size:,} bytes, more than {MOST_BYTES:,}")


if __name__ == "__main__":
    main()
