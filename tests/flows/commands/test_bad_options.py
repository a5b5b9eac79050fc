"""Options and configuration files that cannot be meant: one message, exit status 2, before anything is started or written."""

import json
from pathlib import Path

import polars as pl
import pytest

from flows import cli
from schemas.plan import Plan
from tests.flows.command import Ended, moodflow

SERVER = ("--model", "m", "--base-url", "http://localhost:9/v1")
JUDGE = ("--judge", "j", "--judge-base-url", "http://localhost:9/v1")
PRICE = "{model: m, input_per_million: 1, output_per_million: 1, as_of: 2026-01-31, source: a test}"
SECRET = "SECRETPW"  # noqa: S105  stands for a password
SECRET_ADDRESSES = (
    f"http://user:{SECRET}@localhost:9/v1",
    f"http://us/er:{SECRET}@localhost:99999999/v1",
    f"user:{SECRET}@localhost:9/v1",
    f"http://localhost:9/v1?key={SECRET}",
    f"http://localhost:9/v1#{SECRET}",
)


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[Plan]:
    """Plans that would have been carried out."""
    made: list[Plan] = []
    monkeypatch.setattr(cli, "_execute", lambda _stage, plan, **_: made.append(plan))
    return made


def assert_one_message(ended: Ended, *parts: str) -> None:
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith("Error: ")
    assert ended.err.count("next step: ") == 1
    assert "Traceback" not in ended.err
    for part in parts:
        assert part in ended.err


def configured(folder: Path, content: str | bytes, name: str = "plan.yaml") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("--extra-body", '{"temperature": NaN}'), "NaN is no JSON"),
        (("--extra-body", '{"a": [-Infinity]}'), "-Infinity is no JSON"),
        (("--extra-body", '{"a": 1e999}'), "not JSON compliant"),
        (("--extra-body", '{"a": "\\ud800"}'), "surrogates"),
        (("--extra-body", '{"a":' * 5000 + "1" + "}" * 5000), "more than 64 levels"),
        (("--extra-body", '{"a":' * 65 + "1" + "}" * 65), "more than 64 levels"),
        (("--extra-body", "[1]"), "no JSON object: '[1]'"),
        (("--extra-body", ""), "no JSON object"),
        (("--too-long", "cut"), "'missing', 'cut_middle' or 'cut_start'"),
        (("--token-limit", ""), "'max_tokens' or 'max_completion_tokens'"),
        (("--unsent", "max_tokens"), "where: models.0.dialect.unsent.0"),
        (("--reasoning-effort", ""), "at least 1 character"),
        (("--provider", "openai"), "is said twice"),
        (("--requests-per-minute", "0"), "where: models.0.requests_per_minute"),
        (("--tokens-per-minute", "-5"), "where: models.0.tokens_per_minute"),
        (("--timeout", "-1"), "where: models.0.timeout_s"),
        (("--timeout", "nan"), "a finite number"),
        (("--concurrency", "0"), "where: models.0.concurrency"),
        (("--temperature", "inf"), "a finite number"),
        (("--judge", ""), "where: judge.name"),
        (("--judge", "j"), "needs a base_url"),
        (("--datasets", " ,"), "where: datasets"),
        (("--settings", ""), "where: settings"),
        (("--bootstrap", "99999999999"), "where: bootstrap"),
        (("--budget", "nan"), "a finite number"),
        (("--budget-tokens", "0"), "where: budget_tokens"),
        (("--budget", "5"), "there is none for m"),
        ((*JUDGE, "--budget", "5"), "there is none for m, j"),
        (("--config", "no-such-file.yaml"), "No such file"),
        (("--prices", "no-such-file.yaml"), "No such file"),
    ],
)
def test_an_option_that_cannot_be_meant(
    plans: list[Plan], capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], part: str
) -> None:
    assert_one_message(moodflow(capsys, "run", "moodbench-mini", *SERVER, *arguments), part)
    assert plans == []


def model(**changes: object) -> str:
    return json.dumps({"models": [{"name": "m", "base_url": "http://localhost:9/v1", **changes}]})


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("", "got: NoneType"),
        ("[", "cannot be read"),
        ("[" * 3000, "recursion"),
        ("seed: 2026-13-45", "month must be in 1..12"),
        (b"\xff", "invalid start byte"),
        ("{1: 2, models: [{name: smollm2}]}", "Keys should be strings"),
        ("models: {name: m}", "where: models\n"),
        ("models: &all [*all]", "where: models.0\n"),
        ("models: [{name: 5, provider: openai}]", "where: models.0.name"),
        ("models: [{name: m, provider: [openai]}]", "there is no provider"),
        (model(dialect="usual"), "where: models.0.dialect\n"),
        (model(dialect={"extra": [1]}), "no JSON object: '[1]'"),
        (model(dialect={"extra": {"n": 2}}), "extra has n"),
        (model(dialect={"efort": "low"}), "where: models.0.dialect.efort"),
        (model(sampling={"temp": 1}), "where: models.0.sampling.temp"),
        (model(require_same="yes"), "where: models.0.require_same"),
        ("models: [{name: smollm2, dialect: {extra: {a: .nan}}}]", "where: dialect.extra"),
        ("models: [{name: smollm2, dialect: {extra: {a: 2026-01-01}}}]", "put dates and times in quotes"),
        ("models: [{name: smollm2, dialect: {extra: &it {a: *it}}}]", "Circular"),
        ("models: [{name: smollm2, sampling: null}]", "where: models.0.sampling"),
        ("models: [{name: smollm2}]\nprices: 5", "where: prices"),
        ("models: [{name: smollm2}]\nbudgets: 5", "where: budgets"),
    ],
)
def test_a_configuration_that_cannot_be_meant(
    plans: list[Plan], capsys: pytest.CaptureFixture[str], tmp_path: Path, content: str | bytes, part: str
) -> None:
    assert_one_message(moodflow(capsys, "run", "moodbench-mini", "--config", configured(tmp_path, content)), part)
    assert plans == []


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("", "a valid dictionary"),
        ("{", "expected the node content"),
        ("[" * 3000, "recursion"),
        (b"\xff", "invalid start byte"),
        ("currency: EUR", "prices: Field required"),
        ("currency: euro\nprices: []", "currency: "),
        (f"currency: EUR\nprices: [{PRICE.replace('input_per_million: 1', 'input_per_million: .nan')}]", "a finite number"),
        (f"currency: EUR\nprices: [{PRICE.replace('input_per_million: 1', 'input_per_million: -1')}]", "greater than or equal"),
        (f"currency: EUR\nprices: [{PRICE.replace('01-31', '02-30')}]", "day is out of range"),
        (f"currency: EUR\nprices: [{PRICE.replace('source', 'sauce')}]", "source: Field required"),
    ],
)
def test_a_price_table_that_cannot_be_read(
    plans: list[Plan], capsys: pytest.CaptureFixture[str], tmp_path: Path, content: str | bytes, part: str
) -> None:
    prices = configured(tmp_path, content, "prices.yaml")
    assert_one_message(moodflow(capsys, "run", "moodbench-mini", *SERVER, "--prices", prices), part, str(prices))
    assert plans == []


def test_a_budget_in_money_passes_where_every_model_has_a_price(
    plans: list[Plan], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    prices = configured(tmp_path, f"currency: EUR\nprices: [{PRICE}]", "prices.yaml")
    assert moodflow(capsys, "run", "moodbench-mini", *SERVER, "--prices", prices, "--budget", "5").status == 0
    assert moodflow(capsys, "run", "moodbench-mini", "--model", "smollm2", "--budget", "5").status == 0
    assert [plan.budget for plan in plans] == [5, 5]


@pytest.mark.parametrize("address", SECRET_ADDRESSES)
@pytest.mark.parametrize("field", ["base_url", "identity", "base_urll"])
@pytest.mark.parametrize("role", ["models", "judge"])
def test_a_secret_in_an_address_of_a_configuration_is_refused_and_not_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, role: str, field: str, address: str
) -> None:
    # Not with plans: what would be written and started is.
    entry = {"name": "m", "base_url": "http://localhost:9/v1", field: address}
    values = {"models": [entry]} if role == "models" else {"models": [{"name": "smollm2"}], "judge": entry}
    config = configured(tmp_path, json.dumps(values))
    ended = moodflow(capsys, "run", "moodbench-mini", "--config", config, "--lake", tmp_path / "lake")
    assert_one_message(ended, field, *(["--api-key-env"] if field != "base_urll" else []))
    assert SECRET not in ended.err
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
        ("models", "check", "m", "--base-url"),
    ],
    ids=" ".join,
)
def test_a_secret_in_an_address_is_refused_and_not_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: tuple[str, ...], address: str
) -> None:
    ended = moodflow(capsys, *command, address, "--lake", tmp_path / "lake")
    assert_one_message(ended, "is said twice" if "--provider" in command else "--api-key-env")
    assert SECRET not in ended.err
    assert not (tmp_path / "lake").exists()


@pytest.mark.parametrize("value", ["sk-SECRET", "", "a b"])
@pytest.mark.parametrize(
    "command",
    [
        ("run", "moodbench-mini", *SERVER, "--api-key-env"),
        ("run", "moodbench-mini", *SERVER, *JUDGE, "--judge-api-key-env"),
        ("models", "check", "m", "--base-url", "http://localhost:9/v1", "--api-key-env"),
    ],
    ids=["model", "judge", "check"],
)
def test_a_key_in_place_of_its_variable_is_refused_and_not_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: tuple[str, ...], value: str
) -> None:
    ended = moodflow(capsys, *command, value, "--lake", tmp_path / "lake")
    assert_one_message(ended, "--api-key-env")
    assert "SECRET" not in ended.err
    assert not (tmp_path / "lake").exists()


def test_a_key_in_an_entry_is_refused_and_not_told(plans: list[Plan], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for entry in ({"name": "m", "api_key": "sk-SECRET"}, {"api_key": "sk-SECRET"}):
        config = configured(tmp_path, json.dumps({"models": [entry]}))
        ended = moodflow(capsys, "run", "moodbench-mini", "--config", config)
        assert_one_message(ended)
        assert "SECRET" not in ended.err
    assert plans == []


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("check", "", "--base-url", "http://localhost:9/v1"), "where: name"),
        (("check", "m"), "is not clear"),
        (("check", "m", "--base-url", "http://localhost:9/v1", "--provider", "openai"), "is not clear"),
        (("check", "m", "--provider", "opena"), "did you mean openai"),
        (("check", "m", "--base-url", "ftp://localhost/v1"), "not an http or https URL"),
    ],
)
def test_a_model_that_cannot_be_checked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: tuple[str, ...], part: str
) -> None:
    assert_one_message(moodflow(capsys, "models", *arguments, "--lake", tmp_path / "lake"), part)
    assert not (tmp_path / "lake").exists()


@pytest.mark.parametrize("command", ["show", "export", "import", "merge"])
@pytest.mark.parametrize("source", ["nothing", "folder", "text", "table"])
def test_a_journal_that_cannot_be_used(capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str, source: str) -> None:
    named = tmp_path / "source.parquet"
    if source == "folder":
        named.mkdir()
    elif source == "text":
        named.write_text("no table")
    elif source == "table":
        pl.DataFrame({"a": [1]}).write_parquet(named)
    before = named.read_bytes() if named.is_file() else None
    arguments = {
        "show": ("--lake", named),
        "export": (tmp_path / "exported.parquet", "--lake", named),
        "import": (named, "--lake", tmp_path / "lake"),
        "merge": (named, "--lake", tmp_path / "lake"),
    }
    ended = moodflow(capsys, "journal", command, *arguments[command])
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith("Error: ")
    assert "Traceback" not in ended.err
    assert not (tmp_path / "exported.parquet").exists()
    assert (named.read_bytes() if named.is_file() else None) == before
