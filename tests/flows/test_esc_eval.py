"""ESC-Eval as a user runs it: a scripted seeker, model and judge over HTTP, each known by its name; real cards by a long test."""

import csv
import json
import re
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any
from zlib import crc32

import pytest

from tasks.datasets.building import build_items
from tasks.datasets.catalogue import find_dataset
from tasks.judging.rubrics import load_rubric
from tasks.sources.locating import Locator
from tests.flows.command import Ended, assert_one_message, ended
from tests.flows.scripted_roles import layer
from tests.mirror import MIRROR, needs_mirror
from tests.model_server import ModelServer

Messages = list[dict[str, str]]
DIMENSIONS = ("fluency", "expression", "empathy", "information", "skillful", "humanoid", "overall")
TURNS = 5
ABILITIES = {"en": "english", "zh": "chinese"}
SPOKEN = {"en": ("It weighs on me", "I hear you"), "zh": ("我还是很难受", "我在听你说")}


def cards_of(benchmark: str) -> dict[str, dict[str, Any]]:
    specs = [find_dataset(f"{benchmark.replace('-', '_')}_{language}") for language in ABILITIES]
    locator = Locator(mirror=MIRROR)
    built = (build_items(spec, [locator.locate(file) for file in spec.files], None, 0).items for spec in specs)
    return {row["item_id"]: row for items in built for row in items.to_dicts()}


def rating(item_id: str, dimension: str) -> int:
    return crc32(f"{item_id} {dimension}".encode()) % 5


def line(item_id: str, language: str, turn: int, *, seeker: bool) -> str:
    return f"{SPOKEN[language][not seeker]} ({item_id} at {turn})"


class Cast:
    """What the three say. A seeker is known by the card in its instruction, the others by the lines they are shown."""

    def __init__(self, cards: Mapping[str, Mapping[str, Any]]) -> None:
        self.cards = cards
        self.by_text = {row["context"]: name for name, row in cards.items()}

    def __call__(self, messages: Messages) -> str:
        if messages[0]["role"] == "user":
            return line(*self._spoken_of(messages[-1]), seeker=False)
        said = "\n".join(message["content"] for message in messages)
        if "<<<TURN" in said:
            name, _, _ = self._spoken_of(messages[-1])
            (dimension,) = (each for each in DIMENSIONS if f'"{each}"' in said)
            return json.dumps({dimension: rating(name, dimension)})
        (name,) = (name for text, name in self.by_text.items() if text in said)
        turn = sum(message["role"] == "assistant" for message in messages) + 1
        return line(name, self.cards[name]["language"], turn, seeker=True)

    def _spoken_of(self, message: Mapping[str, str]) -> tuple[str, str, int]:
        name, turn = re.findall(r"\(([\w-]+) at (\d)\)", message["content"])[-1]
        return name, self.cards[name]["language"], int(turn)


def ask(stage: str, benchmark: str, server: ModelServer, lake: Path, *more: str) -> Ended:
    url = server.base_url
    models = ("--model", "tested", "--base-url", url, "--role", f"judge=judge@{url}", "--role", f"seeker=seeker@{url}")
    return ended(stage, benchmark, *models, *more, "--lake", lake, "--json")


def run(benchmark: str, server: ModelServer, lake: Path, *more: str) -> Ended:
    return ask("run", benchmark, server, lake, *more)


def assert_dialogues(asked: list[str], cast: Cast, server: ModelServer, lake: Path) -> None:
    """Each dialogue has ten generated lines in order, and seven ratings."""
    calls = {
        role: [body["messages"] for body in server.bodies if body["model"] == role] for role in ("seeker", "tested", "judge")
    }
    # Five lines of each, and seven dimensions: of 655 cards 6,550 generations and 4,585 ratings.
    assert {role: len(sent) for role, sent in calls.items()} == {
        "seeker": TURNS * len(asked),
        "tested": TURNS * len(asked),
        "judge": len(DIMENSIONS) * len(asked),
    }
    assert (server.calls, server.repeated) == (17 * len(asked), 0)
    talks = {
        name: [
            line(name, cast.cards[name]["language"], turn, seeker=seeker)
            for turn in range(1, TURNS + 1)
            for seeker in (True, False)
        ]
        for name in asked
    }
    turns = {
        name: [(turn["speaker"], turn["text"]) for turn in said]
        for name, said in layer(lake, "answers").select("item_id", "turns").iter_rows()
    }
    assert turns == {name: [*zip(("seeker", "tested") * TURNS, talk, strict=True)] for name, talk in talks.items()}
    rated = layer(lake, "judgements").select("item_id", "dimension", "rating").rows()
    assert sorted(rated) == sorted((name, each, rating(name, each)) for name in asked for each in DIMENSIONS)


def assert_scores(asked: list[str], cast: Cast, document: dict[str, Any]) -> dict[str, dict[str, float]]:
    """A dimension is 100 x mean / 4, a language the mean of seven, the total that of both; return the dimensions by language."""
    assert tuple(load_rubric("esc_eval").names) == DIMENSIONS
    means: dict[str, dict[str, float]] = {}
    for language in ABILITIES:
        names = [name for name in asked if cast.cards[name]["language"] == language]
        means[language] = {each: 25 * fmean(rating(name, each) for name in names) for each in DIMENSIONS}
    for row in document["dimension_scores"]:
        assert 25 * row["mean"] == pytest.approx(means[row["dataset"][-2:]][row["dimension"]])
    assert len(document["dimension_scores"]) == 14
    languages = {language: fmean(of.values()) for language, of in means.items()}
    (model,) = document["models"]
    assert model["setting"] == "role_play"
    assert model["abilities"] == pytest.approx({ABILITIES[language]: score for language, score in languages.items()})
    assert model["total"] == pytest.approx(fmean(languages.values()))
    return means


def assert_table_2(benchmark: str, means: dict[str, dict[str, float]], lake: Path) -> None:
    """Next to the paper's models stand one's own, in each language, with its seven dimensions and their average."""
    board = lake.parent / "board.csv"
    done = ended("leaderboard", benchmark, "--lake", lake, "--with-published", "--csv", board)
    assert done.status == 0, done.err
    for file, language, n_published in (("board-table2.csv", "en", 14), ("board-table2-2.csv", "zh", 12)):
        with (board.parent / file).open(encoding="utf-8", newline="") as text:
            rows = list(csv.DictReader(text))
        (own,) = (row for row in rows if row["From"] == "own")
        values = [float(own[name.capitalize()]) for name in (*DIMENSIONS, "average")]
        assert values == pytest.approx([*means[language].values(), fmean(means[language].values())])
        assert (len(rows), own["Model"], own["Class"], own["Comparability"]) == (
            n_published + 1,
            "tested",
            "domain",
            "not comparable",
        )
    with (board.parent / "board-dialogue.csv").open(encoding="utf-8", newline="") as text:
        dots = [(row["Dimension"], row["Model"], float(row["Percent"])) for row in csv.DictReader(text)]
    expected: list[Any] = [(name, "tested", pytest.approx(mean)) for name, mean in means["en"].items()]
    assert dots == expected


def play(benchmark: str, lake: Path, *more: str) -> None:
    cast = Cast(cards_of(benchmark))
    about = lake.parent / "about.yaml"
    about.write_text("tested: {openness: domain-specific}", encoding="utf-8")
    with ModelServer(cast) as server:
        done = run(benchmark, server, lake, *more, "--about", str(about))
        assert done.status == 0, done.err
        asked = layer(lake, "items")["item_id"].to_list()
        assert_dialogues(asked, cast, server, lake)
        assert ask("infer", benchmark, server, lake, *more).status == 0
        assert server.calls == 17 * len(asked)
    means = assert_scores(asked, cast, done.document)
    assert_table_2(benchmark, means, lake)
    page = Path(done.document["report"]).read_text(encoding="utf-8")
    assert '<section id="groups">' in page
    withheld = [name for name in asked if cast.cards[name]["question"] in page]
    assert not withheld or benchmark == "esc-eval-mini"
    board = ended("leaderboard", benchmark, "--lake", lake).out
    assert [board.count(each) for each in DIMENSIONS] == [2] * 7
    for score in map(fmean, (of.values() for of in means.values())):
        assert f" {score:.1f}" in board


def test_bundled_cards_from_the_card_to_the_board(tmp_path: Path) -> None:
    play("esc-eval-mini", tmp_path / "lake", "--sample", "3")


def test_scenes_of_annotated_cards_break_scores_down(tmp_path: Path) -> None:
    cards, scenes = cards_of("esc-eval-mini"), dict[str, str]()

    def annotate(messages: Messages) -> str:
        (name,) = (name for name, row in cards.items() if row["context"] in messages[-1]["content"])
        scenes[name] = ("job_hunting", "drive", "friendship")[int(name[-1]) % 3]
        return json.dumps({"category": scenes[name], "grade": "high"})

    with ModelServer(annotate) as server:
        where = ("--lake", tmp_path / "lake", "--out", tmp_path, "--base-url", server.base_url)
        done = ended("cards", "annotate", "esc_eval_mini_en", "--model", "annotator", *where, "--sample", "6")
        assert (done.status, len(scenes)) == (0, 6), done.err
    source = {"esc_eval_mini_en": {"source": {"path": "esc_eval_mini_en.high.jsonl"}}}
    own = {"extends": "esc-eval-mini", "name": "scenes", "title": "Scenes", "datasets": source}
    (tmp_path / "scenes.yaml").write_text(json.dumps(own), encoding="utf-8")
    with ModelServer(Cast(cards)) as server:
        done = run(str(tmp_path / "scenes.yaml"), server, tmp_path / "lake", "--datasets", "esc_eval_mini_en")
    explained = ended(
        "explain", done.document["run"], "--dataset", "esc_eval_mini_en", "--lake", tmp_path / "lake", "--json"
    ).document
    (metric,) = explained["metrics"]
    scores = {(row["group"], row["value"]): row for row in metric["groups"] if row["measure"] == "empathy"}
    for scene in set(scenes.values()):
        rated = [25 * rating(name, "empathy") for name, of in scenes.items() if of == scene]
        row = scores["category3", scene]
        assert (row["n"], row["score"]) == (len(rated), pytest.approx(fmean(rated)))
    work = [name for name, scene in scenes.items() if scene != "friendship"]
    assert (scores["domain", "work_and_study"]["n"], scores["category2", "social_interaction"]["n"]) == (len(work), 6 - len(work))


@pytest.mark.long
def test_judge_votes_on_two_seekers_in_both_orders(tmp_path: Path) -> None:
    cards, lake = cards_of("esc-eval-mini"), tmp_path / "lake"

    only, turns = ("--datasets", "esc_eval_mini_en", "--sample", "4"), "solvers.role_play.turns"
    with ModelServer(Cast(cards)) as server:
        names = [run("esc-eval-mini", server, lake, *only, "--set", f"{turns}={n}").document["run"] for n in (1, 2)]
    pairs = ended("judges", "pairs", *names, "--to", tmp_path, "--lake", lake, "--json")
    assert (pairs.status, pairs.document["pairs"]) == (0, 4), pairs.err
    with ModelServer(lambda _: "A") as server:
        asked = ("run", tmp_path / "pairs.yaml", "--model", "judge", "--base-url", server.base_url, "--lake", lake, "--json")
        judged = ended(*asked)
        assert (judged.status, server.calls) == (0, 8), judged.err
        assert ended(*asked).document["calls"]["sent"] == 0
    votes = ended("judges", "votes", judged.document["run"], "--lake", lake, "--json").document
    # Always the first: each wins every second vote, and every vote turns with the order.
    strengths = {row["person"]: row["strength"] for row in votes["persons"]}
    assert strengths == pytest.approx({"seeker, turns 1": 0.5, "seeker, turns 2": 0.5})
    assert (votes["votes"], votes["cards"], votes["both_orders"], votes["turned"]) == (8, 4, 4, 1)
    assert "seeker, turns 2" in ended("judges", "votes", judged.document["run"], "--lake", lake).out
    alone = ended("judges", "pairs", names[0], "--to", tmp_path, "--lake", lake)
    assert_one_message(alone, "no card was played by two different simulated persons")
    twice = ended("judges", "pairs", *names, names[0], "--to", tmp_path, "--lake", lake)
    assert_one_message(twice, "two runs have the same simulated person and model", "seeker, turns 1")


@pytest.mark.long
@needs_mirror
def test_all_released_cards_in_five_turns(tmp_path: Path) -> None:
    play("esc-eval", tmp_path / "lake", "--mirror", str(MIRROR), "--set", "redact=true")
    assert layer(tmp_path / "lake", "items").height == 655
