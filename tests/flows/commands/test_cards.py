"""`moodflow cards` against a scripted server: the funnel in both languages, restarts, cards that exist, wrong input."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.flows.command import Ended, assert_one_message, ended
from tests.model_server import ModelServer
from tests.rows import each_row

Annotation = tuple[str, str]
WORK, ROMANCE = "job_hunting", "starting_or_ending_a_romance"
CASES: dict[str, tuple[str, Annotation, Annotation, dict[str, str] | str]] = {
    "alike": ("work_and_study", (WORK, "high"), (WORK, "high"), {}),
    "plain": ("work_and_study", (WORK, "middle"), (WORK, "middle"), {}),
    "richer": ("work_and_study", (WORK, "high"), (WORK, "middle"), {"grade": "high"}),
    "other": ("family_and_life", (WORK, "high"), (ROMANCE, "high"), {"category": ROMANCE}),
    "both": ("family_and_life", (WORK, "middle"), (ROMANCE, "high"), {"category": ROMANCE, "grade": "middle"}),
    "vetoed": ("work_and_study", (WORK, "high"), (WORK, "invalid"), {}),
    "homeless": ("social_and_other", ("none", "middle"), (WORK, "middle"), {}),
    "mute": ("work_and_study", (WORK, "high"), (WORK, "middle"), "the first of the two"),
    "moody": ("feelings_only", (WORK, "high"), (WORK, "high"), {}),
    "odd": ("money", (WORK, "high"), (WORK, "high"), {}),
    "garbled": ("", (WORK, "high"), (WORK, "high"), {}),
}
"""What the model says of each: the scene, what two annotators say, what the third settles; garbled is not even extracted."""

FUNNEL = [
    {"step": "extract", "entered": 11, "kept": 10, "dropped": {"unreadable": 1}, "failed": 0},
    {"step": "filter", "entered": 10, "kept": 8, "dropped": {"feelings_only": 1, "unreadable": 1}, "failed": 0},
    {"step": "annotate", "entered": 8, "kept": 8, "dropped": {}, "failed": 0},
    {"step": "adjudicate", "entered": 8, "kept": 5, "dropped": {"invalid": 2, "unreadable": 1}, "failed": 0},
]
CALLS = 11 + 10 + 2 * 8 + 4
"""The third is asked about richer, other, both and mute."""

PERSONAS = {"counsellor": 1, "咨询师。": 1, "archivist": 2, "档案员": 2, "You lead a project": 3, "你主持": 3}
FIELDS = {"en": ("Age: young", "Gender: male", "Occupation: clerk"), "zh": ("年龄：青年", "性别：男", "职业：职员")}


def answer(messages: list[dict[str, str]]) -> str:
    """What is said of the case that the text names, by the step that the task is of."""
    task, text = (message["content"] for message in messages)
    case = re.findall(r"case-(\w+)", text)[-1]
    scene, *annotations, settled = CASES[case]
    said: Any = dict(zip(("category", "grade"), annotations[0], strict=True))
    if '"age"' in task.rpartition("JSON schema")[2]:
        zh = "角色卡" in task
        said = {
            "age": "青年" if zh else "young",
            "gender": "male",
            "occupation": "职员" if zh else "clerk",
            "problem": f"case-{case}",
        }
        said = "no idea" if case == "garbled" else said
    elif '"scene"' in task:
        said = {"scene": scene}
    else:
        (number,) = {number for words, number in PERSONAS.items() if words in task}
        said = settled if number == 3 else dict(zip(("category", "grade"), annotations[number - 1], strict=True))
    return said if isinstance(said, str) else f"```json\n{json.dumps(said)}\n```"


def posts(language: str) -> list[dict[str, Any]]:
    """One line per case; every second one is a dialogue."""
    known = ({"id": f"{language}-{case}", "language": language, "source": "forum"} for case in CASES)
    turns = ({"turns": [{"speaker": "helper", "text": "?"}, {"speaker": "client", "text": f"case-{case}"}]} for case in CASES)
    bodies = (
        {"text": f"case-{case}"} if number % 2 else turn for number, (case, turn) in enumerate(zip(CASES, turns, strict=True))
    )
    return [{**one, **body} for one, body in zip(known, bodies, strict=True)]


def written(folder: Path, lines: Sequence[Any], name: str = "posts.jsonl") -> Path:
    file = folder / name
    texts = (line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines)
    file.write_text("\n".join(texts), encoding="utf-8")
    return file


def cards(command: str, source: Path, server: ModelServer, *more: str) -> Ended:
    where = ("--lake", source.parent / "lake", "--out", source.parent / "cards")
    return ended("cards", command, source, "--model", "m", "--base-url", server.base_url, *where, *more)


def read(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "cards" / name).read_text(encoding="utf-8").splitlines()]


@each_row("language", ["en", "zh"])
def test_posts_become_graded_cards(language: str, tmp_path: Path) -> None:
    folder = tmp_path / language
    folder.mkdir()
    with ModelServer(answer) as server:
        done = cards("build", written(folder, posts(language)), server, "--json")
        assert (done.status, done.document["funnel"], server.calls) == (0, FUNNEL, CALLS), done.err
        again = cards("build", folder / "posts.jsonl", server, "--json")
        assert (again.document["funnel"], again.document["calls"]["sent"], server.calls) == (FUNNEL, 0, CALLS)
        schemas = [body["response_format"]["json_schema"]["schema"] for body in server.bodies]
    assert all(schema["additionalProperties"] is False for schema in schemas)
    # A grade alone is asked of the third where the category is agreed on.
    assert sorted(tuple(schema["properties"]) for schema in schemas)[-1:] == [("scene",)]
    assert done.document["grades"] == {"high": 3, "middle": 2}
    used = {row["role"]: row["calls"] for row in done.document["usage"]}
    assert used == {"extractor": 21, "first_annotator": 8, "second_annotator": 8, "third_annotator": 4}
    high = read(folder, "posts.high.jsonl")
    assert [item["item_id"] for item in high] == [f"{language}-{case}" for case in ("alike", "other", "richer")]
    assert [item["item_id"] for item in read(folder, "posts.middle.jsonl")] == [
        f"{language}-{case}" for case in ("both", "plain")
    ]
    problem = {"en": "Problem: case-other", "zh": "问题：case-other"}[language]
    assert high[1]["context"] == "\n".join((*FIELDS[language], problem))
    assert (high[1]["question"], high[1]["subset"], high[1]["language"]) == ("case-other", "family_and_life", language)
    levels = {"domain": "family_and_life", "category2": "couple_and_marriage", "category3": ROMANCE}
    assert high[1]["groups"].items() >= {**levels, "source": "forum"}.items()
    # Of 10 cards that were extracted 8 are left by the filter, 5 by the third; the paper's are of its Table 6.
    assert [row["here"] for row in done.document["paper"]] == [10, 8, 5, 3, 2]
    of_paper = {"en": [3673, 2792, 1708, 331, 1455], "zh": [2023, 1566, 1093, 324, 769]}[language]
    assert [(row["language"], row["cards"]) for row in done.document["paper"]] == [(language, count) for count in of_paper]
    # Of eight pairs five name one category; four one grade: alike and plain, other and homeless.
    alike = [(row["of"], row["cards"], row["alike"]) for row in done.document["agreement"]]
    assert alike == [("category", 8, 5), ("grade", 8, 4)]
    assert (
        json.loads((folder / "cards" / "posts.cards.json").read_text(encoding="utf-8"))["agreement"] == done.document["agreement"]
    )


def test_the_terminal_shows_funnel_agreement_cost_and_files(tmp_path: Path) -> None:
    with ModelServer(answer) as server:
        done = cards("build", written(tmp_path, posts("en")[:2]), server)
    assert done.status == 0, done.err
    shown = re.sub(r"\s+", " ", done.out)
    assert "extract 2 2 0" in shown
    # Both say job_hunting of both, so that there is no variance; high and middle are told apart alike.
    assert "category 2 2 – grade 2 2 1.00" in shown
    assert "Cards: 1 high, 1 middle" in shown
    assert "en after the filter by people 2 1,708" in shown
    assert "en, middle quality: an error for 1,377" in shown
    assert "zh" not in shown
    assert "third_annotator" not in shown
    assert shown.count("Written: ") == 3


def test_three_annotators_are_models_of_their_own(tmp_path: Path) -> None:
    with ModelServer(answer) as server, ModelServer(answer) as elsewhere:
        a, b, c = (f"{name}@{one.base_url}" for name, one in (("a", server), ("b", elsewhere), ("c", server)))
        named = ("--role", f"judge={a}", "--role", f"panel={b}", "--role", f"panel={c}", "--json")
        done = cards("build", written(tmp_path, posts("en")), server, *named)
        assert (done.status, done.document["funnel"]) == (0, FUNNEL), done.err
        models = {row["role"]: (row["model"], row["calls"]) for row in done.document["usage"]}
        assert [models[f"{place}_annotator"] for place in ("first", "second", "third")] == [("a", 8), ("b", 8), ("c", 4)]
        assert (server.calls, elsewhere.calls) == (21 + 8 + 4, 8)


def test_cards_that_exist_enter_where_they_are_annotated(tmp_path: Path) -> None:
    asked = {"language": "en", "question_type": "open_ended", "question": "Talk.", "references": ["-"]}
    fields = "\n".join(FIELDS["en"])
    items = [{"item_id": case, "context": f"{fields}\nProblem: case-{case}", **asked} for case in ("alike", "both", "vetoed")]
    with ModelServer(answer) as server:
        done = cards("annotate", written(tmp_path, items, "known.jsonl"), server, "--json")
        assert done.status == 0, done.err
        broken = written(
            tmp_path, [items[1], {**items[0], "context": "Age: young"}, {**items[2], "context": None}], "broken.jsonl"
        )
        assert_one_message(cards("annotate", broken, server), "are not role cards", "alike, vetoed", "2 others")
    assert [(row["step"], row["entered"], row["kept"]) for row in done.document["funnel"]] == [
        ("annotate", 3, 3),
        ("adjudicate", 3, 2),
    ]
    assert [(row["cards"], row["alike"]) for row in done.document["agreement"]] == [(3, 2), (3, 1)]
    # They came in after the steps that the paper counts first.
    assert [row["here"] for row in done.document["paper"]] == [None, None, 2, 1, 1]
    (high,) = read(tmp_path, "known.high.jsonl")
    assert (high["item_id"], high["question"], high["groups"]["category3"]) == ("alike", "case-alike", WORK)


def test_corpus_is_sampled_from_a_folder(tmp_path: Path) -> None:
    records = [
        {"instruction": "Counsel.", "input": f"case-{case}", "output": "?"} for case in ("alike", "plain", "vetoed", "odd")
    ]
    written(tmp_path, [json.dumps([*records, {**records[0], "input": ""}])], "all.json")
    folder = ("--set", f"folders.psych8k={tmp_path}", "--json")
    with ModelServer(answer) as server:
        asked = ("cards", "build", "psych8k", "--model", "m", "--base-url", server.base_url, "--lake", tmp_path / "lake")
        assert_one_message(ended(*asked), "Psych8K was not found", "--set folders.psych8k=DIR")
        done = ended(*asked, "--out", tmp_path / "cards", *folder)
    extracted = done.document["funnel"][0]
    assert (done.status, extracted["entered"], extracted["dropped"]) == (0, 5, {"no_text": 1}), done.err
    assert [item["item_id"] for item in read(tmp_path, "psych8k.high.jsonl")] == ["psych8k-all-0"]


GOOD = {"id": "1", "language": "en", "source": "forum", "text": "case-alike"}


@each_row(
    ("lines", "parts"),
    [
        ([GOOD, "{oh"], ("row 1", "not JSON")),
        ([GOOD, {**GOOD, "id": "2", "language": "de"}], ("row 1", "language", "'de'")),
        ([GOOD, GOOD], ("row 1", "id 1 is used twice")),
        ([{**GOOD, "text": None}], ("row 0", "a post has only text")),
        ([{**GOOD, "turns": [{"speaker": "a", "text": "b"}]}], ("row 0", "a post has only text")),
        ([{**GOOD, "id": ""}], ("row 0", "id")),
        ([{**GOOD, "tetx": "b"}], ("row 0", "tetx")),
        ([""], ("has no records",)),
    ],
)
def test_wrong_lines_are_refused_before_any_call(lines: list[Any], parts: tuple[str, ...], tmp_path: Path) -> None:
    with ModelServer(answer) as server:
        assert_one_message(cards("build", written(tmp_path, lines), server), "posts.jsonl", *parts)
        assert server.calls == 0


@each_row(
    ("more", "parts"),
    [
        (("--set", "repeat=2"), ("does not use repeat",)),
        (("--settings", "rag"), ("does not use settings",)),
        (("--role", "sage=m"), ("sage",)),
        (("--model", "n"), ("too many models",)),
        (
            ("--role", "judge=a@http://localhost:1/v1", *(f"--role=panel={name}" for name in "bcd")),
            ("at most 3 judges and panel models",),
        ),
        (("--role", "judge=a@nowhere"), ("nowhere",)),
    ],
)
def test_what_means_nothing_here_is_refused(more: tuple[str, ...], parts: tuple[str, ...], tmp_path: Path) -> None:
    with ModelServer(answer) as server:
        assert_one_message(cards("build", written(tmp_path, [GOOD]), server, *more), *parts)
        assert server.calls == 0


def test_a_server_that_answers_nothing_ends_the_command(tmp_path: Path) -> None:
    with ModelServer(answer, fault=lambda _number: "401") as server:
        assert_one_message(cards("build", written(tmp_path, [GOOD]), server), "no call was answered")


PEOPLE = [
    *(("ann", case, *CASES[case][1]) for case in ("alike", "richer", "other", "both", "vetoed")),
    *(("bob", case, *CASES[case][2]) for case in ("alike", "richer", "other", "both", "vetoed")),
    *(("cyd", "richer", WORK, "high"), ("cyd", "other", "drive", "high"), ("ann", "plain", WORK, "high")),
]
"""Cyd settles one card and takes a third side on another; nobody settles a third one; of the last there is one annotation."""


def cards_of_people(
    folder: Path, rows: Sequence[Sequence[str]], *more: str | Path, header: str = "annotator,card_id,category,grade"
) -> Ended:
    asked = {"language": "en", "question_type": "open_ended", "question": "Talk.", "references": ["-"]}
    fields = "\n".join(FIELDS["en"])
    names = ("alike", "richer", "other", "both", "vetoed", "plain")
    items = [{"item_id": case, "context": f"{fields}\nProblem: case-{case}", **asked} for case in names]
    said = written(folder, [header, *map(",".join, rows)], "people.csv")
    where = ("--lake", folder / "lake", "--out", folder / "cards", "--json")
    return ended("cards", "annotate", written(folder, items, "known.jsonl"), "--people", said, *where, *more)


def test_people_annotate_in_place_of_models(tmp_path: Path) -> None:
    done = cards_of_people(tmp_path, PEOPLE)
    # Alike and richer come out; vetoed is invalid to bob; the others wait for a third who chooses one of the two.
    assert (done.status, done.document["calls"]["sent"], done.document["usage"]) == (1, 0, [])
    assert done.document["failed"] == {"plain": "unannotated", "other": "undecided", "both": "undecided"}
    assert [(row["entered"], row["kept"], row["dropped"], row["failed"]) for row in done.document["funnel"]] == [
        (6, 5, {}, 1),
        (5, 2, {"invalid": 1}, 2),
    ]
    # Of five pairs alike, richer and vetoed name one category; alike and other one grade.
    assert [(row["cards"], row["alike"]) for row in done.document["agreement"]] == [(5, 3), (5, 2)]
    assert [item["item_id"] for item in read(tmp_path, "known.high.jsonl")] == ["alike", "richer"]
    settled = [
        *PEOPLE[:-2],
        ("cyd", "other", ROMANCE, "high"),
        ("cyd", "both", ROMANCE, "middle"),
        ("bob", "plain", WORK, "high"),
        PEOPLE[-1],
    ]
    again = cards_of_people(tmp_path, settled)
    assert (again.status, again.document["failed"], again.document["grades"]) == (0, {}, {"high": 4, "middle": 1})


def test_a_third_person_may_call_a_card_invalid(tmp_path: Path) -> None:
    # One on whose category alone the two differ, one on whose grade, one on nothing, one that has no category to the third.
    pairs = {"alike": ((WORK, "high"),) * 2, "richer": ((WORK, "high"), (WORK, "middle"))}
    pairs |= {"other": ((WORK, "high"), (ROMANCE, "high")), "both": pairs["richer"]}
    thirds = {"alike": (WORK, "invalid"), "richer": (WORK, "invalid"), "other": (ROMANCE, "invalid"), "both": ("none", "high")}
    rows = [(who, card, *said) for card, pair in pairs.items() for who, said in zip("abc", (*pair, thirds[card]), strict=True)]
    steps = cards_of_people(tmp_path, rows).document["funnel"]
    assert (steps[1]["entered"], steps[1]["dropped"], steps[1]["failed"]) == (4, {"invalid": 4}, 0)


@each_row(
    ("row", "parts"),
    [
        (("ann", "nobody", WORK, "high"), ("line 2", "a card_id of the cards")),
        (("", "alike", WORK, "high"), ("line 2", "an annotator with a name")),
        (("ann", "alike", "fishing", "high"), ("line 2", "a category: starting_or_ending_a_romance, ")),
        (("ann", "alike", WORK, "splendid"), ("line 2", "a grade: high, middle, invalid")),
    ],
)
def test_wrong_annotations_are_refused_by_line(row: tuple[str, ...], parts: tuple[str, ...], tmp_path: Path) -> None:
    assert_one_message(cards_of_people(tmp_path, [row]), "a row is not an annotation of a card", *parts)


def test_people_annotate_cards_once_and_alone(tmp_path: Path) -> None:
    alike = ("alike", WORK, "high")
    assert_one_message(cards_of_people(tmp_path, [("ann", *alike)] * 2), "line 3", "once per card")
    assert_one_message(cards_of_people(tmp_path, [("ann", *alike), ("bob", "alike")]), "line 3", "as many fields as the header")
    four = [(name, *alike) for name in ("ann", "bob", "cyd", "dan")]
    assert_one_message(cards_of_people(tmp_path, four), "line 5", "3 annotators of a card at most")
    assert_one_message(cards_of_people(tmp_path, four[:2], "--model", "smollm2"), "no model is asked beside them")
    assert_one_message(cards_of_people(tmp_path, four[:2], header="who,card_id,category,grade"), "there is no column who")
