"""Options and configuration files that cannot be meant: one message, exit status 2, before anything is started or written."""

import json
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from flows.commands.plan_fields import EXAMPLE
from schemas.plan import Plan
from tasks.lake.manifest import write_manifest
from tasks.retrieval.embedding import find_embedder
from tests.flows.command import assert_one_message, ended
from tests.tasks.lake.test_manifest import bare_manifest

AT = ("--base-url", "http://localhost:9/v1")
SERVER = ("--model", "m", *AT)
JUDGE = ("--judge", "j", "--judge-base-url", "http://localhost:9/v1")
PRICE = "{model: m, input_per_million: 1, output_per_million: 1, as_of: 2026-01-31, source: a test}"
MINI = ("run", "moodbench-mini", *SERVER)
LONG = ("run", "longemotion-mini", *SERVER, "--datasets", "long_mini_qa")
RAG = ("--settings", "rag")
SECRET = "SECRETPW"  # noqa: S105  stands for a password
SECRET_ADDRESSES = (
    f"http://user:{SECRET}@localhost:9/v1",
    f"http://us/er:{SECRET}@localhost:99999999/v1",
    f"user:{SECRET}@localhost:9/v1",
    f"http://localhost:9/v1?key={SECRET}",
    f"http://localhost:9/v1#{SECRET}",
)


LAUGHS = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9))
"""A kilobyte that stands for 43 million texts."""


ROLE = "{{models: [{{name: smollm2}}], roles: {{{}}}}}"


def configured(folder: Path, content: str | bytes, name: str = "plan.yaml") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("--datasets", "nope,nada"), ("no dataset nope; benchmark moodbench-mini has no dataset nada", "got: nope; nada\n")),
        (("--datasets", "nope", "--settings", "rug"), ("there is no setting rug; benchmark moodbench-mini has no dataset nope",)),
        (("--set", "smaple=3", "--set", "sede=1"), ("unknown field smaple; unknown field sede", "sample", "seed")),
        (
            ("--role", "sagee=x", "--role", "criticc=y"),
            (
                "there is no role sagee; there is no role criticc",
                "next step: sagee: did you mean sage? criticc: did you mean critic?\n",
            ),
        ),
    ],
)
def test_all_unknown_names_are_told_at_once(arguments: tuple[str, ...], parts: tuple[str, ...]) -> None:
    assert_one_message(ended(*MINI, *arguments), *parts)


def test_models_without_server_are_told_at_once() -> None:
    done = ended("run", "moodbench-mini", "--model", "gpt-4o", "--model", "claude-x")
    assert_one_message(done, "where: --model gpt-4o; --model claude-x\n", "--provider openai", "--provider anthropic")


def test_all_unknown_runs_are_told_at_once(tmp_path: Path) -> None:
    write_manifest(tmp_path, bare_manifest("r"))
    both = "there is no run latest~9; there is no run #7\n"
    assert_one_message(ended("compare", "latest~9", "#7", "--lake", tmp_path), both)
    board = ("leaderboard", "moodbench-mini", "--lake", tmp_path)
    assert_one_message(ended(*board, "--run", "latest~9", "--run", "#7"), both)


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("run", "moodbench", "--datasets", "copaa", *SERVER), ("copaa", "did you mean copa")),
        (("run", "moodbench-min", *SERVER), ("moodbench-mini",)),
        (("run", "moodbench-mini", "--model", "m", "--base-url", "http://no.invalid/v1"), ("cannot be reached", "//no.invalid")),
        (("run", "moodbench-mini", *SERVER, "--api-key-env", "NO_SUCH_KEY_HERE"), ("NO_SUCH_KEY_HERE", "export")),
        (("run", "moodbench-mini", "--model", "gpt"), ("model gpt needs a provider or a base_url",)),
        (("run", "moodbench-mini", "--model", "gpt-4o"), ("--provider openai has models of this name", "--base-url URL")),
        (("run", "moodbench-mini", "--model", "Kimi-K2"), ("--provider moonshot or --provider moonshot_intl has",)),
        ((*MINI, "--judge", "claude-x"), ("--role judge=claude-x@anthropic has", "any other server --judge-base-url URL\n")),
        ((*MINI, "--judge", "j"), ("where: --judge j\n", "next step: --judge-base-url URL, or --role judge=j@ID of a provider")),
        ((*MINI, "--role", "sage=s"), ("where: --role sage=s\n", "next step: --role sage=s@URL, or --role sage=s@ID of a")),
        (("run", *SERVER), ("no benchmark was named", "--config")),
        (("run", "moodbench-mini"), ("no model given", "smollm2")),
        (("lineage", "\udcff"), ("an argument is not UTF-8", "\\udcff")),
        (("journal", "import", "x" * 5000), ("File name too long",)),
        ((*MINI, "--samle", "3"), ("did you mean --sample?",)),
        ((*MINI, "--set", "retrieval.topk=3"), ("did you mean retrieval.top_k",)),
        ((*MINI, "--set", "sample"), ("--set needs a value",)),
        ((*MINI, "--set", "contexts={a"), ("the value of contexts cannot be read",)),
        ((*MINI, "--role", "sagee=x"), ("did you mean sage?",)),
        ((*MINI, "--role", "sage=x@opnai"), ("did you mean openai",)),
        ((*MINI, "--role", "sage=x@nowhere"), ("where: --role sage, roles.sage\n", "got: nowhere", f"--role sage={EXAMPLE}\n")),
        ((*MINI, "--role", "sage"), ("expected: NAME=MODEL@BASE_URL", f"for example --role sage={EXAMPLE}\n")),
        ((*MINI, "--role", "tested=x"), ("tested is not a role", "where: --role\n", "with --model")),
        ((*MINI, *JUDGE, "--judge", "k"), ("role judge is given twice", "where: --judge, --role\n", "got: k\n")),
        ((*MINI, *JUDGE, "--role", "judge=k@http://localhost:9/v1"), ("role judge is given twice",)),
        ((*MINI, *JUDGE, "--role", "panel=p", "--role", "panel={default: {name: q}}"), ("role panel is given twice",)),
        (
            (*LONG, "--role", "sage=x@http://localhost:9/v1"),
            (
                "no setting of the plan uses the role sage",
                "one of judge, panel\n",
                "sage, with settings base\n",
                "has it: coem\n",
            ),
        ),
        (
            (*MINI, "--model", "n", "--base-url", "http://localhost:8/v1"),
            ("--base-url is given 2 times\n", "write models: [{name: A, base_url: X}, {name: B, base_url: Y}] into a file"),
        ),
        ((*MINI, *JUDGE, "--judge-base-url=http://localhost:8/v1"), ("given 2 times", "each judge as --role panel=NAME@URL\n")),
        ((*MINI, "--panel", "x"), ("next step: use --role panel=NAME",)),
        ((*MINI, "--set", 'models.dialect.extra={"temperature": NaN}'), ("NaN is no number of JSON",)),
        ((*MINI, "--set", 'models.dialect.extra={"a": "\\ud800"}'), ("surrogates",)),
        ((*MINI, "--set", "models.dialect.extra=" + '{"a":' * 65 + "1" + "}" * 65), ("more than 64 levels",)),
        ((*MINI, "--set", "too_long=cut"), ("'missing', 'cut_middle' or 'cut_start'",)),
        ((*MINI, "--set", "models.dialect.unsent=max_tokens"), ("where: models.0.dialect.unsent.0",)),
        ((*MINI, "--provider", "openai"), ("has both a provider and a base URL",)),
        ((*MINI, "--set", "models.timeout_s=nan"), ("a finite number",)),
        ((*MINI, "--judge", ""), ("where: judge.name",)),
        ((*MINI, "--datasets", " ,"), ("where: datasets",)),
        ((*MINI, "--set", "bootstrap=99999999999"), ("where: bootstrap",)),
        ((*MINI, "--set", "seed=1" + "0" * 40), ("a whole number of 41 characters, more than a column holds",)),
        ((*MINI, "--datasets", "x" * 3000), ("[... ", " more characters ...]")),
        ((*MINI, "--set", "budget=5"), ("--set prices=FILE",)),
        ((*MINI, *JUDGE, "--set", "budget=5"), ("there is none for m, j",)),
        (
            ("run", "moodbench-mini", *SERVER, *RAG, "--datasets", "mini_irony_detection"),
            ("cannot be asked in setting rag", "where: --settings", "expected: one of base\n", "without long contexts"),
        ),
        ((*LONG, "--settings", "rug"), ("there is no setting rug", "where: --settings", "did you mean rag?")),
        ((*LONG, *RAG, "--set", "retrieval.embedder=nobody/no-such-model"), ("was not found", "nobody/no-such-model")),
        ((*LONG, "--set", "contexts.lengths=abc"), ("where: contexts.lengths.0", "abc")),
        ((*LONG, *RAG, "--set", "retrieval.chunk_tokens=32"), ("overlap", "32", "50")),
        ((*LONG, "--settings", "coem", "--set", "retrieval.initial_k=2", "--set", "retrieval.top_k=4"), ("initial_k",)),
        (
            (*LONG, "--set", "sage.base_url=http://localhost:9/v1"),
            ("fields of role sage are set, but no model has this role", "--role sage=NAME"),
        ),
        (("score", *MINI[1:], "--dry-run"), ("moodflow score calls no model",)),
        (
            ("score", "moodbench", *SERVER, "--datasets", "stereoset", "--set", "profile=reference"),
            ("stereoset has no reference score: the released code asks for the anti-stereotype",),
        ),
        (("models", "check", "", *AT), ("where: name",)),
        (("models", "check", "m"), ("got: neither",)),
        (("models", "check", "m", *AT, "--provider", "openai"), ("got: both",)),
        ((*MINI, "--set", "runner=dask"), ("runner dask needs the address of its cluster, runner_address",)),
        ((*MINI, "--set", "runner_address=127.0.0.1:1"), ("runner_address needs runner dask",)),
        ((*MINI, "--set", "runner=dask", "--set", "runner_address=head"), ("a cluster needs a host and a port",)),
        ((*MINI, "--set", "runner=dask", "--set", "runner_address=a:b@127.0.0.1:1"), ("invalid option",)),
    ],
    ids=lambda part: " ".join(part[-2:]).replace("/", "-"),
)
def test_an_option_that_cannot_be_meant(tmp_path: Path, arguments: tuple[str, ...], parts: tuple[str, ...]) -> None:
    lake = tmp_path / "lake"
    done = ended(*arguments, "--lake", lake)
    assert_one_message(done, *parts)
    assert done.err.startswith("Error: ")
    assert [path for path in lake.rglob("*") if path.is_file()] == []


def model(**changes: object) -> str:
    return json.dumps({"models": [{"name": "m", "base_url": "http://localhost:9/v1", **changes}]})


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("", "got: NoneType"),
        ("[", "cannot be read"),
        ("[" * 99_999, "more than 64 levels"),
        ("seed: 1\nseed: 2", "the key 'seed' is given twice, on lines 1 and 2"),
        (LAUGHS, "more than 200,000 values"),
        ('datasets: ["\\ud800"]', "surrogates not allowed"),
        (b"#" * 2**25, "larger than 16 MiB"),
        ("seed: 2026-13-45", "month must be in 1..12"),
        (b"\xff", "invalid start byte"),
        ("{1: 2, models: [{name: smollm2}]}", "Keys should be strings"),
        ("models: {name: m}", "where: models\n"),
        ("models: &all [*all]", "a YAML alias refers to itself"),
        ("models: [{name: 5, provider: openai}]", "where: models.0.name"),
        ("models: [{name: m, provider: [openai]}]", "there is no provider"),
        (model(dialect="usual"), "where: models.0.dialect\n"),
        (model(sampling={"temp": 1}), "where: models.0.sampling.temp"),
        (model(require_same="yes"), "where: models.0.require_same"),
        ("models: [{name: smollm2, dialect: {extra: {a: .nan}}}]", "where: dialect.extra"),
        ("models: [{name: smollm2, dialect: {extra: {a: 2026-01-01}}}]", "put dates and times in quotes"),
        ("models: [{name: smollm2, sampling: null}]", "where: models.0.sampling"),
        ("models: [{name: smollm2}]\nbudgets: 5", "where: budgets"),
        ("retrieval: {overlap: 5}", "where: retrieval.overlap"),
        ("roles: {sage: m}", "where: sage\n"),
        ("roles: {sage: {default: {nam: m}}}", "where: sage.name\n"),
        ("roles: {sage: {datasets: {d: {name: m}}}}", "where: roles.sage.datasets.d.0\n"),
        (ROLE.format("sagee: {name: smollm2}"), "next step: did you mean sage?"),
        (ROLE.format("xyz: {name: smollm2}"), "for example --role judge=NAME@URL"),
        (ROLE.format("judge: {datasets: {mini_irony: {name: smollm2}}}"), "did you mean mini_irony_detection"),
        (model(api_key="sk-SECRETPW"), "where: models.0.api_key"),
    ],
)
def test_a_configuration_that_cannot_be_meant(tmp_path: Path, content: str | bytes, part: str) -> None:
    # What would be written and started is.
    done = ended("run", "moodbench-mini", "--config", configured(tmp_path, content), "--lake", tmp_path / "lake")
    assert_one_message(done, part)
    assert SECRET not in done.err
    assert not (tmp_path / "lake").exists()


def test_a_budget_needs_a_price_for_every_model(plans: list[Plan], tmp_path: Path) -> None:
    prices = configured(tmp_path, f"currency: EUR\nprices: [{PRICE}]", "prices.yaml")
    assert ended("run", "moodbench-mini", *SERVER, "--set", f"prices={prices}", "--set", "budget=5").status == 0
    assert ended("run", "moodbench-mini", "--model", "smollm2", "--set", "budget=5").status == 0
    assert [plan.budget for plan in plans] == [5, 5]


@pytest.mark.parametrize("address", SECRET_ADDRESSES)
@pytest.mark.parametrize("field", ["base_url", "identity", "base_urll"])
@pytest.mark.parametrize("role", ["models", "judge"])
def test_a_configured_secret_address_is_refused_untold(tmp_path: Path, role: str, field: str, address: str) -> None:
    # Not with plans: what would be written and started is.
    entry = {"name": "m", "base_url": "http://localhost:9/v1", field: address}
    values = {"models": [entry]} if role == "models" else {"models": [{"name": "smollm2"}], "roles": {"judge": entry}}
    config = configured(tmp_path, json.dumps(values))
    done = ended("run", "moodbench-mini", "--config", config, "--lake", tmp_path / "lake")
    assert_one_message(done, field, *(["--api-key-env"] if field != "base_urll" else []))
    assert SECRET not in done.err
    assert not (tmp_path / "lake").exists()


@pytest.mark.parametrize("address", SECRET_ADDRESSES)
@pytest.mark.parametrize(
    "command",
    [
        ("run", "moodbench-mini", "--model", "m", "--base-url"),
        ("run", "moodbench-mini", "--dry-run", "--model", "m", "--base-url"),
        ("score", "moodbench-mini", "--model", "m", "--base-url"),
        ("run", "moodbench-mini", "--model", "smollm2", "--judge", "j", "--judge-base-url"),
        ("run", "moodbench-mini", "--model", "m", "--provider", "openai", "--base-url"),
        ("run", "moodbench-mini", "--model", "smollm2", "--set", "judge={name: j}", "--set", "judge.base_url="),
        ("run", "moodbench-mini", "--model", "smollm2", "--role", "sage=x@"),
        ("models", "check", "m", "--base-url"),
    ],
    ids=" ".join,
)
def test_a_secret_address_is_refused_untold(tmp_path: Path, command: tuple[str, ...], address: str) -> None:
    joined = (*command[:-1], command[-1] + address) if command[-1][-1] in "=@" else (*command, address)
    done = ended(*joined, "--lake", tmp_path / "lake")
    told = (
        "has both a provider and a base URL"
        if "--provider" in command
        else "there is no provider"
        if "//" not in address
        else "--api-key-env"
    )
    assert_one_message(done, told if "--role" in command or "--provider" in command else "--api-key-env")
    assert SECRET not in done.err
    assert not (tmp_path / "lake").exists()


@pytest.mark.parametrize("value", ["sk-SECRET", "", "a b"])
@pytest.mark.parametrize(
    "command",
    [
        ("run", "moodbench-mini", *SERVER, "--api-key-env"),
        ("run", "moodbench-mini", *SERVER, *JUDGE, "--set", "judge.api_key_env"),
        ("models", "check", "m", "--base-url", "http://localhost:9/v1", "--api-key-env"),
    ],
    ids=["model", "judge", "check"],
)
def test_a_key_for_its_variable_is_refused_untold(tmp_path: Path, command: tuple[str, ...], value: str) -> None:
    done = ended(*command[:-1], f"{command[-1]}={value}", "--lake", tmp_path / "lake")
    assert_one_message(done, "--api-key-env")
    assert "SECRET" not in done.err
    assert not (tmp_path / "lake").exists()


@pytest.mark.parametrize(
    ("command", "content", "part"),
    [
        (("show", "--lake"), None, "there is no journal of replies"),
        (("export", "exported.parquet", "--lake"), None, "there is no journal of replies"),
        (("import",), None, "cannot be read"),
        (("import",), "no table", "cannot be read"),
        (("import",), [{"key": "x"}], "identity: missing instead of String"),
        (("merge",), None, "there is no journal of replies"),
        (("merge",), "no journal", "the journal cannot be used"),
    ],
)
def test_a_journal_that_cannot_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], content: Any, part: str
) -> None:
    monkeypatch.chdir(tmp_path)
    source = Path("source.parquet")
    if isinstance(content, str):
        source.write_text(content)
    elif content:
        pl.DataFrame(content).write_parquet(source)
    before = source.read_bytes() if content else None
    assert_one_message(ended("journal", *command, source), part)
    assert [path.read_bytes() for path in tmp_path.glob("*.parquet")] == [before] * bool(content)


COMPARED = """\
name: compared
title: Compared
version: "1"
source: test
level_rules: [{weights: {high: 1}}]
abilities: [{id: all, title: All, tasks: [{id: one, title: One, level: high, datasets: [mini_truthfulness_qa]}]}]
datasets:
  mini_truthfulness_qa:
    title: Truth
    methods: [{id: by_meaning, metrics: [{metric: truthful_similarity}]}]
"""


def test_what_needs_the_extra_embeddings_is_refused_before_a_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    find_embedder.cache_clear()
    step = 'next step: pip install "moodflow[embeddings]", or '
    for setting in ("rag", "coem", "self_rag"):
        done = ended(*LONG, "--settings", setting, "--lake", tmp_path / "lake")
        said = "Error: ranking texts by their meaning needs the package sentence-transformers, which is not installed"
        assert_one_message(
            done, said, "where: --set retrieval.ranking=dense", f"{step}rank by words with --set retrieval.ranking=bm25"
        )
    file = configured(tmp_path, COMPARED, "compared.yaml")
    done = ended("run", file, *SERVER, "--lake", tmp_path / "lake")
    said = "Error: the metric truthful_similarity needs the package sentence-transformers, which is not installed"
    assert_one_message(done, said, "where: dataset mini_truthfulness_qa", f"{step}leave the dataset out")
    assert not (tmp_path / "lake").exists()
