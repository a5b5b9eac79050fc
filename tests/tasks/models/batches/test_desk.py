"""Batches of both APIs: submitted, collected, and told of where something went wrong."""

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from schemas.api_capabilities import Sampling
from schemas.chat import ChatMessage, ChatRequest, ModelEntry
from schemas.errors import EndpointError
from tasks.models.batches.desk import BatchDesk, open_desk
from tasks.models.batches.limits import limits_at, split
from tasks.models.batches.messages import messages_identity, to_messages, without_counterpart
from tasks.models.journal.table import connect, find_reply
from tests.batch_server import BatchServer

FORMS = ("openai", "anthropic")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    monkeypatch.setenv("MOODFLOW_BATCH_POLL_S", "0.01")
    monkeypatch.setenv("MY_KEY", "secret-key-1")
    with BatchServer(lambda messages: messages[-1]["content"].upper()) as running:
        yield running


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[BatchDesk]:
    with open_desk(tmp_path / "replies.sqlite") as opened:
        yield opened


def entry(server: BatchServer) -> ModelEntry:
    return ModelEntry(name="m", base_url=server.base_url, api_key_env="MY_KEY")


def calls(server: BatchServer, *texts: str) -> list[ChatRequest]:
    system = ChatMessage(role="system", content="Be kind.")
    return [
        ChatRequest("m", server.base_url, (system, ChatMessage(role="user", content=text)), Sampling(max_tokens=9))
        for text in texts
    ]


def use_form(form: str, server: BatchServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **more: Any) -> None:
    """Have the provider at the server's address be one of this form."""
    api = {
        "id": form, "form": form, "base_urls": [server.base_url], "most_calls": 100, "most_bytes": 10**6, "window": "24h",
        "labels": form == "openai", "source": "tests", "read": "2026-11-27",
    }  # fmt: skip
    file = tmp_path / "apis.yaml"
    file.write_text(yaml.safe_dump([{**api, **more}]), encoding="utf-8")
    monkeypatch.setenv("MOODFLOW_BATCH_APIS", str(file))


def submit(desk: BatchDesk, server: BatchServer, *texts: str) -> Any:
    """Submit calls and collect them once."""

    async def work() -> Any:
        await desk.submit(entry(server), calls(server, *texts))
        return await desk.work_on(desk.store.jobs(is_open=True))

    return asyncio.run(work())


def text_of(tmp_path: Path, request: ChatRequest) -> str | None:
    path = tmp_path / "replies.sqlite"
    connection = connect(path)
    reply = find_reply(connection, path, request.key)
    connection.close()
    assert reply is None or (reply.paid_as, reply.latency_s, reply.prompt_tokens, reply.completion_tokens) == (
        "batch",
        None,
        11,
        2,
    )
    return reply.text if reply else None


@pytest.mark.parametrize("form", FORMS)
def test_batch_keeps_replies_by_id(
    form: str, server: BatchServer, desk: BatchDesk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_form(form, server, tmp_path, monkeypatch)
    server.shuffle = True
    news = submit(desk, server, "one", "two", "three")
    assert (news.answered, news.failed, news.freed, news.rules) == (3, 0, 0, {})
    assert [text_of(tmp_path, call) for call in calls(server, "one", "two", "three")] == ["ONE", "TWO", "THREE"]
    sent = server.headers[-1]
    assert (sent.get("Authorization"), sent.get("x-api-key")) == {
        "openai": ("Bearer secret-key-1", None),
        "anthropic": (None, "secret-key-1"),
    }[form]
    # Collecting twice changes nothing.
    again = asyncio.run(desk.work_on(desk.store.jobs()))
    assert (again.answered, again.notes, server.executed.total()) == (0, (), 3)


LINES: list[tuple[str, tuple[int, int, int], dict[str, int]]] = [
    ("missing", (2, 0, 1), {}),
    ("expired", (2, 0, 1), {}),
    ("status_0", (2, 0, 1), {}),
    ("429", (2, 0, 1), {}),
    ("500", (2, 0, 1), {}),
    ("400", (2, 1, 0), {}),
    ("404", (2, 1, 0), {}),
    ("413", (2, 1, 0), {}),
    ("twice", (3, 0, 0), {}),
    ("two_answers", (3, 0, 0), {"duplicate_id": 1}),
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("fault", "counts", "rules"), LINES, ids=[line[0] for line in LINES])
def test_lines_are_counted_by_rule(  # noqa: PLR0917
    form: str, fault: str, counts: tuple[int, int, int], rules: dict[str, int], server: BatchServer, desk: BatchDesk,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    use_form(form, server, tmp_path, monkeypatch)
    server.fault = lambda number: fault if number == 1 else None
    news = submit(desk, server, "one", "two", "three")
    assert ((news.answered, news.failed, news.freed), news.rules) == (counts, rules)
    (job,) = desk.store.jobs()
    assert job.state == "collected"
    described = desk.store.describe(job)
    assert (described.open, described.answered, described.free, described.failed) == (0, counts[0], 3 - counts[0], counts[1])


def test_too_long_call_is_told_as_live(server: BatchServer, desk: BatchDesk) -> None:
    server.fault = lambda _number: "413"
    submit(desk, server, "one")
    (call,) = calls(server, "one")
    failure = desk.store.failure(call.key)
    assert failure is not None
    assert (failure.failure, failure.http_status) == ("context_too_long", 400)
    desk.store.forget_failures([call.key])
    assert desk.store.failure(call.key) is None


def test_foreign_line_is_refused(server: BatchServer, desk: BatchDesk) -> None:
    server.foreign = True
    news = submit(desk, server, "one", "two")
    assert (news.answered, news.rules) == (2, {"unknown_id": 1})


def test_cut_file_stays_collectable(server: BatchServer, desk: BatchDesk) -> None:
    server.truncated = True
    first = submit(desk, server, "one", "two", "three")
    assert (first.answered, first.freed, first.rules) == (2, 0, {"line_is_whole": 1})
    (job,) = desk.store.jobs()
    assert (job.state, desk.store.describe(job).open) == ("submitted", 1)
    files = server.jobs[job.remote_id or ""].files
    assert files is not None
    # As if the last line came whole.
    files["output"] = files["output"].rpartition(b"\n")[0] + b"\n"
    (key,) = desk.store.calls(job, is_open=True)
    files["output"] += json.dumps(server._line(key, calls(server, "x")[0].body(), None)).encode()
    second = asyncio.run(desk.work_on(desk.store.jobs(is_open=True)))
    assert (second.answered, desk.store.jobs()[0].state) == (1, "collected")


def down(server: BatchServer) -> None:
    server.poll_status = 503


def busy(server: BatchServer) -> None:
    server.poll_status = 429


def unknown(server: BatchServer) -> None:
    server.statuses = ["in_queue"]


def gone(server: BatchServer) -> None:
    server.gone = True


def pages(server: BatchServer) -> None:
    server.html = True


@pytest.mark.parametrize("happens", [down, busy, unknown, gone, pages])
def test_failed_look_frees_no_call(
    happens: Callable[[BatchServer], None], server: BatchServer, desk: BatchDesk, tmp_path: Path
) -> None:
    happens(server)
    news = submit(desk, server, "one", "two")
    (job,) = desk.store.jobs()
    assert (news.answered, news.freed, job.state, desk.store.describe(job).open) == (0, 0, "submitted", 2)
    assert len(news.notes) == 1
    server.poll_status, server.gone, server.html = 200, False, False
    assert asyncio.run(desk.work_on(desk.store.jobs(is_open=True))).answered == 2
    assert set(server.executed.values()) == {1}
    assert text_of(tmp_path, calls(server, "one")[0]) == "ONE"


def test_upload_without_name_creates_no_job(server: BatchServer, desk: BatchDesk) -> None:
    server.nameless = True
    news = submit(desk, server, "one")
    assert (desk.store.jobs()[0].state, server.jobs) == ("planned", {})
    assert "no file in the answer" in news.notes[0]
    server.nameless = False
    assert submit(desk, server, "two").answered == 1
    assert asyncio.run(desk.work_on(desk.store.jobs(is_open=True))).notes
    assert set(server.executed.values()) == {1}


def test_counts_may_be_null(server: BatchServer, desk: BatchDesk) -> None:
    server.no_counts = True
    assert submit(desk, server, "one").answered == 1


def test_refused_job_is_not_created_again(server: BatchServer, desk: BatchDesk) -> None:
    server.ends_as = "failed"
    news = submit(desk, server, "one", "two")
    assert (news.freed, news.notes[0].count("line 3: invalid_json_line: not JSON")) == (2, 1)
    with pytest.raises(EndpointError, match="refused these calls") as refused:
        submit(desk, server, "one", "two")
    assert "line 3: invalid_json_line: not JSON" in str(refused.value)
    (job,) = desk.store.jobs()
    desk.store.change(job, frees=True, state="given_up")
    server.ends_as = "completed"
    assert submit(desk, server, "one", "two").answered == 2
    assert len(server.jobs) == 2


@pytest.mark.parametrize("end", ["expired", "cancelled"])
def test_finished_lines_of_ended_jobs_count(end: str, server: BatchServer, desk: BatchDesk) -> None:
    server.ends_as, server.fault = end, lambda number: "expired" if number else None
    news = submit(desk, server, "one", "two")
    assert (news.answered, news.freed) == (1, 1)
    # The same calls make another job, since what is left of the first may be asked again.
    server.ends_as, server.fault = "completed", lambda _number: None
    assert (submit(desk, server, "one", "two").answered, len(server.jobs)) == (2, 2)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("moment", ["before", "after"])
def test_unanswered_create_is_adopted_or_repeated(
    form: str, moment: str, server: BatchServer, desk: BatchDesk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_form(form, server, tmp_path, monkeypatch)
    lost: list[str] = []

    def lose(now: str, step: str) -> bool:
        if step == "create" and now == moment and not lost:
            lost.append(step)
            return True
        return False

    server.around = lose
    asyncio.run(desk.submit(entry(server), calls(server, "one", "two")))
    assert [job.state for job in desk.store.jobs()] == ["submitting"]
    if form == "anthropic" and moment == "after":
        # While it is at work it is only like ours: its calls stay claimed.
        asyncio.run(desk.work_on(desk.store.jobs(is_open=True)))
        assert [job.state for job in desk.store.jobs()] == ["submitting"]
        server.poll("batch_0")
    asyncio.run(desk.work_on(desk.store.jobs(is_open=True)))
    assert [(job.state, job.remote_id) for job in desk.store.jobs()] == [("submitted", "batch_0")]
    assert asyncio.run(desk.work_on(desk.store.jobs(is_open=True))).answered == 2
    assert (len(server.jobs), set(server.executed.values())) == (1, {1})


def test_open_calls_are_left_out(server: BatchServer, desk: BatchDesk) -> None:
    server.polls = 9
    asyncio.run(desk.submit(entry(server), calls(server, "one", "two")))
    asyncio.run(desk.submit(entry(server), calls(server, "one", "two", "three")))
    assert [job.n for job in desk.store.jobs()] == [2, 1]


def test_calls_are_split_by_lines_and_bytes(server: BatchServer) -> None:
    limits = limits_at("https://api.openai.com/v1")
    assert (limits.most_calls, limits.most_bytes) == (50_000, 200_000_000)
    one, *_ = calls(server, "one")
    assert [len(part) for part in split([one] * 50_001, limits)] == [50_000, 1]
    length = len(one.body_json.encode()) + 200
    few = limits.model_copy(update={"most_bytes": 2 * length})
    assert [len(part) for part in split([one] * 5, few)] == [2, 2, 1]


def test_body_is_converted_to_messages(server: BatchServer) -> None:
    (call,) = calls(server, "one")
    assert to_messages({**call.body(), "stop": "END"}) == {
        "model": "m",
        "temperature": 0.0,
        "top_p": 1.0,
        "max_tokens": 9,
        "system": "Be kind.",
        "messages": [{"role": "user", "content": "one"}],
        "stop_sequences": ["END"],
    }
    assert without_counterpart({**call.body(), "response_format": {}}) == ["response_format"]
    assert messages_identity("https://api.anthropic.com/v1/") == "https://api.anthropic.com/v1/messages, conversion 1"
