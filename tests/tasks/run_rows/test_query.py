"""Rows of a run by filters, in orders, a page at a time."""

from pathlib import Path
from typing import Any

import pytest

from schemas.documents.rows import RowFilter, RowsPage
from schemas.errors import LakeError, UsageError
from tasks.rows.index import open_rows
from tasks.rows.query import find_rows, read_filter
from tasks.runs.past_run import PastRun
from tests.rows import each_row
from tests.tasks.run_rows.asked_runs import asked_run, choice, said
from tests.tasks.run_rows.small_run import ODD, SCORES, make_run, notice, score

RowName = tuple[str, str, int]
IN_PLACE: list[RowName] = [
    *((ODD, "m", 0), ("d-0", "m", 0), ("d-0", "m", 1), ("d-1", "m", 0), ("d-0", "n", 0), ("d-1", "n", 0)),
    *((name, "m", 0) for name in ("e-0", "e-1", "e-2")),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> PastRun:
    return make_run(tmp_path_factory.mktemp("lake"))


def find(run: PastRun, limit: int = 50, **wanted: Any) -> RowsPage:
    return find_rows(run, open_rows(run), RowFilter.model_validate(wanted), limit)


def names(page: RowsPage) -> list[RowName]:
    return [(row.item_id, row.model, row.repetition) for row in page.rows]


@each_row(
    ("wanted", "expected"),
    [
        ({}, IN_PLACE),
        ({"dataset": "e"}, IN_PLACE[6:]),
        ({"ability": "safe", "model": "n"}, IN_PLACE[4:6]),
        ({"task": "task_e"}, IN_PLACE[6:]),
        ({"gate": True, "status": "right"}, [("d-0", "m", 0), *IN_PLACE[4:6]]),
        ({"setting": "base", "language": "zh"}, [("d-1", "m", 0), ("d-1", "n", 0)]),
        ({"status": "call failed"}, [(ODD, "m", 0)]),
        ({"group": "subset=a", "model": "m"}, [("d-0", "m", 0), ("d-0", "m", 1)]),
        ({"group": "topic=work", "model": "n"}, [("d-1", "n", 0)]),
        ({"shortest": 7, "longest": 10}, [("d-0", "m", 1), ("d-1", "m", 0)]),
        ({"longest": 0}, [("e-2", "m", 0)]),
        ({"judges_disagree": True}, [("e-0", "m", 0)]),
        ({"tainted": True}, [("e-1", "m", 0)]),
        ({"text": "sun"}, [("d-0", "m", 0), ("d-0", "m", 1), ("d-0", "n", 0), ("e-1", "m", 0)]),
        ({"text": "i am SAD"}, [("e-0", "m", 0)]),
        ({"text": "tea", "model": "n", "order": "place", "descending": True}, [("d-1", "n", 0), ("d-0", "n", 0)]),
        ({"text": "b, i th", "order": "score"}, [("d-0", "m", 1)]),
        ({"text": "."}, [("d-0", "m", 0), ("d-0", "m", 1), ("d-0", "n", 0), ("e-0", "m", 0)]),
        ({"text": ".*"}, []),
        ({"dataset": "d", "ability": "kind"}, []),
    ],
)
def test_a_filter_keeps_its_rows(run: PastRun, wanted: dict[str, Any], expected: list[RowName]) -> None:
    page = find(run, **wanted)
    assert names(page) == expected
    assert (page.total, page.matches) == (9, None if "text" in wanted else len(expected))
    assert page.next is None


@each_row("text", [None, "t"])
@each_row("descending", [False, True])
@each_row("order", ["place", "score", "length", "rating"])
def test_pages_add_up_to_all_rows(run: PastRun, order: str, descending: bool, text: str | None) -> None:
    wanted: dict[str, Any] = {"order": order, "descending": descending, "text": text}
    page = find(run, 2, **wanted)
    found = names(page)
    while page.next:
        page = find(run, 2, after=page.next, **wanted)
        found += names(page)
    assert found == names(find(run, **wanted))
    assert len(found) == (9 if text is None else 8)


@each_row(
    ("order", "descending", "expected"),
    [
        ("place", True, IN_PLACE[::-1]),
        # 0, 0, 50, 75, then five of 100; those without a score last.
        ("score", False, [IN_PLACE[n] for n in (2, 3, 7, 6, 1, 4, 5, 0, 8)]),
        ("score", True, [IN_PLACE[n] for n in (1, 4, 5, 6, 7, 2, 3, 0, 8)]),
        ("length", True, [IN_PLACE[n] for n in (6, 7, 2, 3, 1, 4, 5, 8, 0)]),
        ("rating", False, [IN_PLACE[n] for n in (6, 8, 0, 1, 2, 3, 4, 5, 7)]),
    ],
)
def test_an_order_breaks_ties_by_place(run: PastRun, order: str, descending: bool, expected: list[RowName]) -> None:
    assert names(find(run, order=order, descending=descending)) == expected


def test_a_facet_is_counted_without_itself(run: PastRun) -> None:
    counts = [(count.facet, count.value, count.rows) for count in find(run, model="m", status="right", text="never").counts]
    assert counts == [
        ("dataset", "d", 1),
        *(("model", "m", 1), ("model", "n", 2)),
        ("setting", "base", 1),
        *((("status", "right", 1), ("status", "partial", 1), ("status", "wrong", 1), ("status", "unread", 1))),
        *((("status", "call failed", 1), ("status", "judge failed", 1), ("status", "not counted", 1))),
        ("language", "en", 1),
    ]
    deep = find(run, shortest=2).counts
    assert [(count.value, count.rows) for count in deep if count.facet == "dataset"] == [("d", 2), ("e", 2)]


def test_rows_that_changed_are_found(run: PastRun) -> None:
    # d-0 was wrong and was asked once, e-0 had another score, of the others nothing changed.
    others = [row for row in SCORES if (row["item_id"], row["model"]) not in {("d-0", "m"), ("e-0", "m")}]
    e_0 = [row | {"value": 0.25} for row in SCORES if row["item_id"] == "e-0"]
    make_run(Path(str(run.lake.root)), "before", (*others, *e_0, score("d-0", 0.0)))
    assert names(find(run, changed_since="before")) == [("d-0", "m", 0), ("d-0", "m", 1), ("e-0", "m", 0)]
    assert names(find(run, changed_since="r")) == []
    make_run(Path(str(run.lake.root)), "elsewhere", benchmark="other")
    with pytest.raises(UsageError, match="changed_since is of another benchmark"):
        find(run, changed_since="elsewhere")


@each_row(
    ("wanted", "what"),
    [
        ({"dataset": "x"}, "there is no dataset x"),
        ({"ability": "task_d"}, "there is no ability task_d"),
        ({"task": "safe"}, "there is no task safe"),
        ({"model": "mm"}, "there is no model mm"),
        ({"setting": "rag"}, "there is no setting rag"),
        ({"group": "subset"}, "group names no value"),
        ({"changed_since": "never"}, "never"),
    ],
)
def test_names_that_are_none_of_the_run_are_refused(run: PastRun, wanted: dict[str, Any], what: str) -> None:
    with pytest.raises(UsageError, match=what) as caught:
        find(run, **wanted)
    assert caught.value.next_step


@each_row(
    ("params", "what"),
    [
        ([("text", "x" * 201)], "text cannot be read"),
        ([("shortest", "-1")], "shortest cannot be read"),
        ([("shortest", "abc")], "expected: a whole number\n"),
        ([("status", "good")], "status cannot be read"),
        ([("colour", "red")], "colour cannot be read"),
        *(([("after", key)], "after cannot be read") for key in ("1; DROP TABLE", "nan", "-1", "1\n", "٣", "9" * 10)),
        ([("text", "\ud800")], "text cannot be read"),
    ],
)
def test_a_filter_that_cannot_be_read_is_refused(params: list[tuple[str, str]], what: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_filter(params)
    assert what in str(caught.value)


def test_empty_fields_of_a_form_narrow_nothing() -> None:
    params = [("dataset", ""), ("gate", "on"), ("longest", "9"), ("text", "a  b\0")]
    assert read_filter(params) == RowFilter(gate=True, longest=9, text="a  b\0")


def test_a_page_after_no_row_is_refused(run: PastRun) -> None:
    assert names(find(run, after="8")) == []
    with pytest.raises(UsageError, match="after is no row of the run"):
        find(run, after="9")


LONG = "lake " * 200_000 + "needle"
REPLIES = ("Die STRASSE", "die Straße", "İSTANBUL", "istanbul", "100 % \\d_* (a|b]", "我很难过", LONG)


@each_row(
    ("text", "expected"),
    [
        ("straße", "12"),
        ("STRASSE", "12"),
        ("STRAẞE", "12"),
        ("İstanbul", "34"),
        ("ISTANBUL", "34"),
        ("100 %", "5"),
        ("\\D_*", "5"),
        ("(A|B]", "5"),
        ("d.*", ""),
        ("难", "6"),
        ("LAKE needle", "7"),
        ("anger", "1234567"),  # an option of all
    ],
)
def test_texts_are_found_in_any_case(asked: PastRun, text: str, expected: str) -> None:
    page = find(asked, text=text, dataset="d")
    assert [row.item_id for row in page.rows] == [*expected]


def test_an_id_of_two_datasets_is_two_rows(asked: PastRun) -> None:
    rows = find(asked, text="die STRASSE").rows
    assert [(row.dataset, row.item_id, row.question, row.reply) for row in rows] == [
        ("d", "1", "What does Mia feel?", "Die STRASSE"),
        ("d", "2", "What does Mia feel?", "die Straße"),
        ("s", "1", "Which way?", "Die Straße"),
    ]
    assert len(find(asked, dataset="d").rows[6].reply or "") <= 160


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> PastRun:
    rows = [choice(str(n)) for n, _ in enumerate(REPLIES, 1)]
    replies = [said(str(n), text) for n, text in enumerate(REPLIES, 1)]
    rows.append(choice("1", "s", question="Which way?"))
    return asked_run(tmp_path_factory.mktemp("asked"), rows, {"m": [*replies, said("1", "Die Straße", "s")]})


def test_long_texts_are_shortened(run: PastRun) -> None:
    row = find(run, dataset="e").rows[0]
    assert (row.reply, row.reply_characters, row.gold) == ("Oh. " * 39 + "Oh.…", 12_000, "be kind")


def test_texts_that_may_not_be_passed_on_are_withheld(tmp_path: Path) -> None:
    run = make_run(tmp_path, redacted=True, datasets=(notice(redistributable=False),))
    row = find(run, model="n").rows[0]
    assert (row.withheld, row.question, row.reply) == ("CC BY-NC 4.0", *["text withheld: licence CC BY-NC 4.0"] * 2)
    assert (row.read_as, row.gold) == ("option text 1, withheld",) * 2
    assert {name[0] for name in names(find(run, text="h"))} == {"e-0", "e-1", "e-2"}


def test_a_partition_that_is_gone_is_told(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    assert open_rows(run).counts.height
    run.lake.path(run.partitions("answers", dataset="e")[0]).unlink()
    assert names(find(run, dataset="d"))
    with pytest.raises(LakeError, match="a partition of the lake is missing"):
        find(run, dataset="e")
