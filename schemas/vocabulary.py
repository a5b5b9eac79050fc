"""Words that several layers use: closed sets, and names that benchmarks add."""

from functools import partial
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, Field

from schemas.benchmark import Rows, require_name

Language = Literal["en", "zh"]
Level = Literal["low", "medium", "high"]
OptionRole = Literal["stereotype", "anti_stereotype", "unrelated", "target", "other", "unknown"]
"""What an option stands for, where bias metrics need it.

StereoSet: `stereotype`, `anti_stereotype`, `unrelated`. BBQ: `target` (what the bias would answer), `other` (the person the bias
would not name) and `unknown` (not enough information).
"""

FaultSeverity = Literal["helped", "hindered", "minor"]
"""What a fault of a simulated person did to the model under test: made its part easier, harder, or neither to speak of."""

Ranking = Literal["dense", "bm25", "fused"]
"""How chunks are ranked: by cosine of embeddings, by words, by reciprocal-rank fusion of both."""

Preset = Literal["paper", "code_2026_01"]
"""Parameters of the settings where a paper and the code released with it disagree."""

RetrievalStage = Literal["initial", "reranked", "search"]

CORRECTED = "corrected"
"""The profile that scores replies by our parsing and gold; the others are rows of the registry `profiles`."""

# Names are checked where data is read, so that a row is all that a new one needs.
ContextTask = Annotated[str, AfterValidator(partial(require_name, registry=Rows("context_solvers", object, "tasks")))]
_PROFILES = Rows("profiles", object)
Profile = Annotated[
    str,
    AfterValidator(partial(require_name, registry=_PROFILES, without_row=CORRECTED)),
    Field(json_schema_extra=lambda schema: schema.update(enum=[CORRECTED, *_PROFILES])),  # so that a form offers them
]

ResponseStatus = Literal["answered", "failed"]
Failure = Literal[
    "connect",
    "tls",
    "timeout_connect",
    "timeout_first_byte",
    "timeout_total",
    "auth",
    "quota",
    "context_too_long",
    "max_tokens_too_large",
    "prompt_cut",
    "content_filter",
    "http_4xx",
    "http_429",
    "http_5xx",
    "truncated_body",
    "invalid_json",
    "missing_choices",
    "empty_content",
    "length",
    "reasoning_only",
    "tool_call",
    "wrong_model",
    "budget",
    "waiting",
    "not_in_file",
    "loading",
]
"""How a call can fail; meaning, retries and remedy of each are in `data/failures.yaml`."""

PaidAs = Literal["live", "batch", "file"]
"""How a reply came, which decides its price."""

Remark = Literal["refusal", "length", "other_model", "unknown_end", "prompt_cut"]
"""What is odd about an answer that came. `refusal`: the model says so in a field of its own. `length`: cut off at the limit.
`other_model`: the server names another model than the one asked. `unknown_end`: it ended for a reason that is not known.
`prompt_cut`: in the journal, of a reply to a part of the prompt, which no run takes for an answer."""

TooLong = Literal["missing", "cut_middle", "cut_start"]
"""What becomes of an item that is longer than the model's context: no answer, or asked with a shortened context."""

Runner = Literal["local", "dask"]
"""Where items are built and replies scored: in the process of the run, or on a cluster. Models are asked from the process."""

ParseStatus = Literal["parsed", "repaired", "unparsed", "failed"]
"""Of a judge's reply. `repaired`: read, in another form than the one that was asked for. `failed`: no reply came."""

Raters = Literal["judge", "people", "both"]
"""Who rates for a method. `both`: the judge's ratings count, those by people stand beside them."""

ItemStatus = Literal["scored", "unparsed", "call_failed", "judge_failed", "not_counted"]
"""Of an item's score.

`scored`: parsed and compared. `unparsed`: the model answered, but not in a way that can be read; counts as wrong and is counted
apart. `call_failed`, `judge_failed`: our instrument failed, value is null. `not_counted`: a filler item of a questionnaire.
"""

LANGUAGES: tuple[Language, ...] = get_args(Language)
LEVELS: tuple[Level, ...] = get_args(Level)
FAILURES: tuple[Failure, ...] = get_args(Failure)
REMARKS: tuple[Remark, ...] = get_args(Remark)
ITEM_STATUSES: tuple[ItemStatus, ...] = get_args(ItemStatus)
