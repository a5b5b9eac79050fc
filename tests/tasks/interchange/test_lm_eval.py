"""Results and samples of lm-evaluation-harness: what is written of a run that is known, and that it is read back."""

import json
from hashlib import sha256
from pathlib import Path

from schemas.documents.lake import ExportedRecords
from tasks.interchange.every_eval_ever_results import ExportOptions
from tasks.interchange.lm_eval import write_lm_eval
from tasks.interchange.replies import ReplyRow, read_replies
from tests.tasks.interchange.written_run import CALLS, written_run

TIME = "2026-01-01T00-00-00"
RESULTS, SAMPLES = (f"org__m/{name}_{TIME}.json" for name in ("results", "samples_d"))


def write(folder: Path) -> ExportedRecords:
    return write_lm_eval(written_run(folder / "lake"), folder, ExportOptions())


def test_results_name_task_model_and_scores(tmp_path: Path) -> None:
    written = write(tmp_path)
    assert (written.files, written.samples) == ((RESULTS, f"{SAMPLES}l"), 4)
    results = json.loads((tmp_path / RESULTS).read_text(encoding="utf-8"))
    assert results["results"] == {"d": {"alias": "d", "accuracy,none": 0.5}}
    assert results["n-samples"] == {"d": {"original": 4, "effective": 4}}
    assert results["higher_is_better"] == {"d": {"accuracy": True}}
    assert (results["model_name"], results["config"]["model"], results["versions"]) == ("org/m", "org/m", {"d": "tiny"})
    assert results["configs"]["d"]["metadata"] == {"setting": "base"}
    # 2026-01-01 in seconds since 1970: 56 years, 14 of them leap years.
    assert results["date"] == (56 * 365 + 14) * 86_400


def test_sample_has_prompt_reply_target_and_score(tmp_path: Path) -> None:
    write(tmp_path)
    lines = [json.loads(line) for line in (tmp_path / f"{SAMPLES}l").read_text(encoding="utf-8").splitlines()]
    first, _, failed, rated = lines
    assert [line["doc_id"] for line in lines] == [0, 1, 2, 3]
    assert (first["target"], first["resps"], first["filtered_resps"], first["metrics"]) == ("Ben", [["B"]], ["B"], ["accuracy"])
    assert first["arguments"] == {"gen_args_0": {"arg_0": "Who sat? Say a letter."}}
    assert (first["accuracy"], failed["accuracy"], rated["metrics"]) == (1.0, None, [])
    assert (failed["resps"], failed["doc"]["moodflow"]["failure"]) == ([[""]], "timeout_total")
    assert first["doc"]["options"] == ["Ann", "Ben"]
    for name, text in (("prompt", "Who sat? Say a letter."), ("target", "Ben")):
        assert first[f"{name}_hash"] == sha256(text.encode()).hexdigest()


def test_samples_are_read_back_as_replies(tmp_path: Path) -> None:
    write(tmp_path)
    read = read_replies(tmp_path / f"{SAMPLES}l")
    of = {"dataset": "d", "model": "org/m"}
    counts = {"prompt_tokens": 10, "completion_tokens": 2}
    prompts = [CALLS[number]["messages_sha256"] for number in (1, 2, 3, 4)]
    rows = [
        ReplyRow(item_id="a", reply="B", turn=1, option_order=(1, 0), reasoning="Ben did.", finish_reason="stop", **of, **counts),
        ReplyRow(item_id="a", reply="A", repetition=1, finish_reason="length", **of, **counts),
        ReplyRow(item_id="b", failure="timeout_total", **of),
        ReplyRow(item_id="c", turn=1, reply="I hear you.", finish_reason="stop", **of, **counts),
    ]
    expected = [row.model_copy(update={"prompt_sha256": prompt}) for row, prompt in zip(rows, prompts, strict=True)]
    assert (list(read.rows.values()), read.broken) == (expected, {})


def test_second_export_is_the_same(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    assert write(one).files == write(other).files
    assert all((one / name).read_bytes() == (other / name).read_bytes() for name in (RESULTS, f"{SAMPLES}l"))
