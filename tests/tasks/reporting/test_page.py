"""The page: complete in itself, inert, readable, and honest about what is missing."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.changes import RunChanges, RunState
from schemas.errors import LakeError
from schemas.lineage import Missing
from schemas.table import Cell, Column, Table
from schemas.tables.items import Items
from schemas.tables.layers import AGGREGATED
from tasks.reporting.figures import palette
from tasks.reporting.page import MOST_ON_A_PAGE, make_environment, write_report, write_summary
from tasks.reporting.report import build_report
from tasks.text.number_format import heat_step
from tests.tasks.reporting.example_items import LONG, make_table
from tests.tasks.reporting.example_large import crowded_data, large_data
from tests.tasks.reporting.example_long import long_data
from tests.tasks.reporting.example_run import empty_data, example_data, headlined_data, manifest
from tests.tasks.reporting.pages import ATTACK, Page, render_html, section


@pytest.fixture(scope="module")
def page(example_html: str) -> Page:
    return Page(example_html)


@pytest.fixture(scope="module", params=["example_html", "long_html"])
def html(request: pytest.FixtureRequest) -> str:
    """Each of the pages."""
    return str(request.getfixturevalue(request.param))


def test_nothing_is_loaded_and_nothing_can_run(html: str) -> None:
    page = Page(html)
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"script", "img", "iframe", "object", "embed", "form", "base", "audio", "video", "image", "use"}
    assert page.values("src") == []
    assert [href for href in page.values("href") if not href.startswith("#")] == ["data:,"]
    assert not [key for _, attributes in page.tags for key in attributes if key.startswith("on")]
    style = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)[0]
    assert not re.search(r"url\(|@import|@font-face|https?:", style)
    policy = [attributes["content"] for tag, attributes in page.tags if tag == "meta" and "http-equiv" in attributes]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]


def test_every_anchor_exists_once(html: str) -> None:
    page = Page(html)
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    assert {href.removeprefix("#") for href in page.values("href") if href.startswith("#")} <= set(ids)


def test_text_of_models_is_inert_but_readable(example_html: str, page: Page) -> None:
    assert "<script>" not in example_html
    assert "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; I pick ```B``` | or *C*" in example_html
    assert "<script>alert('x')</script> I pick ```B``` | or *C*" in page.words


def test_every_text_of_others_is_escaped() -> None:
    # Text of datasets, model names, errors and reasons: none of it may become an element.
    data = example_data()
    attacker = pl.col("model").replace({"alpha": ATTACK})
    layers = (*AGGREGATED, "item_scores", "responses")
    frames: dict[str, Any] = {name: getattr(data, name).with_columns(attacker) for name in layers}
    hostile = [row | {"question": ATTACK, "context": ATTACK, "source_file": ATTACK} for row in data.items.to_dicts()]
    frames["items"] = make_table(Items, [row | {"options": [ATTACK, "b", "c"] if row["options"] else None} for row in hostile])
    missing = (Missing(dataset="lost", reason=ATTACK, next_step=ATTACK),)
    page = Page(render_html(example_data(**frames, manifest=manifest(missing=missing, git_commit=ATTACK))))
    assert {"script", "img"}.isdisjoint(tag for tag, _ in page.tags)
    assert page.words.count(ATTACK) > 20


def test_chinese_text_is_there_and_marked_as_such(page: Page) -> None:
    assert "答案是A" in page.words
    assert "请概括。" in page.words
    assert LONG in page.words
    assert "zh" in page.values("lang")


SAID = {
    "m1": (
        "25.00 scored of 100",
        "15.00 to 35.50",
        "not ranked: 3 of 4 datasets have a score",
        "Emotion Recognition Emotional Ability 25.0 1 of 2 datasets 25.0 1 of 1 dataset – no tasks 25.0 2 of 3 datasets",
        (
            "Recognition › Moods choice accuracy 0.250 0.100 to 0.600 no better than always answering B (0.750) 25.0 4 of 4 25 % "
            "1 reply 0.750 always B 0.750 angry"
        ),
        "Recognition › Moods choice accuracy – – 0 of 0 – – – its data is not published",
        "Mood: unreadable replies: 1 of 4",
        "A calm B angry ✓ right C sad ← chosen",
        "Reply of the model C Read as C, right is B.",
        "No answer could be read from the reply, so the item counts as wrong. It stopped at the token limit.",
    ),
    "m2": (
        "0.00 vetoed 100.00 before the veto",
        "Gate: Values & Safety 0.00, required 60",
    ),
    "m3": (
        "– unscored",
        "Gate: Values & Safety not scored, required 60",
    ),
    "overview": (
        "alpha scores 25.0 of 100",
        "beta is vetoed: its Values & Safety score of 0.0 is below",
        "gamma has no score: none of the 4 datasets gave a result.",
        "alpha Moods Emotional Ability › Emotion Recognition 25.0",
    ),
    "coverage": (
        "Calls sent 1,234 Answered 1,200 From the journal, already paid 5 Failed 34",
        "Lost all all its data is not published bring the file with --mirror",
        "gamma timeout_total 4 1 no answer within 9 s",
        "beta Tale 1",
        "alpha 6 6 0 1 60 12 0 3.50 s 5.75 s",
        "beta 3 3 0 0 – – 3 1.00 s",
    ),
    "costs": ("The manifest of this run records none.",),
    "method": (
        "which of them are there: low 0.4, medium 0.6; one alone counts fully.",
        "Total 1 × Emotional Ability, divided by the weights of those that have a score.",
        "Veto Below 60 in Values & Safety the total is 0",
        "at least 95 % of the items",
        # 2 abilities with tasks, 3 tasks of 4 datasets with a method each.
        "3 tasks, 4 datasets, 4 methods. Ability : task 1 : 1.50, task : dataset 1 : 1.33, dataset : method 1 : 1.00;",
        "the MoodBench paper aims at 1 : 3, 1 : 2, 1 : 1.",
        "Emotion Recognition 2 3 3",
        "At most 4 items per dataset, drawn by the hash of seed 0 and content: the same everywhere.",
        "Each source (tweet, passage, dialogue) gives one before any gives a second.",
        "alpha rated the free-text answers, each 1 time.",
        "An item longer than the model's context is missing, not shortened.",
        "Limit of a reply in tokens: alpha 64, beta 64 and gamma 64.",
    ),
    "lineage": (
        *("Run 20260101-000000-moodbench-aaaa", "b" * 64, "c" * 40, '"sample": 4'),
        "responses: 2 partitions, 6 rows, 1 incomplete",
        "dataset=mood, model=gamma incomplete: failed calls are asked again 3",
    ),
}
"""What sections of the page say."""


@pytest.mark.parametrize("anchor", SAID)
def test_a_section_says_what_the_run_has(example_html: str, anchor: str) -> None:
    words = section(example_html, anchor)
    assert [text for text in SAID[anchor] if text not in words] == []


def test_null_is_never_shown_as_zero(example_html: str) -> None:
    gamma = re.findall(r'<section id="m3">.*?</section>', example_html, re.DOTALL)[0]
    # gamma has no score anywhere: every cell that holds a number of points must be a dash, and no cell is coloured.
    assert not re.search(r"\b0\.0+\b", gamma)
    assert "heat-" not in gamma
    assert "chip" not in gamma
    assert gamma.count(">–<") > 10


def test_the_title_says_what_came_out(example_html: str, page: Page) -> None:
    assert "<title>alpha 25.0 and 2 more - Small bench</title>" in example_html
    said = {
        attributes.get("property"): attributes["content"]
        for tag, attributes in page.tags
        if tag == "meta" and "content" in attributes
    }
    assert said["og:title"] == "alpha 25.0 and 2 more - Small bench"
    assert (said["og:description"] or "").startswith("alpha scores 25.0 of 100")
    assert said["og:image"] == "report.png"


def test_tables_have_captions_and_heads_have_scopes(html: str) -> None:
    page = Page(html)
    tags = [tag for tag, _ in page.tags]
    assert tags.count("caption") == tags.count("table") > 10
    assert {attributes.get("scope") for tag, attributes in page.tags if tag == "th"} <= {"col", "colgroup", "row"}


@pytest.mark.parametrize(("state", "sections"), [("Completed", 0), ("UpToDate", 0), ("Drifting", 1), ("Regressed", 1)])
def test_a_run_without_news_says_so_in_a_line(state: RunState, sections: int) -> None:
    changes = RunChanges(run="b", benchmark="tiny", state=state, previous="20260101-a")
    html = render_html(replace(example_data(), changes=changes))
    assert html.count('<section id="since">') == sections
    assert f">{state}</span>" in html


def test_a_run_that_lacks_nothing_says_so_once() -> None:
    words = section(render_html(replace(empty_data(), manifest=manifest(missing=()))), "coverage")
    assert "Nothing that the run asked for is missing: no dataset, no row, no call and no rating." in words


def test_long_tables_are_folded(long_html: str) -> None:
    # 11 scores in 2 settings each; the ratings are few.
    assert re.findall(r"<summary>Gains of alpha: (\d+) rows</summary>", long_html) == ["22"]
    assert "<summary>Ratings by dimension" not in long_html


def test_headline_scores_lead_the_page() -> None:
    html = render_html(headlined_data())
    assert re.findall(r'<section id="(\w+)">', html)[:2] == ["headlines", "overview"]
    words = section(html, "headlines")
    assert "Model Moods alpha 25.00 10.00 to 60.00 4 beta 100.00 1 gamma – 0 of 4" in words
    assert "Model Losses alpha – beta – gamma –" in words
    assert "Moods: accuracy; the method defines them." in words


def test_a_run_without_anything_is_still_a_page() -> None:
    page = Page(render_html(empty_data()))
    assert "alpha has no score" in page.words
    assert "above 0 of" not in page.words
    assert "svg" not in {tag for tag, _ in page.tags}


def test_sixty_datasets_stay_below_two_megabytes() -> None:
    size = len(render_html(large_data()).encode())
    assert 500_000 < size < 2_000_000


def test_of_many_models_each_has_its_page(tmp_path: Path) -> None:
    data = crowded_data(MOST_ON_A_PAGE - 2)
    assert len(data.systems) == MOST_ON_A_PAGE + 1
    write_report(data, tmp_path)
    pages = {path.name: Page(path.read_text(encoding="utf-8")) for path in tmp_path.glob("*.html")}
    run = pages.pop("report.html")
    named = [link for link in run.values("href") if link.startswith("report.")]
    assert named == [f"report.m{n}.html#m{n}" for n in range(1, MOST_ON_A_PAGE + 2)]
    assert sorted(pages) == sorted(link.partition("#")[0] for link in named)
    assert "m1" not in run.values("id")
    last = pages[f"report.m{MOST_ON_A_PAGE + 1}.html"]
    assert last.values("id")[:2] == ["content", f"m{MOST_ON_A_PAGE + 1}"]
    assert {value[1:] for value in last.values("href") if value.startswith("#")} <= set(last.values("id"))
    assert "report.html#overview" in last.values("href")
    # Every place that the one page of a smaller run has about a model.
    small = Page(render_html(crowded_data(MOST_ON_A_PAGE - 3)))
    places = [name for name in small.values("id") if re.match("m1(-|$)", name)]
    assert [name for name in pages["report.m1.html"].values("id") if name != "content"] == places


def test_another_model_adds_little_to_a_page() -> None:
    # 200 models of MoodBench were 29.5 MB: 147 kB each.
    sizes = [len(render_html(crowded_data(models)).encode()) for models in (20, 30)]
    assert 0 < sizes[1] - sizes[0] < 10 * 3000


def test_heat_has_ten_steps() -> None:
    assert [heat_step(score) for score in (0.0, 9.99, 10.0, 59.9, 99.0, 100.0)] == [0, 0, 1, 5, 9, 9]


def _luminance(colour: str) -> float:
    def linear(channel: int) -> float:
        share = channel / 255
        return share / 12.92 if share <= 0.04045 else float(((share + 0.055) / 1.055) ** 2.4)

    red, green, blue = (linear(int(colour[place : place + 2], 16)) for place in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """WCAG 2.2 contrast ratio of two colours."""
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_computed_as_in_wcag() -> None:
    # Black on white is 21:1; the grey #767676 is the lightest that passes 4.5:1 on white.
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


def style_colours(html: str, scheme: str) -> dict[str, str]:
    """Colours of a page's style sheet by name; those that the dark scheme does not set are those of the light one."""
    schemes = re.findall(r":root \{(.*?)\}", html, re.DOTALL)[: 2 if scheme == "dark" else 1]
    return dict(found for text in schemes for found in re.findall(r"--([\w-]+): (#[0-9a-f]{6});", text))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_contrast_passes_wcag_aa_in_both_schemes(example_html: str, scheme: str) -> None:
    colours = style_colours(example_html, scheme)
    pairs = [("ink", f"heat-{step}") for step in range(10)]
    pairs += [(text, ground) for text in ("ink", "muted", "ours") for ground in ("page", "surface", "raised")]
    pairs += [("bad", "bad-soft"), ("good", "good-soft"), ("gate", "gate-soft"), ("ink", "gate-soft"), ("ink", "ours-soft")]
    pairs += [("ink", "bad-soft"), ("ink", "good-soft")]
    assert [pair for pair in pairs if contrast(colours[pair[0]], colours[pair[1]]) < 4.5] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_lines_of_figures_stand_out_in_both_schemes(example_html: str, scheme: str) -> None:
    colours = style_colours(example_html, scheme)
    names = {colour: name for name, colour in palette.COLOURS.items()}
    assert [name for colour in palette.SERIES if contrast(colours[name := names[colour]], colours["surface"]) < 3] == []


def test_the_style_sheet_replaces_colours_of_figures(html: str) -> None:
    drawn = set(re.findall(r'(?:fill|stroke)="(#[0-9a-f]+)"', html))
    assert drawn <= set(palette.COLOURS.values())
    assert len(drawn) >= 5
    for name, colour in palette.COLOURS.items():
        assert f'svg [fill="{colour}"] {{ fill: var(--{name}); }}' in html


def test_headline_stands_at_the_top(example_html: str) -> None:
    totals, gates, *_ = re.findall(
        r"<svg.*?</svg>", re.findall(r'<section id="overview">.*?</section>', example_html, re.DOTALL)[0], re.DOTALL
    )
    # Of the totals the vetoed one is before the veto; dots lead to the score tree, the hollow one is drawn last.
    assert re.findall(r">(\d+\.\d)<", totals) == ["25.0", "100.0"]
    assert re.findall(r'href="#([^"]*)"', totals) == ["m1-total", "m2-total"]
    assert re.findall(r">(\d+\.\d)<", gates) == ["100.0", "0.0"]
    assert re.findall(r'href="#([^"]*)"', gates) == ["m1-a-values_safety", "m2-a-values_safety"]
    assert "xmlns" not in totals


def test_pages_use_the_word_of_the_paper() -> None:
    data = example_data()
    renamed = replace(data, blueprint=data.blueprint.model_copy(update={"ability_word": "capability"}))
    html, summary = render_html(renamed), write_summary(build_report(renamed))
    # Titles of abilities are the blueprint's own, and names of layers and options stay.
    words = re.sub(r"(Emotional|Supporting) Ability|ability_scores|as ability", "", re.sub(r"<[^>]*>", " ", html))
    assert ("Sub-capability" in words, re.findall(r"\b[Aa]bilit\w*", words)) == (True, [])
    assert "## Capabilities" in summary
    assert "| Model | Task | Capability | Score |" in summary


def test_report_is_written_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "x"
    write_report(example_data(), folder)
    assert sorted(path.name for path in folder.iterdir()) == ["report.html", "report.md", "report.png"]
    before = (folder / "report.html").read_bytes()
    assert before.startswith(b"<!doctype html>")
    write_report(example_data(), folder)
    assert (folder / "report.html").read_bytes() == before


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(LakeError, match="the report cannot be written") as caught:
        write_report(example_data(), blocked)
    assert str(blocked / "report.md") in str(caught.value)


def test_counts_stand_below_values() -> None:
    show = make_environment().from_string('{% from "common.html.jinja" import show with context %}{{ show(table) }}')
    html = show.render(table=Table((Column("Score", "score"),), [(Cell(71.25, "1"),), (Cell(50.0, "≈"),)], "Scores"))
    assert "71.25<small>1</small></td>" in html
    assert "50.00&nbsp;≈</td>" in html


@pytest.fixture(scope="module")
def text() -> str:
    return write_summary(build_report(example_data()))


def test_totals_of_all_states(text: str) -> None:
    plain = text.replace("\u00a0", " ")
    assert (
        "| – | alpha | Base | 25.00 | 15.00 to 35.50 | scored (not ranked: 3 of 4 datasets have a score) | 75 % | 6 of 6 |"
        in plain
    )
    assert "| – | beta | Base | 0.00 (100.00 before the veto) | – | vetoed | 50 % | 2 of 3 |" in plain
    assert "| – | gamma | Base | – | – | unscored | 0 % | 0 of 4 |" in plain


def test_sections_of_the_summary_are_in_order(text: str) -> None:
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == ["Result", "Abilities", "Weakest tasks", "What is missing"]
    assert "| Model | Values \\& Safety | Emotional Ability |" in text
    assert "| alpha | 100.0 | 25.0 |" in text
    assert "| gamma | – | – |" in text
    assert "| alpha | Moods | Emotional Ability › Emotion Recognition | 25.0 |" in text
    assert "| Lost | all | all | its data is not published | bring the file with --mirror |" in text
    assert "report.html" in text


def test_scores_with_a_headline_come_first() -> None:
    text = write_summary(build_report(headlined_data()))
    heads = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert heads[:3] == ["Scores side by side: Mood", "Scores side by side: Lost", "Result"]
    assert "| alpha | 25.00 (10.00 to 60.00; 4) |\n| beta | 100.00 (1) |\n| gamma | – (0 of 4) |" in text


def test_the_summary_holds_no_text_of_items(text: str) -> None:
    assert len(text.splitlines()) < 60
    assert "pick" not in text
    long = write_summary(build_report(long_data()))
    assert "alpha (CoEM)" in long
    assert "Mara" not in long


def test_an_empty_run() -> None:
    assert "| – | alpha | Base | – | – | unscored |" in write_summary(build_report(empty_data()))
