"""`moodflow figure`: pictures of a run and of a leaderboard, and what is refused."""

from pathlib import Path

import pytest

from schemas.errors import UsageError
from tasks.lake.manifest import write_manifest
from tasks.reporting.run_figures import Figures, draw_figure
from tests.flows.command import assert_one_message, ended
from tests.tasks.reporting.example_items import item_scores
from tests.tasks.reporting.example_run import BLUEPRINT
from tests.tasks.runs.runs import run_of


@pytest.fixture(name="lake")
def keep_run(tmp_path: Path) -> Path:
    run = run_of(tmp_path / "lake", BLUEPRINT, {"item_scores": item_scores()}, {"benchmark": "moodbench"})
    changes = {"benchmark": "moodbench", "finished_at": "2026-11-26T19:02:00+00:00"}
    write_manifest(tmp_path / "lake", run.manifest.model_copy(update=changes))
    return tmp_path / "lake"


def test_a_picture_replaces_the_one_before(lake: Path, tmp_path: Path) -> None:
    file = tmp_path / "slide.svg"
    file.write_text("another")
    document = ended("figure", "latest", "--to", file, "--lake", lake, "--json").document
    assert document == {"of": "r", "name": "headline", "file": str(file)}
    assert "alpha has the highest total, 25.0." in file.read_text()
    assert ended("figure", "r", "--to", tmp_path / "slide.png", "--name", "map", "--lake", lake).status == 0
    assert (tmp_path / "slide.png").read_bytes().startswith(b"\x89PNG")


def test_a_run_without_scores_is_not_drawn() -> None:
    with pytest.raises(UsageError, match="run r has no scores to draw") as caught:
        draw_figure(Figures("run r", "", BLUEPRINT, ()))
    assert "--name" not in str(caught.value)


def test_a_benchmark_is_its_ranked_models(lake: Path, tmp_path: Path) -> None:
    file = tmp_path / "slide.svg"
    assert ended("figure", "moodbench", "--to", file, "--lake", lake, "--json").document["of"] == "moodbench"
    assert "1 run, the last of 26 November 2026, 19:02 UTC" in file.read_text()


@pytest.mark.parametrize(
    ("name", "next_step"), [("moodbnch-mini", "did you mean moodbench-mini?"), ("#7", "moodflow runs list shows them all")]
)
def test_a_misspelt_benchmark_is_suggested(lake: Path, name: str, next_step: str) -> None:
    done = ended("figure", name, "--to", "slide.svg", "--lake", lake)
    assert_one_message(done, f"there is no run {name}\n", "; or a benchmark: attunebench, ", f"next step: {next_step}")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("r", "--to", "slide.svg"),
            "got: r r\n  next step: moodflow figure BENCHMARK shows the models of its runs\n",
        ),
        (("--to", "."), ". is a folder\n"),
        (("--to", "slide.pdf"), "expected: a file that ends in .png or .svg"),
        (("--to", "slide.png", "--name", "needles"), "expected: one of headline, abilities and map"),
    ],
)
def test_what_cannot_be_drawn_is_told(lake: Path, options: tuple[str, ...], message: str) -> None:
    done = ended("figure", "r", *options, "--lake", lake)
    assert done.status == 2
    assert_one_message(done, message)
