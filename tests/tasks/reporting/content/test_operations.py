"""Failed calls, tokens, latency and partitions."""

from tasks.reporting.content.operations import (
    FailureRow,
    JudgeFailureRow,
    UsageRow,
    failure_rows,
    judge_failure_rows,
    layer_rows,
    usage_rows,
)
from tests.tasks.reporting.example_run import empty_data, example_data, manifest


def test_failed_calls_by_kind() -> None:
    assert failure_rows(example_data()) == (FailureRow("gamma", "timeout_total", 4, 1, "no answer within 9 s"),)


def test_judge_failures_by_dataset() -> None:
    assert judge_failure_rows(example_data()) == (JudgeFailureRow("beta", "tale", 1),)


def test_tokens_and_latency() -> None:
    # alpha answered in 1 to 6 s: median 3.5; the 95th percentile lies at place 0.95 x 5 = 4.75, so 5 + 0.75 x (6 - 5).
    # beta's server counts no tokens; gamma has no answer, so no latency.
    assert usage_rows(example_data()) == (
        UsageRow("alpha", 6, 6, 0, 1, 60, 12, 0, 3.5, 5.75),
        UsageRow("beta", 3, 3, 0, 0, None, None, 3, 1.0, 1.0),
        UsageRow("gamma", 4, 0, 4, 0, None, None, 0, None, None),
    )


def test_layers_with_their_rows_and_incomplete_partitions() -> None:
    rows = layer_rows(manifest())
    assert [(row.layer, len(row.partitions), row.rows, row.incomplete) for row in rows] == [
        ("items", 1, 3, 0),
        ("responses", 2, 6, 1),
    ]


def test_a_run_without_calls() -> None:
    data = empty_data()
    assert failure_rows(data) == ()
    assert [row.calls for row in usage_rows(data)] == [0, 0, 0]
