"""Options of the command line, as the plan holds them."""

import re
from pathlib import Path
from typing import Any

import pytest

from flows.commands.app import app, guarded
from flows.commands.plan_fields import plan_fields
from flows.commands.plan_options import PlanOptions, read_plan
from schemas.api_capabilities import ApiCapabilities, Sampling
from schemas.chat import ModelEntry
from schemas.context import ContextOptions, RetrievalOptions
from schemas.plan import Plan
from tasks.scoring.blueprints import list_blueprints
from tests.flows.command import Ended, ended

URL = "http://localhost:9/v1"
SERVER = ("--model", "m", "--base-url", URL)


def run(*arguments: str | Path) -> Ended:
    return ended("run", "moodbench-mini", *arguments)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("folders.mini_eq_test=here", {"folders": {"mini_eq_test": Path("here")}}),
        ("datasets=a, b", {"datasets": ("a", "b")}),
        ("redact=true", {"redact": True}),
        ("budget=0.25", {"budget": 0.25}),
        ("lake=s", {"lake": Path("s")}),
        ("settings=retrieve-only", {"settings": ("retrieve_only",)}),
        ("too_long=cut-start", {"too_long": "cut_start"}),
        ("retrieval.ranking=bm25", {"retrieval": RetrievalOptions(ranking="bm25")}),
        ("retrieval={top_k: 3}", {"retrieval": RetrievalOptions(top_k=3)}),
        ("contexts.lengths=[17, 18]", {"contexts": ContextOptions(lengths=(17, 18))}),
        ("solvers.role_play.turns=7", {"solvers": {"role_play": {"turns": "7"}}}),
        ("models.sampling={seed: 17}", {"models": (ModelEntry(name="smollm2", sampling=Sampling(seed=17)),)}),
        ("models.query=a=B", {"models": (ModelEntry(name="smollm2", query=("a=B",)),)}),
        ("models.dialect.effort_path=a.b", {"models": (ModelEntry(name="smollm2", dialect=ApiCapabilities(effort_path="a.b")),)}),
        ("models=[{name: a, base_url: 'http://a/v1'}]", {"models": (ModelEntry(name="a", base_url="http://a/v1"),)}),
    ],
)
def test_a_field_of_any_kind_is_set(text: str, values: dict[str, Any]) -> None:
    usual, plan = (read_plan("moodbench-mini", PlanOptions(model=["smollm2"], set=given)) for given in ([], [text]))
    assert plan == usual.model_copy(update=values)


def test_fields_have_type_default_and_description() -> None:
    listed = {row["path"]: row for row in ended("options", "--json").document["options"]}
    assert list(listed) == list(plan_fields())
    assert listed["retrieval.top_k"] == {
        "path": "retrieval.top_k",
        "type": "whole number",
        "default": "null",
        "description": "chunks shown to the model",
    }
    assert [row["path"] for row in listed.values() if not row["description"]] == []
    shown = ended("options").out
    assert "retrieval.top_k" in shown
    assert "judge.base_url, panel.sampling.max_tokens" in shown


@pytest.mark.parametrize(
    ("name", "replacement"),
    [
        ("top-k", "--set retrieval.top_k=VALUE"),
        ("redact", "--set redact=true or false"),
        ("sage", "--role sage=NAME"),
        ("sage-base-url", "--set sage.base_url=VALUE"),
    ],
)
def test_option_of_a_field_gets_its_path(plans: list[Plan], name: str, replacement: str) -> None:
    done = run(*SERVER, f"--{name}", "3")
    assert (done.status, plans) == (2, [])
    assert f"there is no option --{name}" in done.err
    assert f"next step: use {replacement}\n" in done.err


def test_the_help_fits_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERMINAL_WIDTH", "100")
    text = ended("run", "--help").out
    assert len(text.rstrip().splitlines()) <= 56
    for title in ("Model", "Judge and roles", "What is evaluated", "Limits", "Where", "Output"):
        assert f"─ {title} ─" in text
    assert {name for name in list_blueprints() if not name.endswith("-mini")} <= set(re.findall(r"[\w-]+", text))


def test_paths_are_completed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_MOODFLOW_COMPLETE", "complete_zsh")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", "moodflow run x --set retrieval.t")
    guarded(lambda: app([], prog_name="moodflow"))
    assert "retrieval.top_k=" in capsys.readouterr().out


def test_an_interruption_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    assert guarded(interrupted) == 130
    assert "answered calls are kept" in capsys.readouterr().err


def test_a_build_needs_no_model(tmp_path: Path) -> None:
    what = ("moodbench-mini", "--datasets", "mini_user_safety", "--lake", tmp_path)
    assert ended("build", *what, "--json").document["partitions"][0]["layer"] == "items"
    assert read_plan("moodbench-mini", PlanOptions(), needs_model=False).title == "moodbench-mini (base)"
    for stage in ("run", "infer", "score", "report"):
        done = ended(stage, *what)
        assert (done.status, "no model given" in done.err) == (2, True)


def test_only_what_is_given_counts_as_stated(plans: list[Plan]) -> None:
    for given in ((), ("--set", "models.dialect.reasoning_effort=low"), ("--set", "models.dialect.unsent=")):
        assert run(*SERVER, *given).status == 0
    assert plans[0].models == (ModelEntry(name="m", base_url=URL),)
    stated = [plan.models[0].dialect for plan in plans]
    assert [dialect and dialect.model_fields_set for dialect in stated] == [None, {"reasoning_effort"}, {"unsent"}]


def test_roles_name_a_model_and_where_it_is(plans: list[Plan]) -> None:
    roles_given = (
        *("--role", f"judge=j@{URL}", "--set", "judge.api_key_env=KEY"),
        *("--role", "panel=p", "--role", "panel=q@deepseek"),
        *("--role", "critic=vendor/model@deepseek"),
        *("--role", f"sage={{name: N, base_url: '{URL}', api_key_env: K, temperature: 0.7}}"),
    )
    assert run(*SERVER, *roles_given, "--concurrency", "7").status == 0
    plan = plans[0]
    at_deepseek = {"base_url": "https://api.deepseek.com", "api_key_env": "DEEPSEEK_API_KEY", "concurrency": 7}
    assert plan.named("judge")[0] == ModelEntry(name="j", base_url=URL, api_key_env="KEY", concurrency=7)
    # A judge of the panel that says nothing else is where the judge is.
    assert plan.named("panel")[0] == ModelEntry(name="p", base_url=URL, api_key_env="KEY", concurrency=7)
    assert plan.named("panel")[1] == ModelEntry.model_validate({"name": "q", **at_deepseek})
    assert plan.role_model("critic", "any") == ModelEntry.model_validate({"name": "vendor/model", **at_deepseek})
    sampling = Sampling(temperature=0.7)
    assert plan.role_model("sage", "any") == ModelEntry(name="N", base_url=URL, api_key_env="K", sampling=sampling, concurrency=7)


def test_a_configuration_file_alone_suffices(plans: list[Plan], tmp_path: Path) -> None:
    config = tmp_path / "plan.yaml"
    config.write_text("benchmark: esc-eval-mini\nmodels: [{name: smollm2}]\n")
    assert ended("run", "--config", config).status == 0
    assert run("--config", config).status == 0
    assert [plan.benchmark for plan in plans] == ["esc-eval-mini", "moodbench-mini"]


def test_options_win_over_a_configuration_file(plans: list[Plan], tmp_path: Path) -> None:
    config = tmp_path / "plan.yaml"
    config.write_text(
        "models:\n"
        "  - {name: a, provider: qwen, dialect: {extra: {enable_thinking: false}}, sampling: {temperature: 1.0}}\n"
        "  - {name: b, base_url: 'http://localhost:9/v1', concurrency: 2, token_probabilities: true}\n"
        "roles: {judge: {name: j, provider: openai, dialect: {reasoning_effort: low}}}\n"
        "seed: 5\n"
    )
    given = ("--concurrency", "5", "--max-tokens", "99", "--seed", "6", "--set", "seed=7")
    assert run("--config", config, *given).status == 0
    first, second = plans[0].models
    assert (first.base_url, first.api_key_env) == ("https://dashscope.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY")
    assert (first.dialect, first.concurrency) == (ApiCapabilities(extra='{"enable_thinking": false}'), 5)
    assert (first.sampling, second.sampling) == (Sampling(temperature=1.0, max_tokens=99), Sampling(max_tokens=99))
    assert (second.concurrency, second.token_probabilities) == (5, True)
    (judge,) = plans[0].named("judge")
    assert (judge.api_key_env, judge.dialect) == ("OPENAI_API_KEY", ApiCapabilities(reasoning_effort="low"))
    assert (judge.token_probabilities, plans[0].seed) == (False, 7)


def test_roles_come_from_files_or_options(plans: list[Plan], tmp_path: Path) -> None:
    entry, other = f"{{name: j, base_url: '{URL}'}}", f"{{name: k, base_url: '{URL}', temperature: 0.5}}"
    config = tmp_path / "plan.yaml"
    config.write_text(f"roles: {{judge: {entry}, panel: [{{name: p}}], sage: {other}}}\n")
    in_one = ("--role", f"judge={entry}", "--role", "panel=p", "--set", f"sage={other}")
    field_by_field = ("--judge", "j", "--judge-base-url", URL, "--set", "panel=p", "--role", "sage=k")
    for given in (("--config", config), in_one, (*field_by_field, "--set", f"roles.sage.base_url={URL}")):
        assert run(*SERVER, *given, "--settings", "coem", "--set", "sage.sampling.temperature=0.5").status == 0
    assert [plan.roles for plan in plans] == [plans[0].roles] * 3
    assert [(entry.name, entry.base_url) for entry in plans[0].named()] == [("j", URL), ("p", URL), ("k", URL)]
    assert plans[0].named("sage")[0].sampling == Sampling(temperature=0.5)


def test_a_configured_role_without_setting_is_left_out(plans: list[Plan], tmp_path: Path) -> None:
    config = tmp_path / "plan.yaml"
    config.write_text(f"roles: {{sage: {{name: k, base_url: '{URL}'}}, seeker: {{name: s, base_url: '{URL}'}}}}\n")
    done = [run(*SERVER, "--config", config, "--settings", settings) for settings in ("base", "rag,coem")]
    assert [list(plan.roles) for plan in plans] == [[], ["sage"]]
    left_out = "moodflow: role {} is left out: no setting of this run has it ({})\n"
    assert done[0].err == left_out.format("sage", "base") + left_out.format("seeker", "base")
    assert done[1].err == left_out.format("seeker", "rag, coem")


def test_a_role_may_differ_by_dataset(plans: list[Plan], tmp_path: Path) -> None:
    at_deepseek = "{name: d, provider: deepseek}"
    by_dataset = f"{{default: {{name: j, base_url: '{URL}'}}, datasets: {{a: {at_deepseek}, b: null}}}}"
    config = tmp_path / "plan.yaml"
    config.write_text(f"roles: {{judge: {by_dataset}}}\n")
    for given in (("--config", config), ("--role", f"judge={by_dataset}")):
        assert run(*SERVER, *given, "--set", "judge.sampling.max_tokens=9", "--concurrency", "7").status == 0
    assert plans[0] == plans[1]
    found = {name: plans[0].role_model("judge", name) for name in ("a", "b", "c")}
    assert {name: entry and (entry.name, entry.base_url) for name, entry in found.items()} == {
        "a": ("d", "https://api.deepseek.com"),
        "b": None,
        "c": ("j", URL),
    }
    assert {(entry.sampling.max_tokens, entry.concurrency) for entry in plans[0].named("judge")} == {(9, 7)}


def test_the_environment_names_mirror_and_prices(plans: list[Plan], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text("currency: EUR\nprices: []")
    monkeypatch.setenv("MOODFLOW_MIRROR", "there")
    monkeypatch.setenv("MOODFLOW_PRICES", str(prices))
    run(*SERVER)
    run(*SERVER, "--mirror", "here")
    assert [plan.mirror for plan in plans] == [Path("there"), Path("here")]
    assert [plan.prices for plan in plans] == [prices] * 2


def test_options_and_files_win_over_a_preset(plans: list[Plan], tmp_path: Path) -> None:
    asked, config = ("longemotion", *SERVER, "--preset", "paper"), tmp_path / "plan.yaml"
    assert ended("run", *asked, "--settings", "base,coem").status == 0
    assert ended("run", *asked, "--temperature", "0", "--repeat", "1", "--judge", "smollm2", "--concurrency", "7").status == 0
    config.write_text(f"{{models: [{{name: a, base_url: '{URL}', top_p: 0.5}}], sample: 9, retrieval: {{top_k: 3}}}}")
    assert ended("run", "longemotion-mini", "--config", "paper", "--config", config, "--settings", "coem").status == 0
    paper, changed, filed = plans
    assert paper.models[0].sampling == Sampling(temperature=0.8, top_p=0.9, max_tokens=8192)
    # The largest dataset has 1,200 rows.
    assert (paper.repeat, (paper.sample or 0) > 1200, paper.retrieval.preset) == (3, True, "paper")
    sages = {name: paper.role_model("sage", f"longemotion_{name}") for name in ("ec_emobench", "ed", "ee", "ec_finentity", "qa")}
    assert [sage and sage.name for sage in sages.values()] == ["gpt-4o"] * 3 + ["deepseek-chat"] * 2
    assert {(one.name, one.api_key_env) for one in paper.named("judge")} == {("gpt-4o", "OPENAI_API_KEY")}
    # Nobody enriches chunks in base, so that no server of a Sage is looked for.
    assert (changed.models[0].sampling.temperature, changed.models[0].sampling.max_tokens) == (0.0, 8192)
    assert (changed.repeat, list(changed.roles), changed.named("judge")[0].name) == (1, ["judge"], "smollm2")
    assert (filed.models[0].sampling.top_p, filed.models[0].sampling.temperature, filed.sample) == (0.5, 0.8, 9)
    assert (filed.retrieval.top_k, [one.name for one in filed.named("sage")]) == (3, ["deepseek-chat", "gpt-4o"])


@pytest.mark.parametrize(
    ("benchmark", "preset", "told"),
    [
        ("moodbench", "paper", "preset paper belongs to another benchmark"),
        ("longemotion", "papr", "there is no preset papr"),
        ("longemotion", "none.yaml", "the configuration file cannot be read"),
    ],
)
def test_a_preset_that_cannot_be_is_refused(plans: list[Plan], benchmark: str, preset: str, told: str) -> None:
    done = ended("run", benchmark, *SERVER, "--preset", preset)
    assert (done.status, plans, told in done.err) == (2, [], True)
