"""The contamination canary of the bundled files: in all of them, in the manifest, and in no item."""

import json
from pathlib import Path

import pytest

from schemas.errors import RecordError
from tasks.benchmarks.attunebench.datasets.conversations import ATTUNEBENCH_MINI
from tasks.benchmarks.esc_eval.datasets import ESC_EVAL_MINI
from tasks.benchmarks.longemotion.datasets.bundled import LONG_MINI
from tasks.benchmarks.moodbench.bundled import BUNDLED, CANARY
from tasks.datasets.building import build_items
from tasks.datasets.catalogue import CATALOGUE, find_dataset
from tasks.lake.manifest import notices
from tasks.sources.locating import BUNDLED as FOLDER
from tests.rows import each_row

FILES = sorted(FOLDER.glob("*.jsonl"))


def test_it_is_the_string_of_the_readme() -> None:
    assert f"    {CANARY}\n" in (FOLDER / "README.md").read_text(encoding="utf-8")


@each_row("path", FILES)
def test_every_record_of_every_file_has_it(path: Path) -> None:
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert {record["canary"] for record in records} == {CANARY}


def test_manifests_list_bundled_datasets_alone() -> None:
    listed = {notice.id for notice in notices(CATALOGUE.values()) if notice.canary == CANARY}
    assert listed == {spec.id for spec in (*BUNDLED, *LONG_MINI, *ESC_EVAL_MINI, ATTUNEBENCH_MINI)}


def test_another_canary_in_a_bundled_file_is_refused(tmp_path: Path) -> None:
    path, text = tmp_path / "eq_test.jsonl", (FOLDER / "eq_test.jsonl").read_text(encoding="utf-8")
    path.write_text(text.replace(CANARY, "moodflow:bundled:0"), encoding="utf-8")
    with pytest.raises(RecordError, match="has a field that items do not have"):
        build_items(find_dataset("mini_eq_test"), [path], None, 0)
