"""Choose how long chunks are and how many are shown: LongEmotion, Table 8, or its code of January 2026."""

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

from schemas.context import RetrievalOptions
from schemas.errors import UsageError
from schemas.vocabulary import ContextTask, Preset

Family = Literal["ec", "ed", "qa", "es", "mc", "ee"]
FAMILIES: dict[ContextTask, Family] = {
    "ec_emobench": "ec",
    "ec_finentity": "ec",
    "ed": "ed",
    "qa": "qa",
    "es": "es",
    "mc1": "mc",
    "mc2": "mc",
    "mc3": "mc",
    "mc4": "mc",
    "ee": "ee",
}
"""The tasks of a long context (LongEmotion, section 3), each without its variant: variants share their prompts and parameters.

`ec_emobench`, `ec_finentity`: the emotion of a person, the tone towards a company, in a passage hidden in a book. `ed`: the one
segment of another emotion. `qa`: a question about a document. `es`: five aspects of a counselling report. `mc1` to `mc4`: the
counselor's next reply in each stage of a dialogue. `ee`: living through a situation, in six steps.
"""

SEARCH_HITS: dict[Family, int] = {"ec": 1, "ed": 4, "qa": 4, "es": 3, "mc": 4, "ee": 4}
"""Chunks that one search of Search-o1 shows."""

RETRIEVED: dict[Family, int] = {"ec": 1, "ed": 8, "es": 4, "mc": 4, "ee": 4}
INITIAL: dict[Family, int] = {"ec": 1, "es": 8, "mc": 16, "ee": 8}
"""Emotion detection has none: all its segments are enriched."""

CHUNK_TOKENS = 128


class ChunkCounts(NamedTuple):
    """How many chunks: shown to the model, and, in CoEM, enriched and ranked again (null = all, or not CoEM)."""

    top_k: int
    initial_k: int | None


@dataclass(frozen=True)
class Parameters:
    """Of one task, setting and model. All but `retrieves` counts only where that is true.

    `counts`: chunks of each query. `steps`: the same of steps 2 to 5 of emotion expression, whose largest `counts` are.
    `chunk_tokens` does not hold for the segments of emotion detection.
    """

    retrieves: bool
    chunk_tokens: int
    overlap_tokens: int
    counts: ChunkCounts
    steps: tuple[ChunkCounts, ...] = ()


PLAIN_STAGES: frozenset[ContextTask] = frozenset(("mc1", "mc2", "mc3"))
"""Of a conversation: nothing is retrieved in them, as published."""


class QaRow(NamedTuple):
    """QA's row of Table 8 for one model."""

    chunk_tokens: int
    initial_k: int
    final_k: int


QA_ROWS: tuple[tuple[str, QaRow], ...] = (
    (r"gpt-?4o-mini", QaRow(128, 16, 8)),
    (r"gpt-?4o", QaRow(128, 16, 4)),
    (r"deepseek-(?:v3|chat)", QaRow(512, 8, 4)),
    (r"qwen-?3-8b", QaRow(128, 16, 4)),
    (r"(?:meta[-.])?llama-?v?3[-.p]1-8b", QaRow(512, 8, 4)),
)
"""By how a model's name begins, its provider's prefix left out; the first that fits."""

OTHER_QA_ROW = QaRow(128, 16, 4)
"""Of models that are not in the table: what most of its rows have in each column, and what Qwen3-8B has."""


def choose_parameters(options: RetrievalOptions, task: ContextTask, setting: str, model: str) -> Parameters:
    """Choose what a setting works with; a number that the options give replaces that of the preset.

    Where they give one of `top_k` and `initial_k`, CoEM's other one is moved no further than it takes for CoEM to enrich at least
    as many chunks as it shows.

    Stages 1 to 3 of a conversation never retrieve, as published; under `retrieve_only`, which is ours, all four do. UsageError:
    neighbouring chunks would overlap as a whole, or CoEM would keep more chunks than it enriches.

    Source: LongEmotion, Table 8 (`paper`); its released code (`code_2026_01`); both: the spread over the steps of EE.
    """
    family = FAMILIES[task]
    qa = _qa_row(options.preset, setting, model) if family == "qa" else None
    retrieves = setting != "base" and (setting == "retrieve_only" or task not in PLAIN_STAGES)
    chunk_tokens = options.chunk_tokens or (qa.chunk_tokens if qa else CHUNK_TOKENS)
    if retrieves and family != "ed" and options.overlap_tokens >= chunk_tokens:
        raise UsageError(
            "overlap_tokens must be less than chunk_tokens",
            where="overlap_tokens of the retrieval options",
            expected=f"less than chunk_tokens, which is {chunk_tokens}",
            got=str(options.overlap_tokens),
            next_step="lower overlap_tokens or raise chunk_tokens",
        )
    usual = SEARCH_HITS[family] if setting == "search_o1" else qa.final_k if qa else RETRIEVED[family]
    counts = _override(ChunkCounts(usual, _initial_k(family, setting, qa, options.preset)), options, setting)
    first = ChunkCounts(max(counts.top_k // 2, 1), None if counts.initial_k is None else max(counts.initial_k // 2, 1))
    return Parameters(
        retrieves=retrieves,
        chunk_tokens=chunk_tokens,
        overlap_tokens=options.overlap_tokens,
        counts=counts,
        steps=(_override(first, options, setting), counts, counts, counts) if family == "ee" else (),
    )


def _qa_row(preset: Preset, setting: str, model: str) -> QaRow:
    if setting == "self_rag":
        return QaRow(128, 8, 8)
    if setting == "search_o1":
        return QaRow(128, 4, SEARCH_HITS["qa"])
    if preset == "code_2026_01":
        return QaRow(128, 8, 4) if setting == "coem" else QaRow(512, 16, 16)  # as the released code has them
    name = re.sub(r"[\s_:]", "-", model.lower().split("/")[-1])
    return next((row for pattern, row in QA_ROWS if re.match(rf"{pattern}(?![a-z0-9.])", name)), OTHER_QA_ROW)


def _initial_k(family: Family, setting: str, qa: QaRow | None, preset: Preset) -> int | None:
    if setting != "coem" or family == "ed":
        return None
    if family == "es" and preset == "code_2026_01":
        return 10  # as the released code has it
    return qa.initial_k if qa else INITIAL[family]


def _override(counts: ChunkCounts, options: RetrievalOptions, setting: str) -> ChunkCounts:
    if counts.initial_k is None:
        return ChunkCounts(options.top_k or counts.top_k, None)
    # Options hold for all tasks of a run, so the number that is not given makes way for the one that is.
    top_k = options.top_k or min(counts.top_k, options.initial_k or counts.top_k)
    initial_k = options.initial_k or max(counts.initial_k, top_k)
    if initial_k < top_k:
        raise UsageError(
            "initial_k must be at least top_k",
            where=f"retrieval of setting {setting}",
            expected=f"initial_k of at least top_k, which is {top_k}",
            got=f"initial_k {initial_k}",
            next_step="lower top_k or raise initial_k",
        )
    return ChunkCounts(top_k, initial_k)
