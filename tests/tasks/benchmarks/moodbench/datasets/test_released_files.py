"""What adapters keep true on the real files; counts of rows and of gold are in test_catalogue.py."""

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.dataset import PinnedFile
from tasks.benchmarks.moodbench.datasets.emotions import CPED_EMOTIONS, EDOS_CLASSES, EMOTIONS
from tasks.benchmarks.moodbench.datasets.questionnaires import AGREEMENT_SCORES, DISAGREEMENT_SCORES
from tasks.benchmarks.moodbench.datasets.summaries import LCSTS_TASK
from tasks.datasets.building import build_items
from tasks.datasets.catalogue import find_dataset
from tasks.metrics.measures import points_share
from tests.rows import each_row
from tests.tasks.datasets.real_datasets import build, items_of, paths, records_of

CHINESE = (
    *("lcqmc", "ocnli", "cmrc2018", "thucnews", "lcsts", "cnewsum", "vcsum", "dianping", "cped", "moodbench1", "moodbench2"),
    *("moodbench3", "moodbench4", "eq60", "iri30", "interpersonal_relationship", "effective_communication"),
)
RIGHT = pl.col("options").list.get(pl.col("gold_indices").list.first())
KIND = pl.col("subset").str.split(": ").list.last()
LEVELS = ["完全不同意", "不同意", "中立", "同意", "完全同意"]


@each_row(
    ("name", "value", "counts"),
    [
        ("bbq", KIND, {"ambiguous": 1651, "disambiguated": 1649}),
        (
            *("cped", RIGHT.replace({text: label for label, text in CPED_EMOTIONS.items()})),
            {"neutral": 99, "anger": 34, "depress": 32, "negative-other": 26, "happy": 22, "relaxed": 20, "worried": 18}
            | {"positive-other": 15, "astonished": 13, "fear": 9, "sadness": 8, "disgust": 3, "grateful": 1},
        ),
        (
            *("semeval2018_task1", pl.when(pl.col("gold_indices").list.first() == 0).then("subset")),
            {"anger": 99, "anticipation": 39, "disgust": 97, "fear": 42, "joy": 140, "love": 54, "optimism": 100}
            | {"pessimism": 30, "sadness": 82, "surprise": 8, "trust": 11, None: 2598},
        ),
        ("cosmos_qa", pl.col("fixed_order"), {True: 206, False: 94}),
        ("agieval", pl.col("language"), {"zh": 2606, "en": 2585}),
        ("agieval", pl.col("question_type"), {"single_choice": 5191 - 4 - 418, "multiple_answer": 4, "extractive": 418}),
        ("agieval", pl.col("fixed_order"), {True: 7, False: 5184}),
        ("cmmlu", pl.col("fixed_order"), {True: 138, False: 11372 - 138}),
        ("eq60", pl.col("subset"), {"agreement scores": 21, "disagreement scores": 19, "filler": 20}),
        ("booksort", pl.col("gold_indices").list.first(), {0: 149, 1: 151}),
        ("record", pl.col("references").list.len(), {1: 168, 2: 115, 3: 11, 4: 6}),
        # MultiRC: 219 questions with one answer, 36 with two, 3 with three.
        ("multirc", pl.len().over("subset"), {1: 219, 2: 36 * 2, 3: 3 * 3}),
    ],
)
def test_items_are_distributed_as_counted(name: str, value: pl.Expr, counts: Mapping[Any, int], mirror: Path) -> None:
    assert Counter(items_of(name, mirror).select(value).to_series()) == counts


@each_row("name", [*CHINESE, "cosmos_qa", "truthfulqa", "mmlu_pro", "emobench2", "emobench3"])
def test_questions_are_in_the_language_of_items(name: str, mirror: Path) -> None:
    items = items_of(name, mirror)
    in_chinese = items["question"].str.contains(r"\p{Han}")
    assert in_chinese.equals(items["language"] == "zh")
    # Names and abbreviations may be Latin, sentences may not.
    if name.startswith("moodbench") or name in {"dianping", "cped"}:
        assert not items["question"].str.contains(r"[A-Za-z]+ [a-z]+").any()


def by_row(name: str, mirror: Path) -> dict[int, dict[str, Any]]:
    return {row["source_row"]: row for row in build(name, mirror).items.iter_rows(named=True)}


@each_row(
    ("name", "released"),
    [("moodbench2", {0: 214, 1: 50, 2: 21, 3: 19}), ("emobench2", {0: 136, 1: 55, 2: 53, 3: 33, 4: 11, 5: 12})],
)
def test_order_is_drawn_where_places_tell(name: str, released: dict[int, int], mirror: Path) -> None:
    items, places = items_of(name, mirror), Counter[int]()
    shown = items.select(RIGHT.alias("right"), "options").iter_rows()
    for record, (answer, options) in zip(records_of(name, mirror), shown, strict=True):
        fields = record.fields
        choices = fields.get("cause_choices") or [fields[f"option_{letter}"] for letter in "abcd"]
        label = fields["cause_label"] if "cause_label" in fields else choices["ABCD".index(fields["gold"])]
        assert (answer, sorted(options)) == (label, sorted(choices))
        places[choices.index(label)] += 1
    assert dict(sorted(places.items())) == released
    assert Counter(items["gold_indices"].explode()).most_common(1)[0][1] < 0.3 * items.height


def test_emobench2_tells_stories_apart_by_question(mirror: Path) -> None:
    # Stories that are told twice ask about another person.
    items = items_of("emobench2", mirror)
    assert items.select("language", "context").n_unique() < 300
    assert items.select("language", "context", "question").n_unique() == 300


def test_emobench3_asks_for_action_or_response(mirror: Path) -> None:
    asked: Counter[tuple[str, bool]] = Counter()
    for record, question in zip(records_of("emobench3", mirror), items_of("emobench3", mirror)["question"], strict=True):
        response = "say" in question or "回应" in question
        assert response != ("do?" in question or "做法" in question)
        asked[record.fields["question type"], response] += 1
    assert asked == {("Action", False): 152, ("Response", True): 148}


def test_edos_has_41_classes(mirror: Path) -> None:
    items = items_of("edos", mirror)
    assert len(set(EDOS_CLASSES)) == 41
    indices = [int(record.fields["ed_emotion_index"]) for record in records_of("edos", mirror)]
    assert [[index] for index in indices] == items["gold_indices"].to_list()
    # Two variants of one text have two labels.
    plain = items["context"].str.to_lowercase().str.replace_all(r"[^a-z0-9]+", "")
    assert items.filter(plain.is_duplicated()).select("source_row", RIGHT.alias("right")).rows() == [
        (189, "afraid"),
        (212, "excited"),
    ]
    assert "189 and 212" in find_dataset("edos").ambiguous[0]


def test_semeval2018_task1_asks_eleven_emotions_per_tweet(mirror: Path) -> None:
    items = items_of("semeval2018_task1", mirror)
    present = items.filter(pl.col("gold_indices").list.first() == 0)
    assert set(range(300)) - set(present["source_row"]) == {20, 66, 118, 197, 220, 277}
    assert present.filter(pl.col("source_row") == 2)["subset"].to_list() == ["anger", "fear"]
    assert items["item_id"].str.contains(r"\.(?:[1-9]|10|11)$").all()


def test_semeval2018_task3_shows_what_the_task_showed(mirror: Path) -> None:
    """145 of the task's own input tweets, which never had the tags, are in MoodBench's repository, with names for emoji."""
    records = records_of("semeval2018_task3", mirror)
    contexts = items_of("semeval2018_task3", mirror)["context"].to_list()
    assert not [text for text in contexts if re.search(r"(?i)#(irony|sarcasm|not)(?![a-z0-9_])", text)]
    folder = mirror / "github.com/QuwanAI/MoodBench/data/emo_ability/emo_recognition/SemEval2018-Task3_txt/test_TaskA"
    lines = (folder / "SemEval2018-T3_input_test_taskA.txt").read_text(encoding="utf-8").splitlines()
    shown = {record.fields["Tweet index"]: text for record, text in zip(records, contexts, strict=True)}
    given = dict(line.split("\t") for line in lines)
    assert len(given) == 145
    for index, tweet in given.items():
        plain = re.sub(r":[\w’|-]+:", "", tweet) if not shown[index].isascii() else tweet
        assert re.sub(r"\W|\s", "", plain, flags=re.ASCII) == re.sub(r"\W|\s", "", shown[index], flags=re.ASCII), index


def test_semeval2018_task3_contains_the_released_part(mirror: Path) -> None:
    spec = find_dataset("semeval2018_task3").alternative
    assert spec is not None
    built = build_items(spec, paths(spec, mirror), None, 0)
    assert (spec.expected_rows, built.items.height, built.rejected.height) == (155, 155, 0)
    keys = ["context", "gold_indices", "source_row_sha256"]
    assert built.items.join(items_of("semeval2018_task3", mirror), on=keys).height == 155


def gold_at(items: pl.DataFrame, row: int, subset: str) -> list[int]:
    gold: list[int] = items.filter(subset=subset, source_row=row)["gold_indices"].item().to_list()
    return gold


@each_row(
    ("name", "subset", "row", "gold"),
    [
        # The class of a network address that starts with 192; the keys that select a whole document.
        ("cmmlu", "computer_science", 47, 3),
        ("cmmlu", "elementary_information_and_technology", 135, 1),
        # (x - 1) / 3 = 3 gives x = 10, the fourth option; the label of the second question is A.
        ("agieval", "sat-math", 0, 3),
        ("agieval", "aqua-rat", 0, 0),
        # Misprinted letters: labels D, A, B are places.
        *(("agieval", "gaokao-history", row, gold) for row, gold in ((78, 3), (80, 0), (83, 1))),
    ],
)
def test_exam_questions_answered_by_hand(name: str, subset: str, row: int, gold: int, mirror: Path) -> None:
    assert gold_at(items_of(name, mirror), row, subset) == [gold]


def test_cmmlu_keeps_order_where_letters_name_options(mirror: Path) -> None:
    named = {("college_medical_statistics", row) for row in (10, 29, 75, 77, 94)} | {("genetics", row) for row in (19, 150)}
    named |= {("economics", 1), ("elementary_commonsense", 159), ("food_science", 115), ("nutrition", 101)}
    assert named <= set(items_of("cmmlu", mirror).filter("fixed_order").select("subset", "source_row").rows())


def test_cmmlu_pairs_that_contradict_are_ambiguous(mirror: Path) -> None:
    items = items_of("cmmlu", mirror).with_columns(sorted=pl.col("options").list.sort(), answer=RIGHT)
    pairs = items.group_by("question", "sorted").agg(
        pl.col("subset").first(), pl.col("source_row").sort(), pl.col("answer").n_unique()
    )
    found = {
        f"{row['subset']} {' and '.join(map(str, row['source_row']))}" for row in pairs.iter_rows(named=True) if row["answer"] > 1
    }
    assert found == {text.split(":")[0] for text in find_dataset("cmmlu").ambiguous}


def test_ceval_pins_what_released_pointers_name(mirror: Path) -> None:
    folder = mirror / "github.com/QuwanAI/MoodBench/data/basic_ability/common_sense/ceval_parquet"
    pinned = {file.path: file.sha256 for file in find_dataset("ceval").files if isinstance(file, PinnedFile)}
    assert len(pinned) == 52
    for path, sha256 in pinned.items():
        assert f"oid sha256:{sha256}\n" in (folder / path).read_text(encoding="utf-8")
    assert {path.parent.name for path in folder.glob("*/val-*")} == {path.split("/")[0] for path in pinned}


@each_row(
    ("name", "broken"),
    [
        ("cmmlu", {("genetics", 36)}),
        (
            "agieval",
            {
                *(("aqua-rat", row) for row in (117, 120, 124, 126, 185, 193, 198)),
                *(("gaokao-mathqa", 211), ("gaokao-physics", 155), ("lsat-rc", 110)),
                *(("sat-en", 101), ("sat-en-without-passage", 101)),
                *(("gaokao-biology", 8), ("gaokao-chemistry", 157), ("gaokao-chinese", 71)),
            },
        ),
    ],
)
def test_exams_reject_the_broken_rows(name: str, broken: set[tuple[str, int]], mirror: Path) -> None:
    assert set(build(name, mirror).rejected.select("subset", "source_row").rows()) == broken


def test_truthfulqa_has_true_and_false_answers(mirror: Path) -> None:
    items = items_of("truthfulqa", mirror)
    pairs = list(zip(items["references"].to_list(), items["wrong_references"].to_list(), strict=True))
    assert all(true and false and not set(true) & set(false) for true, false in pairs)
    # Counted in the file: 1060 true and 1236 false entries of mc2_targets, which hold all of mc1_targets.
    assert sum(len(true) for true, _ in pairs) <= 1060
    assert sum(len(false) for _, false in pairs) <= 1236
    assert (len(pairs[0][0]), len(pairs[0][1])) == (2, 3)


def test_goemotions_taxonomy_is_the_released_one(mirror: Path) -> None:
    (path,) = paths(find_dataset("goemotions"), mirror)
    assert tuple(filter(None, path.with_name("emotions.txt").read_text(encoding="utf-8").split("\n"))) == EMOTIONS


def test_record_takes_forms_from_listed_entities(mirror: Path) -> None:
    rows = by_row("record", mirror)
    listed = {number: [line[2:] for line in row["question"].split("Entities:\n")[1].split("\n")] for number, row in rows.items()}
    assert all(set(row["references"]) <= set(listed[number]) for number, row in rows.items())
    # Entities equal but for white space stand in these rows; they have 18, 15, 10 and 9 entities in the release.
    assert [len(listed[number]) for number in (18, 22, 36, 274)] == [17, 14, 9, 8]
    assert sum(map(len, listed.values())) == sum(len(record.fields["entities"]) for record in records_of("record", mirror)) - 4
    assert [[listed[number].index(form) for form in rows[number]["references"]] for number in (0, 1, 2)] == [[1], [10], [12, 5]]
    assert not any("@highlight" in row["context"] for row in rows.values())


def test_lcsts_shows_no_task_sentence(mirror: Path) -> None:
    items = items_of("lcsts", mirror)
    assert not items["context"].str.contains(LCSTS_TASK.pattern).any()
    assert items.select("context", "references").is_duplicated().sum() == 8
    assert items["item_id"].n_unique() == 300
    # The dictionary: 137 characters on average, 28 of them the sentence's.
    assert items["context"].str.len_chars().mean() == pytest.approx(137 - 28, abs=1)


def score(points: list[list[float | None]], places: list[int]) -> float:
    """Score of a form: mean share over the items that count."""
    shares = [
        points_share(item_points, place) for item_points, place in zip(points, places, strict=True) if None not in item_points
    ]
    return sum(shares) / len(shares)


def test_empathy_quotient_is_scored_by_its_key(mirror: Path) -> None:
    items = items_of("eq60", mirror)
    assert items["options"].to_list() == [LEVELS] * 60
    points = items["option_points"].to_list()
    # Numbers 1, 60 score for agreement, 4, 50 for disagreement, 2, 56 do not count.
    assert points[0] == points[59] == [0, 0, 0, 1, 2]
    assert points[3] == points[49] == [2, 1, 0, 0, 0]
    assert points[1] == points[55] == [None] * 5
    # The instrument goes from 0 to 80 points; 21 of the 40 items that count score for agreement, 19 for disagreement.
    assert sum(max(item_points) for item_points in points if None not in item_points) == 80
    expected = {4: 21 / 40, 3: 21 / 80, 2: 0, 0: 19 / 40}
    assert {place: score(points, [place] * 60) for place in expected} == pytest.approx(expected)
    empathic = [4 if number in AGREEMENT_SCORES else 0 if number in DISAGREEMENT_SCORES else 2 for number in range(1, 61)]
    assert score(points, empathic) == 1


@each_row(("name", "choices"), [("iri30", LEVELS), ("effective_communication", ["从来不", "很少", "有时", "经常", "大部分"])])
def test_forms_that_are_scored_upwards(name: str, choices: list[str], mirror: Path) -> None:
    items = items_of(name, mirror)
    assert items["options"].to_list() == [choices] * items.height
    assert items["option_points"].to_list() == [[1, 2, 3, 4, 5]] * items.height


def test_interpersonal_relationship_has_a_key_per_item(mirror: Path) -> None:
    key = "321 123 321 132 321 231 123 321 231 321 213 231 312 132 312 231"
    points = items_of("interpersonal_relationship", mirror)["option_points"].to_list()
    assert points == [[int(point) for point in item] for item in key.split()]


def test_booksort_reads_gold_off_the_excerpt(mirror: Path) -> None:
    for item in build("booksort", mirror).items.iter_rows(named=True):
        starts = [" ".join(item["context"].split()).index(" ".join(option.split())) for option in item["options"]]
        assert item["gold_indices"] == [starts.index(min(starts))]
        assert not any(option.startswith("*") or option.endswith("*") for option in item["options"])
