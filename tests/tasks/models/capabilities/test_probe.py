"""Probing over real HTTP: which calls are sent, and what is concluded from the answers."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, get_args

import pytest

from schemas.api_capabilities import ApiCapabilities
from schemas.chat import ModelEntry
from schemas.errors import LakeError
from schemas.provider import CAPABILITIES, Capability, CapabilityFinding, ModelProbe, TokenLimit, Unsent
from schemas.vocabulary import FAILURES
from tasks.models.capabilities.probe import LONGEST_EVIDENCE, PROBE_VERSION, probe
from tasks.models.capabilities.probe_records import alone, list_probes, probe_file, recall, remember
from tasks.models.capabilities.providers import choose_capabilities
from tasks.models.http.client import CallRetryPolicy, HttpChat
from tasks.text.backoff import Retry
from tests.probed_server import SCHEMA_REPLY, Answer, ProbedServer, Script, completed, refused, refusing, streamed

FULL = {"model", "messages", "temperature", "top_p", "seed", "max_tokens", "response_format", "logprobs", "top_logprobs"}
NEW_LIMIT: TokenLimit = "max_completion_tokens"
ONCE = CallRetryPolicy(retries={failure: Retry(attempts=1) for failure in FAILURES})


async def probed_with(script: Script, name: str = "listener", **options: Any) -> tuple[ModelProbe, list[dict[str, Any]]]:
    with ProbedServer(script) as server:
        entry = ModelEntry(name=name, base_url=server.base_url)
        async with HttpChat(entry, server.base_url, policy=ONCE) as chat:
            return await probe(entry, chat, **options), server.bodies


def refusing_if(is_wrong: Callable[[dict[str, Any]], bool], message: str, status: int = 400) -> Script:
    return lambda body, _: refused(message, status) if is_wrong(body) else completed(body)


def verdicts(found: ModelProbe) -> dict[str, str]:
    return {name: finding.verdict for name, finding in found.findings.items()}


async def test_where_everything_works_one_call_says_so() -> None:
    found, bodies = await probed_with(lambda body, _: completed(body))
    assert found.calls == len(bodies) == 1
    assert set(bodies[0]) == FULL
    assert (bodies[0]["temperature"], bodies[0]["top_p"], bodies[0]["seed"], bodies[0]["max_tokens"]) == (0, 1, 0, 512)
    assert bodies[0]["response_format"]["json_schema"]["strict"] is True
    assert [message["role"] for message in bodies[0]["messages"]] == ["system", "user"]
    not_tried = dict.fromkeys(("max_completion_tokens", "stream", "stream_options"), "unknown")
    works = dict.fromkeys(CAPABILITIES, "yes") | not_tried | {"reasoning": "no"}
    assert verdicts(found) == works
    assert (found.answers, found.token_limit, found.unsent, found.reasoning_in) == (True, "max_tokens", (), None)
    assert (found.model, found.echoed_model) == ("listener", "listener")
    assert datetime.fromisoformat(found.probed_at).utcoffset() == timedelta(0)
    assert found.latency_s is not None
    assert found.latency_s > 0
    assert found.findings["usage"].evidence == "14 tokens in, 9 out"
    assert found.findings["logprobs"].evidence == "2 tokens at the first place"


@pytest.mark.parametrize(
    ("parameter", "capability"),
    [("temperature", "temperature"), ("seed", "seed"), ("response_format", "json_schema"), ("logprobs", "logprobs")],
)
async def test_named_parameter_alone_is_left_out(parameter: str, capability: Capability) -> None:
    found, bodies = await probed_with(refusing(parameter))
    assert FULL - set(bodies[1]) == {parameter, *({"top_logprobs"} if parameter == "logprobs" else ())}
    assert len(bodies) == 2
    assert found.findings[capability] == CapabilityFinding(
        "no", f"HTTP 400: Unsupported parameter: '{parameter}' is not supported with this model."
    )
    assert [name for name, verdict in verdicts(found).items() if verdict == "no"] == sorted(
        {capability, "reasoning"}, key=CAPABILITIES.index
    )
    assert found.unsent == (() if capability == "logprobs" else (capability,))


async def test_other_limit_is_tried_where_first_is_refused() -> None:
    message = "Unsupported parameter: '{}' is not supported with this model. Use 'max_completion_tokens' instead."
    found, bodies = await probed_with(refusing("max_tokens", message=message))
    assert [FULL - set(body) for body in bodies] == [set(), {"max_tokens"}]
    assert bodies[1]["max_completion_tokens"] == 512
    assert (found.findings["max_tokens"].verdict, found.findings["max_completion_tokens"].verdict) == ("no", "yes")
    assert found.token_limit == NEW_LIMIT


async def test_limit_known_to_be_right_is_offered_first() -> None:
    found, bodies = await probed_with(refusing("max_tokens"), token_limit=NEW_LIMIT)
    assert len(bodies) == 1
    assert found.token_limit == NEW_LIMIT
    assert found.findings["max_tokens"] == CapabilityFinding("unknown", "not tried, the other limit is accepted")


async def test_a_server_without_any_limit() -> None:
    found, bodies = await probed_with(refusing(*get_args(TokenLimit)))
    assert len(bodies) == 3
    assert not {"max_tokens", "max_completion_tokens"} & set(bodies[2])
    assert (found.answers, found.token_limit) == (True, None)


async def test_several_names_in_one_refusal_are_told_apart() -> None:
    def gemini(body: dict[str, Any], _: str) -> Answer:
        unknown = [name for name in ("seed", "logprobs") if name in body]
        message = "\n".join(f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.' for name in unknown)
        return Answer(400, [{"error": {"code": 400, "message": message}}]) if unknown else completed(body)

    found, bodies = await probed_with(gemini)
    assert [FULL - set(body) for body in bodies] == [
        set(),
        {"logprobs", "top_logprobs"},
        {"logprobs", "top_logprobs", "seed"},
        {"seed"},  # was logprobs named for seed's sake?
    ]
    assert (found.findings["seed"].verdict, found.findings["logprobs"].verdict) == ("no", "no")
    assert found.findings["temperature"].verdict == "yes"


@pytest.mark.parametrize("name", ["m", "temp", "org/p:free", "doubao-seed"])
async def test_models_name_is_no_part_of_another_word(name: str) -> None:
    """A model `m` makes no "teperature" of a message; one that holds a parameter's name is not taken for the parameter."""
    for message in (f"{name}: unsupported parameter '{{}}'", f"模型{name}不支持{{}}", f"'{{}}' does not work with {name}-2026."):
        found, bodies = await probed_with(refusing("temperature", message=message), name)
        assert len(bodies) == 2
        assert found.unsent == ("temperature",)


async def test_of_two_that_exclude_each_other_temperature_stays() -> None:
    message = "`temperature` and `top_p` cannot both be specified for this model."
    found, bodies = await probed_with(refusing_if(lambda body: {"temperature", "top_p"} <= set(body), message))
    assert [FULL - set(body) for body in bodies] == [set(), {"top_p"}]
    assert found.unsent == ("top_p",)


async def test_a_refusal_without_a_name_is_narrowed_down() -> None:
    found, bodies = await probed_with(refusing("response_format", message="bad request"))
    without_logprobs = {"logprobs", "top_logprobs"}
    assert [FULL - set(body) for body in bodies] == [
        set(),
        FULL - {"model", "messages"},  # is it about parameters at all?
        set(),
        without_logprobs,
        {*without_logprobs, "response_format"},
        {"response_format"},  # logprobs were left out for nothing, and so was the system message
    ]
    assert [len(body["messages"]) for body in bodies] == [2, 1, 1, 1, 1, 2]
    assert (found.findings["json_schema"].verdict, found.findings["logprobs"].verdict) == ("no", "yes")
    assert found.findings["json_schema"].evidence == "accepted without it; with it HTTP 400: bad request"


async def test_two_unnamed_refusals_stay_in_doubt() -> None:
    found, bodies = await probed_with(refusing("seed", "logprobs", message="bad request"))
    expected = {"logprobs": "unknown", "json_schema": "unknown", "seed": "no", "top_p": "yes", "temperature": "yes"}
    assert expected.items() <= verdicts(found).items()
    assert len(bodies) == 7


async def test_refused_bare_request_blames_no_parameter() -> None:
    found, bodies = await probed_with(lambda *_: refused("Model Not Exist"))
    assert (found.calls, set(bodies[1])) == (2, {"model", "messages"})
    assert found.findings["answers"] == CapabilityFinding("no", "HTTP 400: Model Not Exist")
    assert set(verdicts(found).values()) == {"no", "unknown"}


async def test_a_feature_the_server_was_not_started_for() -> None:
    message = "This server does not support logprobs."
    found, _ = await probed_with(refusing_if(lambda body: "logprobs" in body, message, 501))
    assert (found.answers, found.findings["logprobs"].verdict) == (True, "no")


@pytest.mark.parametrize(
    ("status", "code"), [*((status, "") for status in (401, 402, 403, 404, 413, 429, 500, 503)), (400, "insufficient_quota")]
)
async def test_unrelated_failure_takes_one_call(status: int, code: str) -> None:
    error = {"message": "no temperature, no seed for you", "code": code}
    found, bodies = await probed_with(lambda *_: Answer(status, {"error": error}))
    assert len(bodies) == found.calls == 1
    assert verdicts(found) == dict.fromkeys(CAPABILITIES, "unknown") | {"answers": "no"}
    assert found.findings["answers"].evidence == f"HTTP {status}: no temperature, no seed for you"
    assert (found.answers, found.latency_s, found.token_limit) == (False, None, None)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "System role not supported"),
        (400, "Conversation roles must alternate user/assistant/user/assistant/..."),
        (422, "Template error: only user and assistant roles are known here"),
        (400, "Unsupported value: 'messages[0].role' does not support 'system' with this model."),
        (400, "Developer instruction is not enabled for listener"),
        (500, "Jinja Exception: the system comes from nowhere"),
        (500, "Only user and assistant roles are supported!"),
        (400, "bad request"),
    ],
)
async def test_model_without_system_role_is_asked_without(status: int, message: str) -> None:
    found, bodies = await probed_with(refusing_if(lambda body: body["messages"][0]["role"] == "system", message, status))
    assert found.findings["system_role"].verdict == "no"
    assert message in found.findings["system_role"].evidence
    assert [message["role"] for message in bodies[-1]["messages"]] == ["user"]
    assert set(bodies[-1]) == FULL
    chosen = choose_capabilities(None, None, found)
    assert chosen == ApiCapabilities(fold_system=True)
    # Who states otherwise is believed.
    assert choose_capabilities(ApiCapabilities(fold_system=False), None, found).fold_system is False


@pytest.mark.parametrize(("usage", "unsent", "calls"), [(True, (), 2), (False, ("stream_options",), 3)])
async def test_model_that_only_streams_is_asked_for_stream(unsent: tuple[Unsent, ...], calls: int, *, usage: bool) -> None:
    def script(body: dict[str, Any], _: str) -> Answer:
        if not body.get("stream"):
            return refused("This model only supports stream mode, please enable the stream parameter.")
        if "stream_options" in body and not usage:
            return refused("Unknown parameter: stream_options")
        return streamed(completed(body), usage=usage)

    found, bodies = await probed_with(script)
    assert len(bodies) == calls
    assert (found.answers, found.unsent, found.token_limit) == (True, unsent, "max_tokens")
    assert (found.findings["whole_reply"].verdict, found.findings["usage"].verdict) == ("no", "yes" if usage else "no")
    assert found.findings["logprobs"].evidence == "2 tokens at the first place"
    assert choose_capabilities(None, None, found) == ApiCapabilities(stream=True, unsent=unsent)


async def test_later_failure_keeps_earlier_findings() -> None:
    def script(body: dict[str, Any], _: str) -> Answer:
        return refused("no temperature") if "temperature" in body else refused("out of order", 500)

    found, _ = await probed_with(script)
    assert (found.answers, found.findings["temperature"].verdict, found.findings["seed"].verdict) == (False, "no", "unknown")


@pytest.mark.parametrize(
    ("changes", "capability", "finding"),
    [
        ({"usage": None}, "usage", CapabilityFinding("no", "not reported")),
        ({"finish_reason": None}, "finish_reason", CapabilityFinding("no", "not sent")),
        ({"finish_reason": "stop"}, "finish_reason", CapabilityFinding("yes", "stop")),
        ({"model": "other-1"}, "same_model", CapabilityFinding("no", "asked listener, answered by other-1")),
        ({"model": None}, "same_model", CapabilityFinding("unknown", "the reply names no model")),
        ({"logprobs": None}, "logprobs", CapabilityFinding("no", "accepted, but none are sent")),
        ({"text": '{"days": 7}'}, "json_schema", CapabilityFinding("no", "accepted, but the answer does not follow it")),
    ],
)
async def test_what_the_reply_shows(changes: dict[str, Any], capability: Capability, finding: CapabilityFinding) -> None:
    found, _ = await probed_with(lambda body, _: completed(body, **changes))
    assert found.findings[capability] == finding


@pytest.mark.parametrize(
    ("place", "changes"),
    [
        ("reasoning_content", {"reasoning_content": "Monday, Tuesday"}),
        ("reasoning", {"reasoning": "Monday, Tuesday"}),
        ("think", {"text": f"<think>Monday, Tuesday</think>{SCHEMA_REPLY}"}),
        ("content_part", {"text": [{"type": "thinking", "thinking": "Monday"}, {"type": "text", "text": SCHEMA_REPLY}]}),
    ],
)
async def test_where_the_reasoning_is(place: str, changes: dict[str, Any]) -> None:
    found, _ = await probed_with(lambda body, _: completed(body, logprobs=None, **changes))
    assert (found.reasoning_in, found.findings["reasoning"]) == (place, CapabilityFinding("yes", f"in {place}"))
    assert found.findings["json_schema"].verdict == "yes"
    assert found.findings["logprobs"] == CapabilityFinding("unknown", "accepted, but the reply begins with reasoning")


@pytest.mark.parametrize("thought", ["Monday, ...", None])
async def test_reasoning_without_answer_is_still_reply(thought: str | None) -> None:
    found, _ = await probed_with(lambda body, _: completed(body, "", reasoning_content=thought, finish_reason="length"))
    assert (found.answers, found.reasoning_in, found.token_limit) == (True, thought and "reasoning_content", "max_tokens")
    assert found.findings["answers"].evidence.endswith("no answer within 512 tokens")
    assert found.findings["json_schema"].verdict == found.findings["logprobs"].verdict == "unknown"
    # Without the limit that was reached it is no answer.
    found, _ = await probed_with(lambda body, _: completed(body, ""))
    assert (found.answers, found.findings["answers"].evidence) == (False, "no text, finish_reason stop")


async def test_what_server_wrote_is_shown_on_one_line() -> None:
    script: Script = lambda body, _: completed(body, model="a\x1b[31m \u202eb", finish_reason=f"s\n{'x' * 500}")  # noqa: E731
    found, _ = await probed_with(script)
    assert found.echoed_model == "a [31m  b"
    assert found.findings["finish_reason"].evidence == f"s {'x' * (LONGEST_EVIDENCE - 2)}..."


ENTRY = ModelEntry(name="listener", base_url="http://one.example/v1")


async def test_a_record_from_before_leaves_later_questions_open(tmp_path: Path) -> None:
    later: tuple[Capability, ...] = ("system_role", "stream_options")
    file = remember(tmp_path, ENTRY, (await probed_with(refusing("temperature")))[0])
    document = json.loads(file.read_text())
    for name in later:
        del document["findings"][name]
    file.write_text(json.dumps(document))
    recalled = recall(tmp_path, ENTRY)
    assert recalled is not None
    assert {recalled.findings[name].verdict for name in later} == {"unknown"}
    assert choose_capabilities(None, None, recalled) == ApiCapabilities(unsent=("temperature",))


async def test_findings_are_remembered_per_endpoint_and_model(tmp_path: Path) -> None:
    found, _ = await probed_with(refusing("temperature"))
    assert recall(tmp_path, ENTRY) is None
    file = remember(tmp_path, ENTRY, found)
    assert file == probe_file(tmp_path, ENTRY)
    assert file.parent == tmp_path / "journal" / "models"
    assert recall(tmp_path, ENTRY) == found
    assert list_probes(tmp_path) == [found]
    for other in (ENTRY.model_copy(update={"name": "speaker"}), ModelEntry(name="listener", base_url="http://two.example/v1")):
        assert recall(tmp_path, other) is None


async def test_what_an_older_version_found_is_not_used(tmp_path: Path) -> None:
    found, _ = await probed_with(lambda body, _: completed(body))
    file = remember(tmp_path, ENTRY, found)
    file.write_text(file.read_text().replace(f'"version": {PROBE_VERSION}', '"version": 0'))
    assert recall(tmp_path, ENTRY) is None
    assert list_probes(tmp_path) == []


@pytest.mark.parametrize("content", ["{", "[]", "{}", f'{{"version": {PROBE_VERSION}, "model": "x"}}', "\xff"])
def test_damaged_file_says_what_to_do(tmp_path: Path, content: str) -> None:
    file = probe_file(tmp_path, ENTRY)
    file.parent.mkdir(parents=True)
    file.write_text(content, encoding="latin-1")
    with pytest.raises(LakeError, match="cannot be read") as raised:
        recall(tmp_path, ENTRY)
    assert raised.value.where == str(file)
    assert "--again" in str(raised.value)


async def test_place_that_cannot_be_written_is_error(tmp_path: Path) -> None:
    found, _ = await probed_with(lambda body, _: completed(body))
    (tmp_path / "journal").write_text("a file where a folder should be")
    with pytest.raises(LakeError, match="cannot be written"):
        remember(tmp_path, ENTRY, found)
    with pytest.raises(LakeError, match="cannot be written"):
        async with alone(tmp_path, ENTRY):
            pass
