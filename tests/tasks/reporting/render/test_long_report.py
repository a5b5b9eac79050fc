"""The report of a run of LongEmotion: nothing of MoodBench's shape, several settings, and every section that long runs have."""

import re

import polars as pl
import pytest

from schemas.tables.comparisons import Agreements, SettingGains
from schemas.tables.contexts import Contexts
from tasks.analysis.redaction import redact
from tasks.analysis.run_tables import NEEDLES
from tasks.reporting.figures import drawing
from tasks.reporting.render.page import render_html, render_markdown
from tests.tasks.analysis.test_redaction import notice
from tests.tasks.reporting.example_long import AFTER, BEFORE, NEEDLE, SEGMENTS, judgements, long_data, retrievals, shown
from tests.tasks.reporting.example_run import example_data, manifest
from tests.tasks.reporting.render.test_page import Page, section

SECTIONS = ("asked", "gains", "retrieval", "needles", "judges")


@pytest.fixture(scope="module")
def html() -> str:
    return render_html(long_data())


@pytest.fixture(scope="module")
def text() -> str:
    return render_markdown(long_data())


def test_the_page_is_sound_and_loads_nothing(html: str) -> None:
    page = Page(html)
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    assert {href.removeprefix("#") for href in page.values("href") if href.startswith("#")} <= set(ids)
    assert not {"script", "img", "iframe"} & {tag for tag, _ in page.tags}
    assert set(re.findall(r'(?:fill|stroke)="(#[0-9a-f]+)"', html)) <= set(drawing.COLOURS.values())


def test_nothing_speaks_of_moodbench(html: str, text: str) -> None:
    for written in (Page(html).words, text):
        for word in ("MoodBench paper", "gate", "veto", "Level by level", "high level", "target 1 :", "no tasks at this level"):
            assert word not in written.replace("Prompt tokens", ""), word


def test_the_head_counts_models_and_settings(html: str) -> None:
    assert "2 models, each in 3 settings." in Page(html).words


def test_settings_stand_side_by_side_with_gains(html: str, text: str) -> None:
    # share() of alpha: 0.3, 0.4, 0.5 plus 0.02 x 3 for the fourth task, by which the total is made.
    assert "alpha Total 36.0 46.0 +10.0 over Base 56.0 +20.0 over Base" in section(html, "overview")
    assert "| Model | Score | Base | RAG | CoEM |" in text
    assert "| alpha | Total | 36.0 | 46.0 (+10.0) | 56.0 (+20.0) |" in text


def test_ranks_are_counted_within_a_setting(html: str) -> None:
    assert "1 of 2 ranked models with CoEM in this run" in section(html, "m1")


def test_published_models_of_the_same_setting_alone_are_compared(html: str) -> None:
    words = section(html, "field")
    assert "The table of the LongEmotion paper." in words
    for setting in ("Base", "RAG", "CoEM"):
        assert f"Scores per ability: {setting}" in words
    # Table 2 has 8 models in Base and 5 in RAG; GPT-4o's summary is 4.60 of 5 in Base.
    assert "GPT-4o Base 50.1 19.1 50.1 92.0 75.4 81.0 61.3" in words
    assert "alpha this run RAG 41.0 44.0 46.0 48.0 53.0 58.0 46.0" in words
    assert words.count(" RAG ") >= 7
    base = next(found for anchor in range(1, 7) if (found := section(html, f"m{anchor}")).startswith("alpha 36.00"))
    assert "Emotion Classification 31.0 2 of 2 37.0 to 73.8 above 0 of 8" in base


def test_items_built_anew_are_said_to_be(html: str) -> None:
    assert "the paper's own files" not in html
    assert "its own files are asked by the benchmark longemotion-released" in section(html, "m1")
    assert "Free-text answers were rated by alpha; the published ones by gpt-4o." in section(html, "m1")


def test_datasets_outside_the_total_are_marked(html: str) -> None:
    assert "mean_rating (not in the total)" in section(html, "m1")


def test_who_did_what_is_said_plainly(html: str, text: str) -> None:
    words = section(html, "asked")
    assert "Settings: Base, RAG and CoEM. Parameters: preset paper ." in words
    assert "With CoEM the Sage is the model under test itself (alpha and beta)." in words
    assert "The judge is a model under test: alpha rated its own answers" in words
    assert "Panel gamma-judge" in words
    assert "top k 8 set for this run" in words
    assert "lengths 8,000, 16,000 set for this run" in words
    assert "| Judge | alpha | rates free-text answers, each 2 times; this is the score |" in text


def test_every_section_is_in_both_forms(html: str, text: str) -> None:
    for anchor in SECTIONS:
        assert f'<section id="{anchor}">' in html
    heads = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert heads[:6] == ["Result", "What was asked", "Gains over Base", "Retrieval", "Length and depth", "Judges"]
    assert "Beside the published models" in heads


def test_a_run_without_these_layers_has_none_of_the_sections() -> None:
    for written in (render_html(example_data()), render_markdown(example_data())):
        for title in ("What was asked", "Gains over Base", "Retrieval", "Length and depth", "Settings side by side"):
            assert title not in written


def test_each_section_goes_with_its_layer() -> None:
    data = long_data(
        gains=SettingGains.create_empty(),
        agreements=Agreements.create_empty(),
        needles=pl.DataFrame(schema=NEEDLES),
        retrievals=retrievals().clear(),
        shown=shown().clear(),
    )
    heads = re.findall(r"^## (.*)$", render_markdown(data), re.MULTILINE)
    assert heads[:2] == ["Result", "What was asked"]
    assert not {"Gains over Base", "Retrieval", "Length and depth", "Judges"} & set(heads)


def test_the_needle_is_marked_and_the_long_text_left_out(html: str, text: str) -> None:
    marked = "<mark>Mara put the letter back, &lt;b&gt;smiled&lt;/b&gt; and said nothing for a while.</mark>"
    assert marked in html
    assert "Context, 30,000 tokens, around the needle (depth 69 %)" in section(html, "m1").replace("\u00a0", " ")
    assert f">>> {NEEDLE} <<<" in text
    # 300 characters on each side of the needle, cut between words, and what is left out is counted.
    left = [int(found.replace(",", "")) for found in re.findall(r"\[([\d,]+) characters\]", section(html, "m1"))]
    assert len(BEFORE) - 300 <= left[0] <= len(BEFORE) - 280
    assert len(AFTER) - 300 <= left[1] <= len(AFTER) - 280


def test_of_segments_the_odd_and_the_chosen_one_are_shown(html: str) -> None:
    words = section(html, "m1")
    assert f"4 {SEGMENTS[4]} ← chosen 17 {SEGMENTS[17]} ✓ right" in words
    assert "28 other segments not shown." in words
    assert "Read as segment 4, the odd one is 17; segments count from 0." in words
    assert SEGMENTS[5] not in words


def test_labels_have_no_letters(html: str) -> None:
    assert "Options Hope & Joy Fear ✓ right Anger ← chosen" in section(html, "m1")
    assert "Read as Anger, right is Fear." in section(html, "m1")


def test_ratings_are_on_their_own_scale(html: str) -> None:
    words = section(html, "m1")
    # Summaries: 1 to 5, alpha gave 3 and then 4. Conversations: 0 to 5, 2 and then 3.
    assert "deep needs 1 to 5 3.5 (mean of 2) 3" in words
    assert "deep needs 0 to 5 2.5 (mean of 2) 2" in words
    assert "The ratings of the reply earn 0.63 of 1 by mean_rating." in words


def test_all_steps_of_an_expression_are_the_reply() -> None:
    data = long_data()
    weakest = {"longemotion_ee"}
    only = {
        name: getattr(data, name).filter(pl.col("dataset").is_in(weakest))
        for name in ("item_scores", "raw", "normalized", "dataset")
    }
    task = data.task.filter(pl.col("task") == "expression_in_situations")
    text = render_markdown(long_data(**only, task=task))
    assert "Reply: [Step 0] Reply of beta in turn 0.\n\n[Step 1] Reply of beta in turn 1." in text
    assert "adjective3" not in text


def test_retrieved_chunks_of_the_prompt_are_shown(html: str) -> None:
    words = section(html, "m1")
    assert "4 retrieved chunks of its prompt Rank 1, holds the needle ... Mara put" in words
    assert "Rank 2 chunk of rain 1" in words


def test_the_page_stays_small_with_texts_of_thirty_thousand_tokens(html: str) -> None:
    assert len(BEFORE + NEEDLE + AFTER) > 120_000
    assert len(html.encode()) < 1_000_000


def test_redaction_covers_contexts_needles_chunks_and_what_was_written_about_them() -> None:
    notices = tuple(notice(name, redistributable=False) for name in long_data().titles)
    data = redact(long_data(manifest=manifest(plan=long_data().manifest.plan, datasets=notices, redacted=True)))
    for frame in (data.contexts, data.retrievals, data.shown, data.judgements, data.items):
        kept = str(frame.to_dicts())
        assert "Mara" not in kept
        assert "rain" not in kept
    assert set(data.contexts["needle"].drop_nulls()) == {"text withheld: licence research only"}
    assert data.contexts.filter(pl.col("needle").is_null()).height == 14
    assert data.judgements["rating"].to_list() == long_data().judgements["rating"].to_list()
    for written in (render_html(data), render_markdown(data)):
        for word in ("Mara", "rain kept on", "chunk of rain", "worried evening", "Reply of alpha"):
            assert word not in written
        # Ranks, depths and ratings are no texts.
        assert "Recall at 4" in written
        assert "warmth" in written


def test_renamed_words_are_withheld_too() -> None:
    rows = [row | {"renamed": [["Mara", "Nell"]]} for row in long_data().contexts.to_dicts()]
    contexts = Contexts.validate(pl.DataFrame(rows, schema=long_data().contexts.schema))
    notices = (notice("longemotion_ec_emobench", redistributable=False),)
    data = redact(long_data(contexts=contexts, manifest=manifest(datasets=notices, redacted=True)))
    assert data.contexts.filter(pl.col("dataset") == "longemotion_ec_emobench")["renamed"].to_list() == [[], []]
    assert judgements().height == data.judgements.height
