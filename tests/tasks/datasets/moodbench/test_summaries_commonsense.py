"""Summaries, commonsense and exams: what the entries say about the files is so."""

import re
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from schemas.dataset import PinnedFile
from tasks.datasets.catalogue import find_dataset
from tasks.datasets.moodbench.summaries import LCSTS_TASK
from tests.tasks.datasets.real_datasets import build, here, items_of, records_of


def gold_at(items: pl.DataFrame, row: int, subset: str | None = None) -> list[int] | None:
    at = items.filter(pl.col("source_row") == row)
    if subset is not None:
        at = at.filter(pl.col("subset") == subset)
    gold: list[int] | None = at["gold_indices"].item().to_list() if at["gold_indices"].item() is not None else None
    return gold


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("lcsts", "zh"),
        ("cnewsum", "zh"),
        ("vcsum", "zh"),
        ("cmmlu", "zh"),
        *[(n, "en") for n in ("cosmos_qa", "truthfulqa", "mmlu_pro")],
    ],
)
def test_questions_are_in_the_language_of_the_dataset(name: str, language: str, mirror: Path) -> None:
    items = items_of(name, mirror)
    chinese = items["question"].str.contains(r"[\u4e00-\u9fff]")
    assert set(items["language"]) == {language}
    # Four questions of CMMLU are formulas.
    assert (~chinese).sum() == (4 if name == "cmmlu" else 0) if language == "zh" else not chinese.any()


def test_lcsts_shows_no_task_sentence_and_names_its_four_repeats(mirror: Path) -> None:
    items = items_of("lcsts", mirror)
    assert not items["context"].str.contains(LCSTS_TASK.pattern).any()
    assert items.select("context", "references").is_duplicated().sum() == 8
    assert items["item_id"].n_unique() == 300
    # The dictionary: 137 characters on average, 28 of them the sentence's.
    assert items["context"].str.len_chars().mean() == pytest.approx(137 - 28, abs=1)


def test_cnewsum_keeps_every_character_that_is_not_a_space(mirror: Path) -> None:
    records = records_of("cnewsum", mirror)
    items = items_of("cnewsum", mirror)
    for record, context, references in zip(records, items["context"], items["references"].to_list(), strict=True):
        assert re.sub(r"\s", "", context) == re.sub(r"\s", "", "".join(record.fields["article"]))
        assert re.sub(r"\s", "", references[0]) == re.sub(r"\s", "", record.fields["summary"])
    assert not items["context"].str.contains(r"[\u4e00-\u9fff]\s+[\u4e00-\u9fff]").any()


def test_vcsum_meetings_have_the_lengths_of_the_dictionary(mirror: Path) -> None:
    spec = here("vcsum", mirror)
    assert spec.join_records is not None
    records = spec.join_records(records_of("vcsum", mirror))
    lengths = [sum(len(sentence) for turn in record.fields["context"] for sentence in turn) for record in records]
    assert (min(lengths), max(lengths), sum(lengths) // 26) == (4190, 44043, 13420)
    by_id = {record.fields["id"]: record.fields for record in records}
    # Of these two meetings one segment number is missing: its turns stand in the segment before.
    assert (len(by_id["97"]["speaker"]), len(by_id["110"]["speaker"])) == (81, 28)


def test_cosmos_qa_keeps_the_order_where_none_of_the_above_is_offered(mirror: Path) -> None:
    assert items_of("cosmos_qa", mirror)["fixed_order"].sum() == 206


def test_truthfulqa_has_true_and_false_answers_and_none_is_both(mirror: Path) -> None:
    items = items_of("truthfulqa", mirror)
    assert set(items["question_type"]) == {"open_ended"}
    assert items["question"].n_unique() == 300
    pairs = list(zip(items["references"].to_list(), items["wrong_references"].to_list(), strict=True))
    assert all(true and false and not set(true) & set(false) for true, false in pairs)
    # Counted in the file: 1060 true and 1236 false entries of mc2_targets, which hold all of mc1_targets.
    assert sum(len(true) for true, _ in pairs) <= 1060
    assert sum(len(false) for _, false in pairs) <= 1236
    assert (len(pairs[0][0]), len(pairs[0][1])) == (2, 3)


def test_mmlu_pro_has_up_to_ten_options(mirror: Path) -> None:
    items = items_of("mmlu_pro", mirror)
    assert items["subset"].n_unique() == 14
    lengths = Counter(items["options"].list.len().to_list())
    assert lengths == {10: 245, 9: 18, 8: 7, 7: 2, 6: 6, 5: 3, 4: 18, 3: 1}


def test_cmmlu_rejects_the_one_row_with_a_repeated_option(mirror: Path) -> None:
    built = build("cmmlu", mirror)
    assert built.items.height == 11371
    assert built.rejected.select("subset", "source_row").rows() == [("genetics", 36)]
    assert built.items["subset"].n_unique() == 67


def test_cmmlu_checked_by_hand(mirror: Path) -> None:
    items = items_of("cmmlu", mirror)
    # The class of a network address that starts with 192; the keys that select a whole document.
    assert gold_at(items, 47, "computer_science") == [3]
    assert gold_at(items, 135, "elementary_information_and_technology") == [1]


def test_cmmlu_keeps_the_order_where_options_name_others_by_letter(mirror: Path) -> None:
    named = {("college_medical_statistics", row) for row in (10, 29, 75, 77, 94)} | {("genetics", row) for row in (19, 150)}
    named |= {("economics", 1), ("elementary_commonsense", 159), ("food_science", 115), ("nutrition", 101)}
    fixed = items_of("cmmlu", mirror).filter("fixed_order")
    assert named <= set(fixed.select("subset", "source_row").rows())
    assert fixed.height == 138


def test_cmmlu_pairs_that_contradict_each_other_are_the_ambiguous_ones(mirror: Path) -> None:
    items = items_of("cmmlu", mirror).with_columns(pl.col("options").list.sort().alias("sorted"))
    answer = pl.col("options").list.get(pl.col("gold_indices").list.first()).alias("answer")
    pairs = (
        items.with_columns(answer)
        .group_by("question", "sorted")
        .agg(pl.col("subset").first(), pl.col("source_row").sort(), pl.col("answer").n_unique())
        .filter(pl.col("answer") > 1)
    )
    found = {f"{row['subset']} {' and '.join(map(str, row['source_row']))}" for row in pairs.iter_rows(named=True)}
    assert found == {text.split(":")[0] for text in find_dataset("cmmlu").ambiguous}


def test_ceval_pins_what_the_pointers_of_the_release_name(mirror: Path) -> None:
    spec = find_dataset("ceval")
    folder = mirror / "github.com/QuwanAI/MoodBench/data/basic_ability/common_sense/ceval_parquet"
    pinned = {file.path: file.sha256 for file in spec.files if isinstance(file, PinnedFile)}
    assert len(pinned) == 52
    for path, sha256 in pinned.items():
        assert f"oid sha256:{sha256}\n" in (folder / path).read_text(encoding="utf-8")
    assert {path.parent.name for path in folder.glob("*/val-*")} == {path.split("/")[0] for path in pinned}


def test_agieval_counts_are_those_of_the_dictionary(mirror: Path) -> None:
    items = items_of("agieval", mirror)
    assert items.height == 5191
    assert Counter(items["language"]) == {"zh": 2606, "en": 2585}
    assert Counter(items["subset"]) == (
        {"aqua-rat": 254, "gaokao-biology": 230, "gaokao-chemistry": 204, "gaokao-chinese": 246, "gaokao-english": 300}
        | {"gaokao-geography": 199, "gaokao-history": 235, "gaokao-mathqa": 300, "gaokao-physics": 174, "jec-qa-ca": 300}
        | {"jec-qa-kd": 300, "logiqa-en": 300, "logiqa-zh": 300, "lsat-ar": 230, "lsat-lr": 300, "lsat-rc": 269, "sat-en": 206}
        | {"sat-en-without-passage": 206, "sat-math": 220, "gaokao-mathcloze": 118, "math": 300}
    )
    types = items.group_by("question_type").len().rows()
    assert dict(types) == {"single_choice": 5191 - 4 - 418, "multiple_answer": 4, "extractive": 418}


def test_agieval_rejects_the_broken_rows_and_no_others(mirror: Path) -> None:
    built = build("agieval", mirror)
    assert built.items.height == 5176
    broken = {
        *(("aqua-rat", row) for row in (117, 120, 124, 126, 185, 193, 198)),
        *(("gaokao-mathqa", 211), ("gaokao-physics", 155), ("lsat-rc", 110)),
        *(("sat-en", 101), ("sat-en-without-passage", 101)),
        *(("gaokao-biology", 8), ("gaokao-chemistry", 157), ("gaokao-chinese", 71)),
    }
    assert set(built.rejected.select("subset", "source_row").rows()) == broken


def test_agieval_takes_the_printed_letter_where_all_are_printed_and_else_the_place(mirror: Path) -> None:
    items = items_of("agieval", mirror)
    # Printed A, C, B, D: the label C stands at place 1, the label B at place 2.
    moved = {("logiqa-en", row): 1 for row in (73, 75)} | {("logiqa-en", row): 2 for row in (170, 188)}
    moved |= {("logiqa-zh", row): 1 for row in (71, 115)} | {("logiqa-zh", row): 2 for row in (66, 140, 283)}
    for (subset, row), place in moved.items():
        at = items.filter((pl.col("subset") == subset) & (pl.col("source_row") == row)).row(0, named=True)
        assert (at["gold_indices"], at["reference_gold_indices"]) == ([place], [3 - place])
    # Misprinted letters: labels D, A, B are places.
    assert [gold_at(items, row, "gaokao-history") for row in (78, 80, 83)] == [[3], [0], [1]]


def test_agieval_ceiling_of_the_released_code(mirror: Path) -> None:
    good = build("agieval", mirror).items
    items = items_of("agieval", mirror).filter(pl.col("question_type") != "extractive", pl.col("subset") != "sat-math")
    never = items.filter(pl.col("reference_gold_indices").list.len() == 0)
    other = good.filter(pl.col("reference_gold_indices").list.len() == 1)
    assert (items.height, never.height, other.height) == (4553, 604, 9)
    # (4553 - 604 - 9) / 4553 = 0.8654: the errata say about 86.5 %.
    assert (items.height - never.height - other.height) / items.height == pytest.approx(0.865, abs=0.001)


def test_agieval_shows_no_printed_letters(mirror: Path) -> None:
    options = items_of("agieval", mirror).filter(pl.col("options").is_not_null())["options"].explode()
    assert not options.str.contains(r"^\s*[（(][A-E][)）]").any()
    assert not options.str.contains(r"^\s*[A-E][.．]").any()
    assert (options == options.str.strip_chars()).all()


def test_agieval_letters_that_are_printed_twice_are_both_stripped(mirror: Path) -> None:
    row = items_of("agieval", mirror).filter((pl.col("subset") == "aqua-rat") & (pl.col("source_row") == 29)).row(0, named=True)
    assert [option[0] for option in row["options"]] == ["5", "6", "7", "8", "9"]


def test_agieval_fixes_the_order_only_where_letters_stand_for_options(mirror: Path) -> None:
    fixed = items_of("agieval", mirror).filter("fixed_order")
    assert fixed.height == 7
    # Their options are groups of persons and things called E to Z.
    groups = {("logiqa-en", row) for row in (13, 30, 79, 287, 299)} | {("logiqa-zh", 236), ("lsat-ar", 16), ("lsat-ar", 68)}
    assert not groups & set(fixed.select("subset", "source_row").rows())


def test_agieval_several_letters(mirror: Path) -> None:
    items = items_of("agieval", mirror)
    rows = {row: gold_at(items, row, "gaokao-mathqa") for row in (120, 121, 189, 295)}
    assert rows == {120: [0, 2, 3], 121: [0, 1, 3], 189: [0, 3], 295: [2, 3]}


def test_agieval_checked_by_hand(mirror: Path) -> None:
    items = items_of("agieval", mirror)
    # (x - 1) / 3 = 3 gives x = 10, the fourth option; the label of the second question is A.
    assert gold_at(items, 0, "sat-math") == [3]
    assert gold_at(items, 0, "aqua-rat") == [0]
    cloze = items.filter((pl.col("subset") == "math") & (pl.col("source_row") == 0)).row(0, named=True)
    assert (cloze["language"], cloze["references"]) == ("en", ["\\frac{1}{2}", "1/2"])
    assert set(items.filter(pl.col("subset") == "gaokao-english")["language"]) == {"en"}
