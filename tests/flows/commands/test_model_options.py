"""Options that describe a model, as its entry in the plan holds them."""

from pathlib import Path

import pytest

from flows import cli
from schemas.api_capabilities import ApiCapabilities, Sampling
from schemas.chat import ModelEntry
from schemas.plan import Plan
from tests.flows.command import Ended, moodflow

SERVER = ("--model", "m", "--base-url", "http://localhost:9/v1")


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[Plan]:
    """Plans that would have been carried out."""
    made: list[Plan] = []
    monkeypatch.setattr(cli, "_execute", lambda _stage, plan, **_: made.append(plan))
    return made


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> Ended:
    return moodflow(capsys, "run", "moodbench-mini", *arguments)


def test_without_options_an_entry_is_the_usual_one(plans: list[Plan], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, *SERVER).status == 0
    assert plans[0].models == (ModelEntry(name="m", base_url="http://localhost:9/v1"),)
    assert plans[0].models[0].dialect is None


def test_every_option_has_its_field(plans: list[Plan], capsys: pytest.CaptureFixture[str]) -> None:
    words = (
        "--api-key-env KEY --concurrency 7 --requests-per-minute 60 --tokens-per-minute 9000 --timeout 30 --require-same-model "
        "--temperature 0.5 --max-tokens 2000 --reasoning-effort low --token-limit max_completion_tokens "
        '--unsent top_p,seed --extra-body {"top_k":1} --judge j --judge-provider deepseek'
    )
    assert run(capsys, *SERVER, *words.split()).status == 0
    dialect = {
        "reasoning_effort": "low",
        "token_limit": "max_completion_tokens",
        "unsent": ("top_p", "seed"),
        "extra": '{"top_k":1}',
    }
    assert plans[0].models == (
        ModelEntry(
            name="m",
            base_url="http://localhost:9/v1",
            api_key_env="KEY",
            concurrency=7,
            requests_per_minute=60,
            tokens_per_minute=9000,
            timeout_s=30,
            require_same_model=True,
            sampling=Sampling(temperature=0.5, max_tokens=2000),
            dialect=ApiCapabilities.model_validate(dialect),
        ),
    )
    assert plans[0].judge == ModelEntry(
        name="j", base_url="https://api.deepseek.com", api_key_env="DEEPSEEK_API_KEY", concurrency=7, timeout_s=30
    )


def test_only_what_is_given_counts_as_stated(plans: list[Plan], capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, *SERVER, "--reasoning-effort", "low")
    run(capsys, *SERVER, "--unsent", "")
    stated = [plan.models[0].dialect for plan in plans]
    assert [dialect.model_fields_set for dialect in stated if dialect] == [{"reasoning_effort"}, {"unsent"}]


def test_a_provider_says_where_and_which_key(plans: list[Plan], capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "--model", "m", "--provider", "deepseek")
    run(capsys, "--model", "m", "--provider", "deepseek", "--api-key-env", "MINE")
    assert [plan.models[0].base_url for plan in plans] == ["https://api.deepseek.com"] * 2
    assert [plan.models[0].api_key_env for plan in plans] == ["DEEPSEEK_API_KEY", "MINE"]


def test_a_configuration_file_has_the_same_fields_and_options_win(
    plans: list[Plan], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    config = tmp_path / "plan.yaml"
    config.write_text(
        "models:\n"
        "  - {name: a, provider: qwen, dialect: {extra: {enable_thinking: false}}, sampling: {temperature: 1.0}}\n"
        "  - {name: b, base_url: 'http://localhost:9/v1', concurrency: 2}\n"
        "judge: {name: j, provider: openai, dialect: {reasoning_effort: low}}\n"
    )
    assert run(capsys, "--config", config, "--concurrency", "5", "--max-tokens", "99").status == 0
    first, second = plans[0].models
    assert (first.base_url, first.api_key_env) == ("https://dashscope.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY")
    assert (first.dialect, first.concurrency) == (ApiCapabilities(extra='{"enable_thinking": false}'), 5)
    assert (first.sampling, second.sampling) == (Sampling(temperature=1.0, max_tokens=99), Sampling(max_tokens=99))
    assert second.concurrency == 5
    judge = plans[0].judge
    assert judge is not None
    assert (judge.api_key_env, judge.dialect) == ("OPENAI_API_KEY", ApiCapabilities(reasoning_effort="low"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((*SERVER, "--provider", "deepseek"), "is said twice"),
        (("--model", "m", "--provider", "deepsek"), "did you mean deepseek"),
        ((*SERVER, "--judge-provider", "openai"), "a judge is described and none is named"),
        ((*SERVER, "--token-limit", "tokens"), "'max_tokens' or 'max_completion_tokens'"),
        ((*SERVER, "--unsent", "max_tokens"), "'temperature', 'top_p'"),
        ((*SERVER, "--extra-body", "{"), "extra is no JSON object"),
        ((*SERVER, "--extra-body", '{"stream": true}'), "extra has stream"),
        ((*SERVER, "--max-tokens", "0"), "greater than or equal to 1"),
        ((*SERVER, "--temperature", "3"), "less than or equal to 2"),
        ((*SERVER, "--timeout", "0"), "greater than 0"),
        ((*SERVER, "--requests-per-minute", "0"), "greater than or equal to 1"),
    ],
)
def test_what_cannot_be_meant_ends_with_2_and_one_message(
    plans: list[Plan], capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    ended = run(capsys, *arguments)
    assert (ended.status, plans) == (2, [])
    assert ended.err.startswith("Error: ")
    assert words in " ".join(ended.err.split())


@pytest.mark.parametrize("content", ["models: m", "models: [m]", "models: [{provider: openai}]", "judge: j\nmodels: [{name: m}]"])
def test_entries_of_the_wrong_form_end_with_2(
    plans: list[Plan], capsys: pytest.CaptureFixture[str], tmp_path: Path, content: str
) -> None:
    config = tmp_path / "plan.yaml"
    config.write_text(content)
    ended = run(capsys, "--config", config)
    assert (ended.status, plans) == (2, [])
    assert "a setting is refused" in ended.err
