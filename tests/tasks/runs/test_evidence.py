"""What a model answered to an item, told as one row; texts that may not be passed on are nowhere in what is written."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.blueprint import MetricSpec
from schemas.documents.answered_item import AnsweredItem
from schemas.lineage import DatasetNotice
from schemas.tables.items import Items
from schemas.tables.responses import Answers, Responses, SimulationFaults
from schemas.tables.scores import ItemScores
from tasks.lake.manifest import write_manifest
from tasks.reporting.page import write_report
from tasks.runs.evidence import answered_item, read_evidence, redact
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import ReportData, System
from tests.tasks.reporting import example_items
from tests.tasks.reporting.example_items import LONG, make_table
from tests.tasks.reporting.example_run import example_data, manifest
from tests.tasks.reporting.pages import render_html
from tests.tasks.rows import answer, answers, frame, item, turn
from tests.tasks.rows import items as asked_items
from tests.tasks.runs.runs import run_of
from tests.tasks.scoring.samples import items, one_dataset

M = System("m", "base")
DESIGN = one_dataset(MetricSpec(metric="accuracy"), MetricSpec(metric="strict_accuracy"))
NOTICE = DatasetNotice(
    id="d", title="D", licence="research only", redistributable=False, sources=("example.org",), evaluation_version="1"
)


def left(folder: Path, given: list[dict[str, Any]], *scores: pl.DataFrame) -> PastRun:
    """A run with these answers to items of one choice each, ice (right) or tea, and these scores."""
    asked: dict[str, Any] = {"dataset": "d", "options": ["ice", "tea"], "gold_indices": [0]}
    layers = {
        "items": asked_items(*(item(f"d-{n}", "single_choice", **asked) for n in range(len(given)))),
        "answers": answers(*(answer(f"d-{n}", row.pop("text", None), dataset="d", **row) for n, row in enumerate(given))),
        "item_scores": pl.concat(scores),
    }
    return run_of(folder, DESIGN, layers, {"dataset": "d", **M._asdict()})


def told(run: PastRun) -> list[AnsweredItem]:
    evidence = read_evidence(run, "d", M)
    return [answered_item(run, evidence, key, ()) for key in evidence.answers]


def test_a_row_has_the_mean_of_its_metrics(tmp_path: Path) -> None:
    chosen: dict[str, Any] = {"parsed_answer": "tea", "chosen_place": 0}
    scores = (items("d", [1.0], **chosen), items("d", [0.5], metric="strict_accuracy", **chosen))
    (row,) = told(left(tmp_path, [{"text": "A", "option_order": [1, 0]}], *scores))
    assert (row.item_id, row.repetition, row.value, row.call, row.reply) == ("d-0", 0, 0.75, "answered", "A")
    # Shown in the other order: A was the second option of the item.
    shown = [(option.letter, option.index, option.text, option.gold, option.chosen) for option in row.options or ()]
    assert shown == [("A", 1, "tea", False, True), ("B", 0, "ice", True, False)]
    assert [score.why for score in row.scores] == ["Read as A, right is B."] * 2
    assert row.next == f"moodflow explain r --dataset d --item d-0 --lake {tmp_path}"


def test_a_missing_value_says_whose_call_failed(tmp_path: Path) -> None:
    given = [{"failed_role": "seeker"}, {}, {"text": "A"}, {"text": "A"}]
    status = ["call_failed", "call_failed", "judge_failed", "not_counted"]
    rows = told(left(tmp_path, given, items("d", [None] * 4, status=status)))
    lost = "The call failed, so the item has no score: it is missing and not 0. What went wrong: timeout_total"
    assert [row.scores[0].why for row in rows] == [
        f"{lost}, of the seeker.",
        f"{lost}.",
        "No rating came that can be read, so the item has no score: it is missing and not 0.",
        "The metric does not count this item.",
    ]
    assert {row.value for row in rows} == {None}


def test_texts_of_a_redacted_run_are_withheld(tmp_path: Path) -> None:
    run = left(tmp_path, [{"text": "I say ice"}], items("d", [1.0]))
    assert (told(run)[0].question, read_evidence(run, "d", M).withheld) == ("What fits?", None)
    closed = replace(run, manifest=run.manifest.model_copy(update={"redacted": True, "datasets": (NOTICE,)}))
    (row,) = told(closed)
    withheld = "text withheld: licence research only"
    assert (row.question, row.reply, read_evidence(closed, "d", M).withheld) == (withheld, withheld, "research only")
    assert [option.text for option in row.options or ()] == [f"option text {n}, withheld" for n in (1, 2)]


@pytest.mark.parametrize(("size", "shown"), [(2_000, True), (2_001, False)])
def test_a_row_has_its_context_if_short(size: int, shown: bool, tmp_path: Path) -> None:
    context = "x" * size
    asked = asked_items(item("d-0", "single_choice", dataset="d", options=["ice", "tea"], gold_indices=[0], context=context))
    layers = {"items": asked, "answers": answers(answer("d-0", "A", dataset="d")), "item_scores": items("d", [1.0])}
    (row,) = told(run_of(tmp_path, DESIGN, layers, {"dataset": "d", **M._asdict()}))
    assert (row.context, row.context_characters) == (context if shown else None, size)


MARKER = "zebrafish"
"""Stands in every text of the dataset mood and of the replies to it."""

CANARY = "canary 26b5c67b"


def notice(dataset: str, *, redistributable: bool = True, canary: str | None = None) -> DatasetNotice:
    return DatasetNotice(
        id=dataset,
        title=dataset.title(),
        licence="CC-BY-NC-9.0" if redistributable else "research only",
        redistributable=redistributable,
        canary=canary,
        sources=("example.org/a/b at 1234567",),
        evaluation_version="1.2",
        ambiguous=("rows 3 and 4 ask the same",),
    )


NOTICES = (notice("mood", redistributable=False, canary=CANARY), notice("tale"))


def marked(rows: list[dict[str, Any]], *columns: str) -> list[dict[str, Any]]:
    """Rows in which every text of mood in these columns begins with the marker."""
    for row in rows:
        for name in columns if row["dataset"] == "mood" else ():
            texts = row[name] if isinstance(row[name], list) else [row[name]]
            with_marker = [f"{MARKER} {text}" for text in texts]
            row[name] = with_marker if isinstance(row[name], list) else with_marker[0]
    return rows


def secret_data(*, redacted: bool) -> ReportData:
    responses = marked(example_items.responses().to_dicts(), "reply", "reasoning")
    for row in responses:
        if row["status"] == "failed":
            row.update(reply=None, error=f"the server says: {MARKER}")
    scores = example_items.item_scores().to_dicts()
    for row in scores:
        if row["dataset"] == "mood":
            row.update(gold=[f"{MARKER} angry"], predicted=[f"{MARKER} calm"])
            row.update({"parsed_answer": f"{MARKER} calm"} if row["parsed_answer"] else {})
    return example_data(
        items=make_table(Items, marked(example_items.items().to_dicts(), "question", "context", "options")),
        responses=make_table(Responses, responses),
        item_scores=make_table(ItemScores, scores),
        manifest=manifest(datasets=NOTICES, redacted=redacted),
    )


def written(data: ReportData, folder: Path) -> str:
    """Every file of the run."""
    write_report(data, folder / "runs" / data.manifest.run)
    write_manifest(folder, data.manifest)
    return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in sorted(folder.rglob("*")) if path.is_file())


def test_texts_are_in_an_unredacted_report(tmp_path: Path) -> None:
    text = written(secret_data(redacted=False), tmp_path)
    assert text.count(MARKER) > 20
    assert "This report may quote texts of Mood whose licence does not allow passing them on." in text
    assert text.count("This report may quote texts of 1 dataset whose licence") == 2
    assert text.count("write it again with --redact") == 3


def test_a_redacted_report_holds_none_of_the_texts(tmp_path: Path) -> None:
    text = written(redact(secret_data(redacted=True)), tmp_path)
    assert MARKER not in text
    assert "text withheld: licence research only" in text
    assert "Texts of Mood and the replies to them are withheld" in text
    # Texts of other datasets, ids, places and scores stay.
    assert "Once upon a time" in text
    assert "item mood-1" in text
    assert "items.jsonl, row 1" in text


def test_contexts_references_and_free_replies_are_withheld(tmp_path: Path) -> None:
    restricted = example_data(manifest=manifest(datasets=(notice("tale", redistributable=False),), redacted=True))
    before, after = written(restricted, tmp_path / "before"), written(redact(restricted), tmp_path / "after")
    for text in (LONG[:20], "请概括。", "山上有庙。", "Once upon a time"):
        assert (text in before, text in after) == (True, False)


def test_a_dialogue_is_withheld_by_its_turns(tmp_path: Path) -> None:
    turns = [turn("seeker", f"{MARKER} I am\nso tired. " * 40), turn("tested", f"{MARKER} 怎么了？", language="zh")]
    turns.append(turn("seeker", f"{MARKER} You should rest.", 2))
    rows = example_data().answers.filter(dataset="tale", model="alpha").to_dicts()
    answers = make_table(Answers, [{**row, "text": None, "turns": turns} for row in rows])
    restricted = manifest(datasets=(notice("tale", redistributable=False),), redacted=True)
    advice = {"found_by": "rule", "number": 0, "kind": "gives_advice", "severity": "hindered", "speaker": "seeker", "turn": 2}
    refused = {"found_by": "j", "number": 0, "kind": "out_of_role", "severity": "minor", "refused": "turn 1 does not say that"}
    key = ("dataset", "item_id", "model", "setting", "repetition", "part")
    found = [{**{name: row[name] for name in key}, "evidence": MARKER, **one} for row in rows for one in (advice, refused)]
    data = example_data(answers=answers, manifest=restricted, simulation_faults=frame(SimulationFaults, tuple(found)))
    before, after = written(data, tmp_path / "before"), written(redact(data), tmp_path / "after")
    for page in (before, after):
        lines = re.findall(r"<b lang=\"en\">seeker:</b> (.*?)</p>\n?(<p class=\"note\">.*?</p>)?", page)
        assert {fault for text, fault in lines if "tired" in text} == ({""} if page is before else set())
        assert '<p class="note">Fault of the seeker: gives advice (hindered, by rule)</p>' in {fault for _, fault in lines}
        assert "out of role" not in page
    assert f'<p class="text" lang="en" dir="auto"><b lang="en">seeker:</b> {MARKER} I am so tired. {MARKER}' in before
    assert f'<p class="text" lang="zh" dir="auto"><b lang="en">tested:</b> {MARKER} 怎么了？</p>' in before
    assert (MARKER in after, '<b lang="en">seeker:</b> text withheld: licence research only</p>' in after) == (False, True)


def test_scores_places_and_baselines_do_not_change() -> None:
    before, after = secret_data(redacted=False), redact(secret_data(redacted=True))
    kept = ["model", "dataset", "item_id", "chosen_place", "gold_place", "value", "status"]
    assert after.item_scores.select(kept).equals(before.item_scores.select(kept))
    # angry is right in 3 of 4, whatever it is called.
    found = after.baselines["mood", "accuracy"]
    assert found.majority is not None
    assert (found.majority.share, found.majority.answer) == (0.75, "option text 2, withheld")


def test_a_letter_that_was_read_is_no_text() -> None:
    data = redact(example_data(manifest=manifest(datasets=NOTICES, redacted=True)))
    assert set(data.item_scores.filter(pl.col("dataset") == "mood")["parsed_answer"].drop_nulls()) == {"A", "B", "C"}


def test_empty_replies_and_failed_calls_stay() -> None:
    replies = example_items.responses().to_dicts()
    empty = [row | ({"reply": " "} if row["reply"] == "C" else {}) for row in replies]
    data = redact(example_data(responses=make_table(Responses, empty), manifest=manifest(datasets=NOTICES, redacted=True)))
    mood = data.responses.filter(pl.col("dataset") == "mood")
    assert set(mood["reply"]) == {" ", None, "text withheld: licence research only"}
    assert mood.filter(pl.col("reply").is_null())["failure"].unique().to_list() == ["timeout_total"]


def test_only_restricted_datasets_that_were_asked_are_named() -> None:
    data = example_data(manifest=manifest(datasets=(notice("mood"), notice("tale")), redacted=True))
    assert redact(data) is data
    lost = example_data(manifest=manifest(datasets=(notice("lost", redistributable=False),)))
    for html in (render_html(data), render_html(lost)):
        assert "may quote" not in html
    assert "withheld" not in render_html(data)


@pytest.mark.parametrize("redacted", [False, True])
def test_datasets_licences_and_canaries_are_listed(redacted: bool, tmp_path: Path) -> None:
    data = secret_data(redacted=redacted)
    text = written(redact(data) if redacted else data, tmp_path)
    page = render_html(data)
    assert "Data and licences" in page
    for stated in ("research only", "CC-BY-NC-9.0", "example.org/a/b at 1234567", "rows 3 and 4 ask the same"):
        assert stated in page
    # The canary stands in the page and in the manifest.
    assert text.count(CANARY) == 2
