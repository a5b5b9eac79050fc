"""Write what a model answered as samples of Every Eval Ever: a JSON line for each item, repetition and metric with a value."""

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256

from schemas.usage import TESTED
from tasks.interchange.samples import count_tokens, identify
from tasks.models.journal.request_files import flat_text
from tasks.runs.answers import ScoredItem, scored_items
from tasks.runs.evidence import read_unredacted, redact
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import ReportData, Row, System

SCHEMA_VERSION = "0.3.0"

Measures = dict[tuple[System, str], dict[tuple[str, str], tuple[str, float]]]
"""Metrics that have a result, by system and dataset: by method and metric, the name of the result and the best value."""


def texts(**values: object) -> dict[str, str]:
    """Return details as the schema has them: each as a text, without those that are null."""
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in values.items() if value is not None}


def hash_sample(raw: str, reference: Sequence[str]) -> str:
    """Return the hash by which a sample is found in other records: of its text and its references, as canonical JSON."""
    text = json.dumps({"raw": raw, "reference": list(reference)}, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()


def sample_lines(run: PastRun, record: Row, measures: Measures, *, redacts: bool) -> Iterator[str]:
    """Yield the lines of a record. `redacts`: those of a restricted dataset have a notice for its texts, else there are none."""
    restricted = run.manifest.restricted
    for (system, dataset), named in measures.items():
        if redacts or dataset not in restricted:
            data = read_unredacted(run, dataset, system).data
            yield from _lines(data, record, named, redacts=dataset in restricted)


def _lines(
    data: ReportData, record: Row, measures: Mapping[tuple[str, str], tuple[str, float]], *, redacts: bool
) -> Iterator[str]:
    order = ("item_id", "repetition", "part", "method", "metric")
    calls = data.responses.rows_by_key(["item_id", "repetition"], named=True, include_key=True)
    both = (scored_items(each, each.item_scores.sort(order)) for each in (data, redact(data) if redacts else data))
    for true, shown in zip(*both, strict=True):
        measure = measures.get((true.score["method"], true.score["metric"]))
        if measure and true.score["value"] is not None:
            keys = true.answer["call_keys"] if true.answer else ()
            own = calls.get((true.score["item_id"], true.score["repetition"]), ())
            asked = [call for call in own if call["call_key"] in keys and call["role"] == TESTED]
            line = _line(record, measure, true.item, shown, asked)
            if shown.answer and shown.call and not redacts:
                line["metadata"]["moodflow"] = json.dumps(identify({**shown.call, **shown.answer}))
            yield json.dumps(line, ensure_ascii=False)


def _line(record: Row, measure: tuple[str, float], true: Row, shown: ScoredItem, asked: list[Row]) -> Row:
    """Return a line. `true`: the item with its texts, for the hash; `shown`: what may be passed on; `asked`: the calls."""
    item, score, answer, call = shown.item, shown.score, shown.answer or {}, shown.call or {}
    raw, reference = _question(item)
    said, thought = ([] if text is None else [text] for text in (answer.get("text"), call.get("reasoning")))
    turns, times, part = answer.get("turns"), score["repetition"], score["part"]
    name = score["item_id"] + (f"#r{times + 1}" if times else "") + (f":{part}" if part else "")
    dialogue = [
        {"turn_idx": index, "role": "assistant" if turn["speaker"] == TESTED else "user", "content": turn["text"]}
        for index, turn in enumerate(turns or ())
    ]
    seconds = [call["latency_s"] for call in asked]  # null = a reply came by a file
    attribution = {
        "turn_idx": len(turns) - 1 if turns else 0,
        "source": "messages[turn_idx].content" if turns else "output.raw",
        "extracted_value": score["parsed_answer"],
        "extraction_method": f"moodflow.{item['question_type']}",
        "is_terminal": True,
    }
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": record["evaluation_id"],
        "model_id": record["model_info"]["id"],
        "evaluation_name": measure[0],
        "evaluation_result_id": f"{record['evaluation_id']}/{measure[0]}",
        "sample_id": name,
        "sample_hash": hash_sample(*_question(true)),
        "interaction_type": "multi_turn" if turns else "single_turn",
        "input": {
            "raw": raw,
            "reference": reference,
            "formatted": flat_text(json.loads(call.get("messages") or "[]")) or None,
            "choices": item["options"],
        },
        "output": None if turns else {"raw": said, "reasoning_trace": thought or None},
        "messages": dialogue or None,
        "answer_attribution": [] if score["parsed_answer"] is None else [attribution],
        "evaluation": {
            "score": score["value"],
            "is_correct": score["value"] == measure[1],
            **({"num_turns": len(turns)} if turns else {}),
        },
        "token_usage": count_tokens(asked),
        "performance": {"latency_ms": sum(seconds) * 1000} if seconds and None not in seconds else None,
        "error": answer.get("failure"),
        "metadata": texts(status=str(score["status"]), cluster=score["cluster"], language=item["language"], part=part or None),
    }


def _question(item: Row) -> tuple[str, list[str]]:
    """Return what an item asks, after the text that it is about if it has one, and the right answers."""
    options = item["options"] or []
    right = [options[index] for index in item["gold_indices"] or ()] or list(item["references"] or ())
    return "\n\n".join(filter(None, (item["context"], item["question"]))), right
