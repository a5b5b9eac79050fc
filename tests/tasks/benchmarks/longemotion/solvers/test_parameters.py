"""Table 8 of LongEmotion, what its code does instead, and overrides."""

import pytest

from schemas.context import RetrievalOptions
from schemas.errors import UsageError
from schemas.vocabulary import ContextTask
from tasks.benchmarks.longemotion.solvers.parameters import FAMILIES, choose_parameters
from tests.rows import each_row

PAPER = RetrievalOptions()
CODE = RetrievalOptions(preset="code_2026_01")


@each_row(
    ("task", "setting", "expected"),
    [
        ("ec_emobench", "rag", (128, 1, None)),
        ("ec_finentity", "coem", (128, 1, 1)),
        ("ed", "rag", (128, 8, None)),
        ("qa", "rag", (128, 4, None)),
        ("qa", "coem", (128, 4, 16)),
        ("qa", "self_rag", (128, 8, None)),
        ("es", "rag", (128, 4, None)),
        ("es", "coem", (128, 4, 8)),
        ("mc4", "rag", (128, 4, None)),
        ("mc4", "coem", (128, 4, 16)),
        ("ee", "coem", (128, 4, 8)),
        ("ec_emobench", "search_o1", (128, 1, None)),
        ("es", "search_o1", (128, 3, None)),
        ("ed", "search_o1", (128, 4, None)),
        ("qa", "search_o1", (128, 4, None)),
    ],
)
def test_the_paper_and_its_code(task: ContextTask, setting: str, expected: tuple[int, int, int | None]) -> None:
    parameters = choose_parameters(PAPER, task, setting, "some-model")
    assert (parameters.chunk_tokens, *parameters.counts) == expected
    assert (parameters.overlap_tokens, parameters.retrieves) == (50, True)
    # The released code differs in three of them.
    theirs = {("qa", "rag"): (512, 16, None), ("qa", "coem"): (128, 4, 8), ("es", "coem"): (128, 4, 10)}
    coded = choose_parameters(CODE, task, setting, "some-model")
    assert (coded.chunk_tokens, *coded.counts) == theirs.get((task, setting), expected)


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("rag", [(2, None), (4, None), (4, None), (4, None)]),
        ("coem", [(2, 4), (4, 8), (4, 8), (4, 8)]),
        ("search_o1", [(2, None), (4, None), (4, None), (4, None)]),
        ("self_rag", [(2, None), (4, None), (4, None), (4, None)]),
    ],
)
def test_steps_of_emotion_expression(setting: str, expected: list[tuple[int, int | None]]) -> None:
    assert [tuple(counts) for counts in choose_parameters(PAPER, "ee", setting, "x").steps] == expected


@each_row(
    ("model", "expected"),
    [
        ("gpt-4o-mini", (128, 16, 8)),
        ("openai/gpt-4o-mini-2024-07-18", (128, 16, 8)),
        ("gpt-4o", (128, 16, 4)),
        ("deepseek-ai/DeepSeek-V3", (512, 8, 4)),
        ("Qwen/Qwen3-8B", (128, 16, 4)),
        ("meta-llama/Llama-3.1-8B-Instruct", (512, 8, 4)),
        ("accounts/fireworks/models/llama-v3p1-8b-instruct", (512, 8, 4)),
        ("Llama-3.1-80B", (128, 16, 4)),
    ],
)
def test_qa_by_model(model: str, expected: tuple[int, int, int]) -> None:
    coem = choose_parameters(PAPER, "qa", "coem", model)
    assert (coem.chunk_tokens, coem.counts.initial_k, coem.counts.top_k) == expected
    rag = choose_parameters(PAPER, "qa", "rag", model)
    assert (rag.chunk_tokens, rag.counts.top_k) == (expected[0], expected[2])


@pytest.mark.parametrize("setting", ["base", "rag", "coem", "self_rag", "search_o1", "retrieve_only"])
def test_who_retrieves(setting: str) -> None:
    retrieving = {task for task in FAMILIES if choose_parameters(PAPER, task, setting, "x").retrieves}
    expected = FAMILIES.keys() - {"mc1", "mc2", "mc3"} if setting != "retrieve_only" else FAMILIES.keys()
    assert retrieving == (set() if setting == "base" else expected)


def test_options_replace_what_the_preset_says() -> None:
    options = RetrievalOptions(chunk_tokens=256, overlap_tokens=20, top_k=6, initial_k=9)
    qa = choose_parameters(options, "qa", "coem", "gpt-4o-mini")
    assert (qa.chunk_tokens, qa.overlap_tokens, *qa.counts) == (256, 20, 6, 9)
    assert choose_parameters(options, "ee", "rag", "x").steps == ((6, None),) * 4
    assert choose_parameters(options, "ee", "coem", "x").steps == ((6, 9),) * 4
    assert choose_parameters(options, "es", "search_o1", "x").counts.top_k == 6


@pytest.mark.parametrize(
    ("options", "task", "expected"),
    [
        (RetrievalOptions(top_k=8), "ec_emobench", (8, 8)),
        (RetrievalOptions(top_k=8), "mc4", (16, 8)),
        (RetrievalOptions(initial_k=2), "qa", (2, 2)),
        (RetrievalOptions(initial_k=20), "qa", (20, 4)),
        (RetrievalOptions(initial_k=4), "ec_emobench", (4, 1)),
        (RetrievalOptions(initial_k=3), "ed", (None, 8)),
    ],
)
def test_given_number_moves_other_minimally(
    options: RetrievalOptions, task: ContextTask, expected: tuple[int | None, int]
) -> None:
    parameters = choose_parameters(options, task, "coem", "x")
    assert (parameters.counts.initial_k, parameters.counts.top_k) == expected


def test_showing_more_than_is_enriched_is_refused() -> None:
    with pytest.raises(UsageError, match="initial_k must be at least top_k") as caught:
        choose_parameters(RetrievalOptions(top_k=5, initial_k=4), "qa", "coem", "x")
    assert (caught.value.expected, caught.value.got) == ("initial_k of at least top_k, which is 5", "initial_k 4")
    assert choose_parameters(RetrievalOptions(top_k=5, initial_k=4), "qa", "rag", "x").counts.top_k == 5


def test_overlap_as_long_as_chunks_is_refused() -> None:
    options = RetrievalOptions(chunk_tokens=50)
    with pytest.raises(UsageError, match="overlap_tokens must be less"):
        choose_parameters(options, "qa", "rag", "x")
    assert not choose_parameters(options, "qa", "base", "x").retrieves
    assert choose_parameters(options, "ed", "rag", "x").counts.top_k == 8
