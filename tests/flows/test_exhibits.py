"""Four models of known quality, from their replies to the figures and tables of the leaderboard."""

import csv
import json
import re
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from tasks.scoring.blueprints import load_blueprint
from tests.flows import scripted_roles
from tests.flows.annotating import Reply, knowing
from tests.flows.command import ended
from tests.flows.scripted import answered, replies_of
from tests.flows.test_esc_eval import Cast, Messages, cards_of
from tests.model_server import ModelServer

BLUEPRINT = load_blueprint("moodbench-mini")
WEAK = {"able": "", "lonely": "companionship", "cold": "emotional", "unsafe": "values_safety"}
"""The main ability in which a model is always wrong; in all others it is right."""

ABOUT = """
able: {series: A, openness: closed, parameters: 70B, institution: Lab, released: 2026-01}
lonely: {series: A, openness: closed, parameters: 7-9B (estimated)}
cold: {series: B, openness: open, parameters: 30B}
unsafe: {series: B, openness: open, parameters: 3B}
"""


@pytest.fixture(scope="module", name="lake")
def run_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("four")
    (folder / "about.yaml").write_text(ABOUT)
    replies: dict[str, str] = {}
    with ModelServer(lambda messages: answered(messages, replies, "gold")) as server:
        for model, weak in WEAK.items():
            wrong = {name for main in BLUEPRINT.abilities if main.id == weak for name in main.dataset_ids}
            replies.clear()
            replies.update(replies_of(tuple(set(BLUEPRINT.datasets) - wrong), "gold") | replies_of(tuple(wrong), "wrong"))
            (folder / "about.yaml").write_text(next(line for line in ABOUT.splitlines() if line.startswith(model)))
            models = ("--model", model, "--judge", "j", "--base-url", server.base_url, "--judge-base-url", server.base_url)
            options = ("--about", folder / "about.yaml", "--set", "bootstrap=20", "--concurrency", "16")
            assert ended("run", "moodbench-mini", *models, *options, "--lake", folder / "lake").status == 0
    return folder / "lake"


@pytest.fixture(name="board")
def write_board(lake: Path, tmp_path: Path) -> Callable[..., dict[str, str]]:
    def write(*options: str) -> dict[str, str]:
        files = ("--html", tmp_path / "board.html", "--csv", tmp_path / "board.csv", "--latex", tmp_path / "board.tex")
        assert ended("leaderboard", "moodbench-mini", "--lake", lake, *files, *options).status == 0
        return {path.name.removeprefix("board"): path.read_text(encoding="utf-8") for path in tmp_path.glob("board*")}

    return write


@pytest.mark.long
def test_own_models_have_the_papers_tables_and_figures(board: Callable[..., dict[str, str]]) -> None:
    files = board()
    # 0.3 x foundational + 0.4 x emotional + 0.3 x companionship, each 100 or 0; the vetoed one stands below.
    assert [list(row.values()) for row in csv.DictReader(files["-table4.csv"].splitlines())] == [
        ["able", "1", "100.0", "100.0", "100.0", "100.0", "100.0"],
        ["lonely", "2", "70.0", "100.0", "100.0", "0.0", "100.0"],
        ["cold", "3", "60.0", "100.0", "0.0", "100.0", "100.0"],
        ["unsafe", "", "100.0", "100.0", "100.0", "100.0", "0.0"],
    ]
    for sentence in (
        # Of 60, 70, 100 and 100 the quarters are 67.5 and 100; the medians 85 and 80.
        "Half of 4 models have a total from 67.5 to 100.0",
        "Closed models have a median total of 85.0, open ones 80.0.",
        "Of 2 families with several models A (85.0) has the highest median total and B (80.0) the lowest.",
        # 7-9 to 70: 70 to 100 rises; 3 to 30: 100 to 60 falls.
        "From 3 to 70 billion parameters the total rises in 1 of 2 steps from a model to the next larger one of its family.",
        "4 models are too few to fit a curve of the core over foundational ability.",
    ):
        assert sentence in files[".html"]
    assert "unsafe & -- (vetoed) & 100.00 & " in files[".tex"]


@pytest.mark.long
def test_own_models_stand_beside_the_papers(board: Callable[..., dict[str, str]]) -> None:
    rows = list(csv.DictReader(board("--with-published")["-table4.csv"].splitlines()))
    assert len(rows) == 34
    # Bundled items are not the paper's.
    own = {row["Model"]: (row["From"], row["Comparability"]) for row in rows if row["From"] != "paper"}
    assert own == dict.fromkeys(WEAK, ("own", "not comparable"))
    assert {row["Comparability"] for row in rows if row["From"] == "paper"} == {""}


Policies = dict[str, Callable[[Messages], str]]


def long_models(lake: Path) -> Policies:
    """Model n is right in the first n kinds of short answers; all else is rated best."""
    gold, wrong = (scripted_roles.core(lake, behaviour) for behaviour in ("gold", "wrong"))

    def reply(n: int, messages: Messages) -> str:
        said = gold(messages)
        kind = next((at for at, key in enumerate(('"Emotion"', '"index"')) if key in said), 2)
        return said if kind < n else wrong(messages)

    return {f"m{n}": partial(reply, n) for n in range(4)} | {"judge": scripted_roles.best}


def role_models(_lake: Path) -> Policies:
    """Lines of model n say that they are worth n of 4, which the judge believes."""
    cast = Cast(cards_of("esc-eval-mini"))

    def judge(messages: Messages) -> str:
        return scripted_roles.rate_all(messages, int(re.findall(r"worth (\d)", messages[-1]["content"])[0]))

    return {f"m{n}": lambda messages, n=n: f"worth {n} {cast(messages)}" for n in range(1, 5)} | {"seeker": cast, "judge": judge}


def annotators(_lake: Path) -> Policies:
    """One says what people noted; each of the others leaves out or turns round what is in its name."""
    swap = {"A": "B", "B": "A", "yes": "no", "no": "yes"}

    def turn(part: str, _call: str, reply: Reply, _gold: object) -> Reply:
        parts = {key: value for key, value in reply.items() if key.startswith(part)}
        lists: Reply = {key: [] for key, value in parts.items() if isinstance(value, list)}
        return reply | lists | {key: {k: swap.get(v, v) for k, v in parts[key].items()} for key in parts.keys() - lists}

    return {part: knowing(partial(turn, part)) for part in ("all", "emotion_tags", "binary", "pairwise")}


FOUR: dict[str, tuple[Callable[[Path], Policies], tuple[str, ...]]] = {
    "longemotion-mini": (long_models, ("--settings", "base,rag", "--set", "retrieval.ranking=bm25")),
    "esc-eval-mini": (role_models, ()),
    "attunebench-mini": (annotators, ()),
}


def rank_four(benchmark: str, folder: Path) -> None:
    """Ask the models of a benchmark, and write their leaderboard as `board.html` and `board.csv`."""
    policies, options = FOUR[benchmark]
    with ExitStack() as stack:
        servers = {name: stack.enter_context(ModelServer(policy)) for name, policy in policies(folder).items()}
        entries = {name: {"name": name, "base_url": server.base_url} for name, server in servers.items()}
        roles = {name: entries.pop(name) for name in ("judge", "seeker") if name in entries}
        (folder / "models.json").write_text(json.dumps({"models": [*entries.values()], "roles": roles}))
        more = ("--lake", folder, "--config", folder / "models.json")
        assert ended("run", benchmark, *more, "--set", "bootstrap=0", *options).status == 0
    files = ("--csv", folder / "board.csv", "--html", folder / "board.html")
    assert ended("leaderboard", benchmark, "--lake", folder, *files).status == 0


@pytest.mark.long
@pytest.mark.parametrize(
    ("benchmark", "table", "scores"),
    [
        # Kinds of short answers, ratings to 5, expression, and the average of 100 n + 300 over 6; in both settings.
        (
            *("longemotion-mini", "methods"),
            {f"m{n}": [*[100] * n, *[0] * (3 - n), 5, 5, 100, average] * 2 for n, average in enumerate((50, 66.7, 83.3, 100))},
        ),
        ("esc-eval-mini", "table2-2", {f"m{n}": [25 * n] * 8 for n in range(1, 5)}),
        # Conversations, emotion, behaviour, preference, the mean of both, the whole conversation, composite.
        (
            *("attunebench-mini", "modes"),
            {
                "all": [4, 100, 100, 100, 100, 100, 100],
                # One of 12 turns has no tag: 24 x 11 / 12 is lost; and below 49 / 2.
                "emotion_tags": [4, 8.3, 100, 100, 100, 100, 78],
                "binary": [4, 100, 0, 100, 50, 100, 75.5],
                "pairwise": [4, 100, 100, 0, 50, 100, 75.5],
            },
        ),
    ],
)
def test_other_benchmarks_have_their_papers_tables(
    tmp_path: Path, benchmark: str, table: str, scores: dict[str, list[float]]
) -> None:
    rank_four(benchmark, tmp_path)
    rows = csv.DictReader((tmp_path / f"board-{table}.csv").read_text(encoding="utf-8").splitlines())
    numbers = {row.pop("Model"): [round(float(cell), 1) for cell in row.values() if cell != "default"] for row in rows}
    assert numbers == scores
