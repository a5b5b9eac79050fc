"""Pages about a run: what stands next to what on the page of a row, and which links a score has."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from schemas.documents.answered_item import (
    AnswerRating,
    AskedOnce,
    DialogueFault,
    GoldRow,
    ItemExplanation,
    PartAnswer,
    SpokenLine,
)
from schemas.documents.rows import RowFilter, RowId
from schemas.errors import UsageError
from schemas.table import Cell, Part
from tasks.reporting.view.addresses import Address, PageKind, row_address, score_address, served
from tasks.reporting.view.pages import render
from tasks.reporting.view.row_pages import dialogue_of, mark_needle, rating_table, read_row, read_turns, split_at_quotes
from tasks.reporting.view.score_pages import count_rows
from tasks.reporting.view.site import Page, Site
from tasks.runs.past_run import PastRun
from tests.rows import each_row
from tests.tasks.run_rows.asked_runs import asked_run, choice, said
from tests.tasks.scoring.samples import ability, blueprint, task

ROW = {"dataset": "d", "item_id": "q1", "model": "m", "setting": "base", "repetition": "0"}
MODELS = {"models": [{"name": "m"}]}
NOTHING = dict.fromkeys(("call", "finish_reason", "remark", "failure", "failed_role", "turns"))
LONG = "x" * 30_000


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> PastRun:
    items = [choice("q1", context=LONG), choice("q2"), choice("s1", dataset="s")]
    replies = [said("q1", "A"), said("q2", "Answer: B"), said("s1", "A", dataset="s")]
    design = blueprint(ability("kind", task("d").model_copy(update={"title": "Kind"})), ability("safe", task("s")))
    return asked_run(tmp_path_factory.mktemp("lake"), items, {"m": replies}, design=design)


def asked(**fields: Any) -> AskedOnce:
    """A time that an item was asked, of which the page takes these fields."""
    return AskedOnce.model_construct(**{"calls": (), "answers": (), "turns": (), "faults": (), **fields})


def test_a_fault_stands_at_its_line() -> None:
    said_by = [("seeker", "I am sad"), ("tested", "I hear you"), ("seeker", "As a language model, no")]
    turns = tuple(
        SpokenLine(speaker=speaker, text=text, turn=n // 2 + 1, call_key="k", language="en", characters=len(text))
        for n, (speaker, text) in enumerate(said_by)
    )
    about: dict[str, Any] = {"part": "", "speaker": "seeker", "turn": 2, "severity": "hindered", "found_by": "rule"}
    fault = DialogueFault(**about | {"kind": "falls_out_of_role", "evidence": "a language model"})
    lines = [*dialogue_of(asked(turns=turns, faults=(fault,)))]
    assert [(line.faults, line.quotes) for line in lines[1:]] == [
        ("", ()),
        ("falls out of role (hindered, by rule)", ("a language model",)),
    ]


@each_row(
    ("quotes", "parts"),
    [
        ([], ["As a  (bot), no, a bot"]),
        (["a (bot),", "a", "As a"], ["", "As a", "  (bot), no, ", "a", " bot"]),
        (["a (bot),"], ["As ", "a  (bot),", " no, a bot"]),
        ([" "], ["As a  (bot), no, a bot"]),
        (["a robot"], ["As a  (bot), no, a bot"]),
    ],
)
def test_quotes_are_marked_in_their_line(quotes: list[str], parts: list[str]) -> None:
    assert split_at_quotes("As a  (bot), no, a bot", quotes) == parts


def test_gold_stands_beside_what_was_inferred() -> None:
    parts = {"post": "no JSON", "turn 1 review": '{"emotion_tags": [{"emotion": "sad", "intensity": 6}]}'}
    answers = tuple(PartAnswer(part=part, reply=reply, scores=(), ratings=(), **NOTHING) for part, reply in parts.items())
    first = {"number": 1, "emotions": [{"name": "upset", "intensity": 5}], "remark": None}
    gold = (GoldRow(layer="turns", columns=first), GoldRow(layer="wholes", columns={"answers": {"q1": ["to rest", "to talk"]}}))
    about: dict[str, Any] = {"gold": gold}
    document, call = ItemExplanation.model_construct(**about), SimpleNamespace(step="turn 1 review")
    shown = [
        (title, step, noted.rows, [(getattr(name, "value", name), value) for name, value in inferred.rows])
        for title, step, noted, inferred in read_turns(document, asked(answers=answers, calls=(call,)))
    ]
    assert [(title, step) for title, step, *_ in shown] == [("Turn 1", call), ("As a whole", None)]
    assert [[value for _, value in noted] for _, _, noted, _ in shown] == [["upset 5"], ["q1 to rest; to talk"]]
    assert [inferred for *_, inferred in shown] == [[("emotion tags", "sad 6")], [("post", "no JSON")]]


@pytest.mark.parametrize(
    ("text", "needle", "expected"),
    [
        ("ab needle cd", "needle", ("ab ", "needle", " cd")),
        ("ends with nee", "needle", ("ends with ", "nee", "")),
        ("dle begins", "needle", ("", "dle", " begins")),
        ("eed", "needle", ("", "eed", "")),
        ("nothing", "quartz", ("nothing", "", "")),
        ("no part", None, ("no part", "", "")),
    ],
)
def test_a_needle_is_marked(text: str, needle: str | None, expected: tuple[str, str, str]) -> None:
    assert mark_needle(text, needle) == expected


def test_a_repetition_not_asked_is_refused(run: PastRun) -> None:
    with pytest.raises(UsageError, match="there is no repetition 3"):
        read_row(run, ROW | {"repetition": "3"})


def test_a_long_text_is_cut_in_words(run: PastRun) -> None:
    page = render(Address("row", run.name, tuple(ROW.items())), run, Site(served, "view.css"))
    assert f">{LONG[:20_000]}</p>" in page
    assert "10,000 more characters are shown by the command below." in page
    assert "<form" not in page


def test_each_part_leads_one_level_deeper(run: PastRun) -> None:
    site = Site(served, "/static/view.css", above=Cell("Leaderboard", href="/board"))
    page = render(score_address(run.name, "m", "base"), run, site)
    below = score_address(run.name, "m", "base", ability="kind")
    assert f'href="{served(below).replace("&", "&amp;")}"' in page
    assert render(below, run, site).count('<a href="/board">Leaderboard</a>') == 1


def test_no_link_is_shown_to_no_page(run: PastRun) -> None:
    page = render(Address("run", run.name), run, Site(lambda _: None, "view.css"))
    assert page.count("<a ") == page.count('<a class="skip"') == 1


def test_a_row_has_one_address() -> None:
    assert row_address("r", RowId.model_validate(ROW)) == Address("row", "r", tuple(ROW.items()))


def test_places_of_one_title_are_one(run: PastRun) -> None:
    page = render(Address("row", run.name, tuple(ROW.items())), run, Site(served, "view.css"))
    assert page.count(">Kind</a>") == 1
    assert "task=task_d" in page
    assert "ability=kind" not in page


def test_a_reading_is_shown_where_it_differs(run: PastRun) -> None:
    page = render(Address("rows", run.name), run, Site(served, "view.css"))
    assert page.count("read as") == page.count("read as B") == 1


def test_all_unread_rows_of_a_shape_are_reached(tmp_path: Path) -> None:
    replies = [*(said(str(n), "A or B") for n in range(4)), said("4", " ")]
    run = asked_run(tmp_path, [choice(str(n)) for n in range(5)], {"m": replies})
    shape, site = "a few words, several letters named", Site(served, "view.css", answers_forms=True)
    address = Address("unread", run.name, (("shape", shape),))
    overview, whole = (render(each, run, site) for each in (Address("unread", run.name), address))
    assert f'<a href="{served(address)}">4</a>' in overview
    assert [page.count("item_id=") for page in (overview, whole)] == [4, 4]  # three of this shape and one empty; four
    assert "status=unread" not in overview
    folder = render(Address("unread", run.name), run, Site(served, "view.css"))
    assert folder.count("item_id=") == 5
    with pytest.raises(UsageError, match="there is no shape odd"):
        render(Address("unread", run.name, (("shape", "odd"),)), run, site)


@each_row(
    ("kind", "words"),
    [
        ("unread", "Every reply could be read."),
        ("failed", "No call failed."),
        ("hard", "No item of two systems or more was failed by all."),
        ("flips", "No item was read in two orders of its options."),
        ("compare", "This lake holds no other run of this benchmark."),
    ],
)
def test_a_page_without_finds_says_so(run: PastRun, kind: PageKind, words: str) -> None:
    assert words in render(Address(kind, run.name), run, Site(served, "view.css"))


def test_a_run_to_compare_with_is_described(tmp_path: Path) -> None:
    names = ("r", "20260101T000000000000Z.1-m", "renamed")
    run, *_ = [asked_run(tmp_path, [choice("1")], {"m": [said("1", "A")]}, name=name, plan=MODELS) for name in names]
    page = render(Address("compare", run.name), run, Site(served, "view.css"))
    assert ">#1, 1 January 2026, 00:00 UTC: m</a>" in page
    assert ">renamed, 1 January 2026, 00:00 UTC: m</a>" in page


def test_a_run_has_its_full_name_once(run: PastRun) -> None:
    page = render(Address("run", run.name), run, Site(served, "view.css"))
    assert page.count(f"full name is {run.name}.") == 1
    assert "<p><code>moodflow runs show" in page


def test_a_rating_is_of_the_highest() -> None:
    about: dict[str, Any] = {"part": "", "judge": "j", "rubric": "r", "lowest": 0, "highest": 4, "rationale": None}
    given = [("warm_words", 3, "parsed"), ("tact", None, "unreadable")]
    ratings = tuple(
        AnswerRating(**about, judge_repetition=0, dimension=dimension, rating=rating, parse_status=status, raw_reply="")
        for dimension, rating, status in given
    )
    table = rating_table(asked(ratings=ratings))
    assert [column.title for column in table.columns] == ["Dimension", "Judge", "Rating", "Read"]
    assert table.rows == [["warm words", "j", Part(3, 4), ""], ["tact", "j", None, "unreadable"]]


def test_no_rows_of_a_status_are_zero(tmp_path: Path) -> None:
    lake = asked_run(tmp_path, [choice("q1")], {"m": [said("q1", "A")], "n": [said("q1", "B")]})
    site = Site(lambda _: None, "view.css")
    table = count_rows(Page(lake, {}, site), {name: RowFilter(model=name) for name in ("m", "n")})
    # Of m the one row is right, of n it is wrong.
    heads = [column.title for column in table.columns]
    counts = [
        dict(zip(heads[1:], (cell.value if isinstance(cell, Cell) else cell for cell in cells), strict=True))
        for _, *cells in table.rows
    ]
    assert [(row["All"], row["Right"], row["Wrong"]) for row in counts] == [(1, 1, 0), (1, 0, 1)]


@each_row(("text", "words"), [("nothing", "0 rows of 3"), ("mia", "3 rows of 3")])
def test_a_search_counts_what_it_shows(run: PastRun, text: str, words: str) -> None:
    page = render(Address("rows", run.name, (("text", text),)), run, Site(served, "view.css"))
    assert f"<h2>{words}</h2>" in page


def test_a_search_without_end_counts_so_far(run: PastRun) -> None:
    page = render(Address("rows", run.name, (("text", "mia"),)), run, Site(served, "view.css", rows=2))
    assert "<h2>2 rows or more of 3</h2>" in page


def test_no_row_is_offered_beside_itself(tmp_path: Path) -> None:
    run = asked_run(tmp_path, [choice("q1")], {"m": [said("q1", "A")], "n": [said("q1", "B")]})
    page = render(Address("row", run.name, tuple(ROW.items())), run, Site(served, "view.css", answers_forms=True))
    assert ("<option>n</option>" in page, "<option>m</option>" in page, "Setting <select" in page) == (True, False, False)
