"""The contamination canary of the bundled files: in all of them, in the manifest, and in no item."""

import json
import shutil
from hashlib import sha256
from pathlib import Path

import polars as pl
import pytest

from schemas.dataset import DatasetSpec
from schemas.errors import RecordError
from tasks.benchmarks.attunebench.datasets.conversations import ATTUNEBENCH_MINI
from tasks.benchmarks.esc_eval.datasets import ESC_EVAL_MINI
from tasks.benchmarks.longemotion.datasets.bundled import LONG_MINI
from tasks.benchmarks.moodbench.bundled import BUNDLED, CANARY
from tasks.datasets.building import build_items
from tasks.datasets.catalogue import CATALOGUE, find_dataset
from tasks.lake.manifest import notices
from tasks.sources.locating import BUNDLED as FOLDER
from tasks.sources.locating import Locator
from tests.rows import each_row

FILES = sorted(FOLDER.glob("*.jsonl"))


def sample_of(spec: DatasetSpec, sample: int | None, folder: Path = FOLDER) -> pl.DataFrame:
    paths = [Locator(bundled=folder).locate(file) for file in spec.files]
    items = build_items(spec, paths, sample, 0).items
    # They had no reference before the counselor's own replies could be rated.
    return items.with_columns(references=pl.lit(None, items.schema["references"])) if "mc" in spec.id else items


def test_it_is_the_string_of_the_readme() -> None:
    assert f"    {CANARY}\n" in (FOLDER / "README.md").read_text(encoding="utf-8")


@each_row("path", FILES)
def test_every_record_of_every_file_has_it(path: Path) -> None:
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert {record["canary"] for record in records} == {CANARY}


def test_manifests_list_bundled_datasets_alone() -> None:
    listed = {notice.id for notice in notices(CATALOGUE.values()) if notice.canary == CANARY}
    assert listed == {spec.id for spec in (*BUNDLED, *LONG_MINI, *ESC_EVAL_MINI, ATTUNEBENCH_MINI)}


@pytest.mark.parametrize(
    ("sample", "expected"),
    [
        (3, "e8af3e5bdce842dd31fc6b24c1c9cc0e66da3909ff621047708f1fee59cf47dd"),
        (None, "5893fbe7ff7985a48addedfa66644dcb59a21b1218f0be9499d7dde6544894ec"),
    ],
)
def test_items_and_draw_need_no_extra_file(sample: int | None, expected: str) -> None:
    # Hashes of the items, with names, order and record hashes, as the files gave them before they had a canary.
    rows = "".join(sample_of(spec, sample).drop("cluster", "groups").write_ndjson() for spec in (*BUNDLED, *LONG_MINI))
    assert sha256(rows.encode()).hexdigest() == expected


def test_another_canary_in_a_bundled_file_is_refused(tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "eq_test.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace(CANARY, "moodflow:bundled:0"), encoding="utf-8")
    with pytest.raises(RecordError, match="has a field that items do not have"):
        sample_of(find_dataset("mini_eq_test"), None, tmp_path)
