"""The report of a run of LongEmotion: nothing of MoodBench's shape, several settings, and every section that long runs have."""

import re
from dataclasses import replace

import polars as pl
import pytest

from schemas.tables.comparisons import Agreements, NeedleScores, SettingGains
from schemas.tables.items import Contexts
from tasks.runs.evidence import redact
from tests.tasks.reporting.example_long import AFTER, BEFORE, NEEDLE, SEGMENTS, judgements, long_data, prompt_chunks, retrievals
from tests.tasks.reporting.example_run import manifest
from tests.tasks.reporting.pages import Page, render_html, section
from tests.tasks.runs.test_evidence import notice

SECTIONS = {"asked", "gains", "retrieval", "needles", "judges"}


def test_nothing_speaks_of_moodbench(long_html: str) -> None:
    words = Page(long_html).words
    for word in ("MoodBench paper", "gate", "veto", "Level by level", "high level", "target 1 :", "no tasks at this level"):
        assert word not in words, word


SAID = {
    "m1": (
        "1 of 2 ranked models with CoEM in this run",
        "mean_rating (not in the total)",
        "built anew from the sources that the paper names",
        "rated by alpha, in the paper by gpt-4o",
        f"4 {SEGMENTS[4]} ← chosen 17 {SEGMENTS[17]} ✓ right",
        "28 other segments not shown.",
        "Read as segment 4, the odd one is 17; segments count from 0.",
        "Options Hope & Joy Fear ✓ right Anger ← chosen",
        "Read as Anger, right is Fear.",
        # Summaries: 1 to 5, alpha gave 3 and then 4. Conversations: 0 to 5, 2 and then 3.
        "deep needs 1 to 5 3.5 mean of 2 3",
        "deep needs 0 to 5 2.5 mean of 2 2",
        "The ratings of the reply come to 0.63 of 1.",
        "4 retrieved chunks of its prompt Rank 1, holds the needle ... Mara put",
        "Rank 2 chunk of rain 1",
        "Context, 30,000 tokens, around the needle (depth 69 %)",
    ),
    "asked": (
        "Settings: Base, RAG and CoEM. Parameters: preset paper.",
        "With CoEM the Sage is the model under test itself (alpha and beta).",
        "The judge is a model under test: alpha rated its own answers",
        "Panel gamma-judge",
        'Set for this run: retrieval.top_k=8, retrieval.ranking="fused", contexts.lengths=[8000,16000]',
        "Judge alpha rates each free-text answer 2 times; its ratings are the score",
    ),
}
"""What sections of the page say."""


@pytest.mark.parametrize("anchor", SAID)
def test_a_section_says_what_the_run_has(long_html: str, anchor: str) -> None:
    words = section(long_html, anchor)
    assert [text for text in SAID[anchor] if text not in words] == []
    assert SEGMENTS[5] not in words


def test_published_models_are_compared_within_their_setting(long_html: str) -> None:
    # Table 2: emotion classification from 37.00 to 73.75 in Base, from 41.59 to 62.59 in RAG.
    systems = [section(long_html, f"m{number}") for number in range(1, 7)]
    base, rag = (next(found for found in systems if found.startswith(total)) for total in ("44.67", "51.33"))
    assert "Emotion Classification 50.0 2 of 2 37.0 to 73.8 not comparable" in base
    assert "2 of 2 41.6 to 62.6 not comparable" in rag


def test_each_section_goes_with_its_layer(example_html: str, long_html: str) -> None:
    data = long_data(
        setting_gains=SettingGains.create_empty(),
        agreements=Agreements.create_empty(),
        needle_scores=NeedleScores.create_empty(),
        retrievals=retrievals().clear(),
        prompt_chunks=prompt_chunks().clear(),
    )
    shown = [SECTIONS & set(re.findall(r'<section id="(\w+)">', html)) for html in (example_html, render_html(data), long_html)]
    assert shown == [set(), {"asked"}, SECTIONS]


def test_the_needle_is_marked_in_its_excerpt(long_html: str) -> None:
    marked = "<mark>Mara put the letter back, &lt;b&gt;smiled&lt;/b&gt; and said nothing for a while.</mark>"
    assert marked in long_html
    # 300 characters on each side of the needle, cut between words, and what is left out is counted.
    left = [int(found.replace(",", "")) for found in re.findall(r"\[([\d,]+) characters\]", section(long_html, "m1"))]
    assert len(BEFORE) - 300 <= left[0] <= len(BEFORE) - 280
    assert len(AFTER) - 300 <= left[1] <= len(AFTER) - 280


def test_all_steps_of_an_expression_are_the_reply() -> None:
    data = long_data()
    weakest = {"longemotion_ee"}
    only = {
        name: getattr(data, name).filter(pl.col("dataset").is_in(weakest))
        for name in ("item_scores", "raw_scores", "normalized_scores", "dataset_scores")
    }
    task = data.task_scores.filter(pl.col("task") == "expression_in_situations")
    text = Page(render_html(long_data(**only, task_scores=task))).words
    assert "Reply of the model [Step 0] Reply of beta in turn 0. [Step 1] Reply of beta in turn 1." in text
    assert "adjective3" not in text


def test_the_page_stays_small_with_long_texts(long_html: str) -> None:
    assert len(BEFORE + NEEDLE + AFTER) > 120_000
    assert len(long_html.encode()) < 1_000_000


def test_redaction_covers_every_text_of_long_runs() -> None:
    told = long_data()
    notices = tuple(notice(name, redistributable=False) for name in told.titles)
    data = redact(replace(told, manifest=manifest(plan=told.manifest.plan, datasets=notices, redacted=True)))
    for frame in (data.contexts, data.retrievals, data.prompt_chunks, data.judgements, data.items):
        kept = str(frame.to_dicts())
        assert "Mara" not in kept
        assert "rain" not in kept
    assert set(data.contexts["needle"].drop_nulls()) == {"text withheld: licence research only"}
    assert data.contexts.filter(pl.col("needle").is_null()).height == 14
    assert data.judgements["rating"].to_list() == told.judgements["rating"].to_list()
    html = render_html(data)
    for word in ("Mara", "rain kept on", "chunk of rain", "worried evening", "Reply of alpha"):
        assert word not in html
    # Ranks, depths and ratings are no texts.
    assert "Recall at 4" in html
    assert "warmth" in html


def test_renamed_words_are_withheld_too() -> None:
    rows = [row | {"renamed": [["Mara", "Nell"]]} for row in long_data().contexts.to_dicts()]
    contexts = Contexts.validate(pl.DataFrame(rows, schema=long_data().contexts.schema))
    notices = (notice("longemotion_ec_emobench", redistributable=False),)
    data = redact(long_data(contexts=contexts, manifest=manifest(datasets=notices, redacted=True)))
    assert data.contexts.filter(pl.col("dataset") == "longemotion_ec_emobench")["renamed"].to_list() == [[], []]
    assert judgements().height == data.judgements.height
