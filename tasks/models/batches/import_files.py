"""Replies of files that others wrote, taken into the journal: results of batches, and samples of lm-evaluation-harness."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from schemas.json_yaml import read_json, require_short
from tasks.models.batches.results import read_lines
from tasks.models.batches.store import BatchStore
from tasks.models.journal.files import ImportedReplies, add_replies
from tasks.models.journal.request_files import read_raw_lines, read_requests, read_sample
from tasks.models.journal.rows import recompute_key
from tasks.models.journal.table import JournalRow, opened_replies, write_reply

FORMS = (
    "output and error files of OpenAI's batches and of vLLM run-batch, results of Anthropic's (result.type) and Gemini's (key), "
    "samples_*.jsonl of lm-evaluation-harness"
)


def import_answers(file: Path, requests: Path, journal: Path) -> ImportedReplies:
    """Add the replies of a file to a journal, each verified; `requests` is the file or folder of the calls that it answers.

    Failures of the model are noted for the next run that writes its calls to a file. What failed for another reason is only
    counted.
    """
    calls, taken = read_requests(requests), ImportedReplies()
    outcome = read_lines(_results(read_raw_lines(file), calls, taken), calls)
    add_replies([*outcome.rows.values()], file, journal, taken)
    failed = [calls[key]._replace(reply=write_reply(reply)) for key, reply in outcome.failed.items()]
    with BatchStore(journal) as store:
        store.note_failures(filter(_has_its_key, failed))
    counts = {**outcome.rules, "call_was_answered": len(outcome.failed), "still_to_be_asked": len(outcome.free)}
    for rule, lines in counts.items():
        if lines:
            taken.refuse(rule, lines)
    taken.unknown_form = outcome.unknown_form
    with opened_replies(journal) as find:
        taken.to_ask = sum(find(key) is None for key in calls)
    return taken


def _results(lines: Iterator[bytes], calls: Mapping[str, JournalRow], taken: ImportedReplies) -> Iterator[bytes]:
    """Yield the lines with samples as lines of results; those asked with another prompt are counted instead."""
    for line in lines:
        try:
            require_short(line)
            sample = read_sample(read_json(line, lenient=True), calls)
        except (ValueError, KeyError, TypeError, AttributeError):
            yield line  # no sample
            continue
        if sample is None:
            taken.refuse("prompt_is_that_of_the_call")
        else:
            yield json.dumps(sample).encode()


def _has_its_key(call: JournalRow) -> bool:
    return recompute_key(call.identity, read_json(call.request), call.repetition) == call.key
