"""One test per declarative entry: what it says about its files is so."""

from pathlib import Path

import pytest

from schemas.dataset import BundledFile, DatasetSpec, LocalFile, PinnedFile
from schemas.errors import UsageError
from schemas.folders import DATA_FOLDER
from schemas.json_yaml import read_text, read_yaml
from tasks.datasets.catalogue import CATALOGUE, find_dataset
from tasks.datasets.own_items import local_dataset
from tasks.scoring.blueprints import load_blueprint
from tasks.sources.locating import Locator, needs, sources
from tests.mirror import MIRROR
from tests.rows import each_row
from tests.tasks.datasets.real_datasets import build, here, items_of

LONG = tuple(spec for spec in CATALOGUE.values() if spec.sample_builder)
ROLE_CARDS = tuple(spec for spec in CATALOGUE.values() if spec.question_types == ("role_play",))
ANNOTATED = tuple(spec for spec in CATALOGUE.values() if spec.question_types == ("annotation",))
RATED = tuple(spec for spec in CATALOGUE.values() if spec.ratings)
OTHERS = (*LONG, *ROLE_CARDS, *ANNOTATED, *RATED)
AGAIN = {"cped_empathy": "cped", "cped_personalization": "cped"}
"""Datasets that the released code weighs in further places."""

PINNED = tuple(spec for spec in CATALOGUE.values() if spec not in OTHERS and not spec.id.startswith(("mini_", *AGAIN)))
BUNDLED = tuple(spec for spec in CATALOGUE.values() if spec.id.startswith("mini_"))
SIXTY = tuple(load_blueprint("moodbench").datasets)
"""Table 5 of the paper: see the tests of that blueprint."""

ABSENT = ("stereoset", "ceval", "personafeedback", "longmemeval")
"""Datasets no complete copy of which is in the mirror."""

REJECTED = {"agieval": 15, "cmmlu": 1, "safetybench_privacy_property": 2}
"""Items without a usable gold or with an option printed twice, by dataset; none elsewhere."""

ITEMS = (
    dict.fromkeys(SIXTY, 300)
    | {"ag_news": 301, "wsc": 104, "folio": 204, "logiqa": 651, "copa": 100, "rte": 277, "goemotions": 301, "vcsum": 26}
    | {"moodbench1": 304, "moodbench2": 304, "moodbench3": 302, "moodbench4": 302, "bbq": 3300, "piqa": 1838}
    | {"semeval2018_task1": 3300, "semeval2018_task3": 784, "agieval": 5191, "cmmlu": 11372}
    | {"eq60": 60, "iri30": 30, "interpersonal_relationship": 16, "effective_communication": 15}
)
"""Items made of the files that the mirror has, rejected ones too."""

# Row of the release -> index of the right option, each read and answered by hand.
BY_HAND: dict[str, dict[int, int]] = {
    "ag_news": {0: 2, 1: 1},
    "thucnews": {0: 1, 3: 5, 4: 0, 10: 2, 20: 6},
    "qqp": {0: 1, 1: 0, 2: 0, 3: 1},
    "multirc": {5: 0, 10: 1, 299: 0},
    "mnli": {0: 2, 1: 1},
    "wsc": {0: 1, 1: 0, 42: 1, 64: 0, 66: 1, 73: 0},
    "folio": {0: 2},
    "logiqa": {8 * 5: 1, 8 * 108: 1, 8 * 192: 1, 8 * 544: 2},  # 108 and 192 print A, C, B, D and mean the letter
    "dianping": {0: 0, 1: 1, 2: 0, 299: 0},
    "moodbench1": {0: 4, 1: 0, 2: 1, 84: 3, 85: 2, 159: 3, 225: 0},  # of all files one after the other
    "moodbench4": {0: 0, 1: 1, 2: 2, 164: 1, 166: 3},
    "emobench3": {0: 1, 1: 1, 2: 2, 50: 3, 299: 1},
    "cosmos_qa": {0: 2, 1: 1, 2: 0},
    "mmlu_pro": {2: 1, 6: 2},  # the tallest trees; a simple interest of 300 * 0.08 / 2 = 12
}


def test_catalogue_has_the_sixty_of_the_paper() -> None:
    assert len(SIXTY) == 60
    assert {spec.id for spec in PINNED} == set(SIXTY)


def test_a_dataset_may_have_a_further_name() -> None:
    for name, first in AGAIN.items():
        spec, other = CATALOGUE[name], CATALOGUE[first]
        assert (spec.files, spec.adapter, spec.evaluation_version) == (other.files, other.adapter, other.evaluation_version)


def test_one_bundled_dataset_per_task() -> None:
    assert len(BUNDLED) == 41
    assert {file.name for spec in BUNDLED for file in spec.files if isinstance(file, BundledFile)} == {
        f"{spec.id.removeprefix('mini_')}.jsonl" for spec in BUNDLED
    }


def test_every_bundled_file_has_an_entry() -> None:
    folder = Locator().bundled
    named = {file.name for spec in (*BUNDLED, *OTHERS) for file in spec.files if isinstance(file, BundledFile)}
    assert {path.name for path in folder.glob("*.jsonl")} == named


@each_row("spec", [spec for spec in (*PINNED, *LONG, *ROLE_CARDS, *RATED) if "mini_" not in spec.id])
def test_pinned_entry_states_its_source(spec: DatasetSpec) -> None:
    for source in sources(spec):
        assert source.id == spec.id
        assert source.licence
        assert source.paper
        assert source.files
        assert all(isinstance(file, PinnedFile) for file in source.files)
        unpinned = [file for file in source.files if isinstance(file, PinnedFile) and not (file.sha256 or file.md5)]
        # Whoever reads the entry has to be told that its content may change.
        assert not unpinned or source.differences


@pytest.mark.parametrize("spec", PINNED, ids=lambda spec: spec.id)
def test_pinned_entry_holds_on_the_real_files(spec: DatasetSpec, mirror: Path) -> None:
    if spec.id in ABSENT:
        assert needs(spec, Locator(mirror=mirror)) != ()
        return
    chosen, built = here(spec.id, mirror), build(spec.id, mirror)
    assert chosen.expected_rows is not None
    assert built.items.height + built.rejected.height == ITEMS[spec.id]
    assert built.rejected.height == chosen.broken_rows == REJECTED.get(spec.id, 0)
    assert set(built.items["language"]) == set(chosen.languages)
    assert set(built.items["question_type"]) == set(chosen.question_types)


@pytest.mark.parametrize("name", BY_HAND)
def test_gold_of_rows_answered_by_hand(name: str, mirror: Path) -> None:
    items = items_of(name, mirror)
    rows = range(items.height) if name.startswith("moodbench") else items["source_row"]
    gold = dict(zip(rows, items["gold_indices"].to_list(), strict=True))
    assert {row: gold[row] for row in BY_HAND[name]} == {row: [place] for row, place in BY_HAND[name].items()}


@each_row("spec", BUNDLED)
def test_bundled_entry_holds_on_its_file(spec: DatasetSpec) -> None:
    built = build(spec.id, MIRROR)
    assert built.rejected.height == 0
    assert built.items.height >= 8
    assert set(built.items["language"]) == set(spec.languages)
    assert set(built.items["question_type"]) == set(spec.question_types)
    assert all(name.startswith(spec.id.removeprefix("mini_")) for name in built.items["item_id"])


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("hellaswg", "did you mean hellaswag"),
        ("zzzzzzzzz", "moodflow datasets list"),
    ],
)
def test_unknown_name_is_answered_with_the_nearest(name: str, hint: str) -> None:
    with pytest.raises(UsageError, match=name) as caught:
        find_dataset(name)
    assert hint in str(caught.value.next_step)


def test_own_file_format_follows_its_name() -> None:
    for suffix in ("jsonl", "csv", "tsv", "json", "parquet"):
        assert local_dataset("mine", "My own", LocalFile(path=Path(f"mine.{suffix}"))).record_format == suffix
    with pytest.raises(UsageError, match="format of the file") as caught:
        local_dataset("mine", "My own", LocalFile(path=Path("mine.xlsx")))
    assert caught.value.got == ".xlsx"


def test_restricted_texts_are_not_passed_on() -> None:
    assert {spec.id for spec in CATALOGUE.values() if not spec.redistributable} == {
        *("lcqmc", "wic", "rte", "copa", "ag_news", "thucnews", "qqp", "multirc", "record", "mnli", "wsc", "mutual"),
        "xdial_empathetic_zh",
        *("lcsts", "cnewsum", "cosmos_qa", "truthfulqa", "agieval", "imdb", "sst2", "dianping"),
        *("semeval2018_task1", "semeval2018_task3", "vua20"),
        *("eq60", "iri30", "interpersonal_relationship", "effective_communication"),
        *("longemotion_ec_finentity", "longemotion_ec_emobench_released", "longemotion_ec_finentity_released"),
        *("longemotion_ed", "longemotion_ed_released", "longemotion_ed_backup", "longemotion_qa", "longemotion_es"),
        *("longemotion_es_released", "longemotion_mc1", "longemotion_mc2", "longemotion_mc3", "longemotion_mc4"),
        *("longemotion_ee", "esc_eval_en", "esc_eval_zh"),
    }
    alternatives = [(spec, spec.alternative) for spec in CATALOGUE.values() if spec.alternative]
    assert all(spec.redistributable is other.redistributable for spec, other in alternatives)
    assert local_dataset("own", "Own", LocalFile(path=Path("own.jsonl"))).redistributable


def test_every_stated_difference_is_that_of_a_dataset() -> None:
    stated = read_yaml(read_text(DATA_FOLDER / "differences.yaml"))
    assert [name for name, told in stated.items() if not set(told) <= set(find_dataset(name).differences)] == []
