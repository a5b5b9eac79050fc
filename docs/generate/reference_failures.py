"""Reference page of what can go wrong with a call or an item: failures, remarks, statuses; and the table of docs/failures.md."""

import re
from collections.abc import Mapping
from pathlib import Path

from docs.generate.markdown import joined, write_page
from docs.generate.reference_text import code, facts, prose, sentence, text_below
from schemas import vocabulary
from schemas.vocabulary import ITEM_STATUSES, REMARKS
from tasks.models.http.failures import FAILURE_KINDS, FailureKind
from tasks.text.backoff import Backoff, Retry

HEAD = """# Failures: all kinds

What can become of a call and of an item. A failed call has no reply: its item is missing, never wrong. The kind is in column
`failure` of the layer [`responses`](layers.md#responses), that of an item in `status` of [`item_scores`](layers.md#item_scores).
[Failures: what to do](../failures.md) says how errors are told apart and what becomes of cut and long prompts."""

SAYS = re.compile(r"`(\w+)`(?:, `(\w+)`)?: (.+?)(?=(?:\s`\w+`(?:, `\w+`)?:)|\Z)", re.DOTALL)


def pauses(retry: Retry) -> str:
    """Return the seconds between the attempts, as a reader wants them."""
    whole = Backoff({"failed": retry}, draw=lambda: 0.0)
    seconds = (whole.delay_s("failed", attempt, None, 0.0) for attempt in range(1, retry.attempts))
    return ", ".join(f"{pause:g}" for pause in seconds) or "-"


def failure_section(name: str, kind: FailureKind) -> str:
    """Return what is to be known of a kind of failure."""
    waits = pauses(kind.retry)
    return joined(
        f"### {code(name)}",
        sentence(kind.meaning),
        facts(
            ("Attempts", str(kind.retry.attempts)),
            ("Pauses in seconds", "" if waits == "-" else waits),
            ("What to do", prose(kind.remedy)),
        ),
    )


def said_of(constant: str) -> Mapping[str, str]:
    """Return what the text below a constant of the vocabulary says of each word."""
    found = SAYS.findall(text_below(vocabulary, constant))
    return {word: says for first, second, says in found for word in (first, second) if word}


def word_section(word: str, says: str) -> str:
    """Return what is to be known of a remark or a status."""
    return joined(f"### {code(word)}", f"{says[:1].upper()}{says[1:].rstrip('.; ')}.")


def failures_page() -> str:
    """Return the page."""
    remarks, statuses = said_of("Remark"), said_of("ItemStatus")
    return joined(
        HEAD,
        "## Failures of calls",
        *(failure_section(name, kind) for name, kind in FAILURE_KINDS.items()),
        "## Remarks",
        "What is odd about an answer that came, in column `remark`. It is scored like any other.",
        *(word_section(f"remark: {remark}", remarks[remark]) for remark in REMARKS),
        "## Statuses of an item",
        *(word_section(status, statuses[status]) for status in ITEM_STATUSES),
    )


def write(folder: Path) -> None:
    """Write the page."""
    write_page(folder / "failures.md", failures_page())
