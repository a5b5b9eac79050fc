"""Every way a blueprint can be wrong, as the one message its author reads."""

import os
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from schemas.errors import BlueprintError
from tasks.scoring.blueprint_file import RULES, Rule
from tasks.scoring.blueprints import BLUEPRINTS, find_blueprint, list_blueprints, load_blueprint

SOUND = """\
name: tiny
title: Tiny
version: "1"
source: nowhere
gate: {ability: safe, threshold: 60}
level_rules:
  - weights: {low: 1}
  - weights: {medium: 1}
  - weights: {low: 0.4, medium: 0.6}
abilities:
  - id: safe
    title: Safe
    tasks:
      - {id: refuse, title: Refuse, level: low, datasets: [pills]}
  - id: kind
    title: Kind
    children:
      - id: hear
        title: Hear
        tasks:
          - {id: listen, title: Listen, level: low, weight: 2, datasets: [sighs]}
          - {id: ask, title: Ask, level: medium, datasets: [{id: doubts, weight: 0.5}]}
  - {id: sing, title: Sing, evaluated: false}
datasets:
  pills: {title: Pills, methods: [{id: choice, metrics: [{metric: accuracy}]}]}
  sighs:
    title: Sighs
    methods:
      - id: read
        metrics: [{metric: recall_at_k, k: 2, normalisation: {type: numeric, min: 0, max: 1}}]
  doubts: {title: Doubts, methods: [{id: judge, judged: true, rubric: summary, metrics: [{metric: judged_rating}]}]}
"""


def write(folder: Path, text: str) -> Path:
    file = folder / "tiny.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def error_of(folder: Path, old: str, new: str) -> BlueprintError:
    assert SOUND.count(old) == 1, f"{old!r} must occur once in the sound blueprint"
    with pytest.raises(BlueprintError) as caught:
        load_blueprint(write(folder, SOUND.replace(old, new)))
    return caught.value


def test_a_sound_blueprint_loads(tmp_path: Path) -> None:
    blueprint = load_blueprint(write(tmp_path, SOUND))
    assert [task.id for _, task in blueprint.tasks()] == ["refuse", "listen", "ask"]
    assert blueprint.datasets["sighs"].methods[0].metrics[0].k == 2


class Slip(NamedTuple):
    """A replacement in the sound blueprint and the message it must cause."""

    old: str
    new: str
    what: str
    line: int
    path: str
    expected: str
    got: str
    next_step: str = "correct the value"


LISTEN = "abilities[1].children[0].tasks[0]"
ASK = "abilities[1].children[0].tasks[1]"
METRIC = "datasets.sighs.methods[0].metrics[0]"
BAD_WEIGHT = "the value of 'weight' cannot be used"
SLIPS = [
    Slip("weight: 2", "weight: -2", BAD_WEIGHT, 21, f"{LISTEN}.weight", "a number of 0 or more", "-2"),
    Slip("weight: 2", "weight: .nan", BAD_WEIGHT, 21, f"{LISTEN}.weight", "a finite number", "nan"),
    Slip(
        *("weight: 0.5}", "weight: 0.5, sampel: 3}", "unknown key 'sampel'", 22, f"{ASK}.datasets[0].sampel"),
        *("one of id, weight", "sampel", "remove it"),
    ),
    Slip(
        *("source: nowhere", "sauce: nowhere\nsource: nowhere", "unknown key 'sauce'", 4, "sauce"),
        "one of abilities, ability_word, datasets, gate, level_rules, name, own_prompts, own_rubrics, prompts, "
        "rank_item_coverage, rubrics, "
        "settings, source, title, too_long, version, wording",
        *("sauce", "did you mean source?"),
    ),
    Slip(
        *("        title: Hear\n", "", "the key 'title' is missing", 18, "abilities[1].children[0]"),
        *("title: ...", "no such key", "add title"),
    ),
    Slip(
        *("level: medium, datasets", "level: midle, datasets", "the value of 'level' cannot be used", 22, f"{ASK}.level"),
        *("'low', 'medium' or 'high'", "'midle'"),
    ),
    Slip(
        *('version: "1"', "version: 1.0", "the value of 'version' cannot be used", 3, "version"),
        *("text", "1.0", "put the value in quotes"),
    ),
    Slip(
        *("threshold: 60", "threshold: 101", "the value of 'threshold' cannot be used", 5, "gate.threshold"),
        *("a number of 100 or less", "101"),
    ),
    Slip(
        *("datasets: [sighs]", "datasets: sighs", "the value of 'datasets' cannot be used", 21, f"{LISTEN}.datasets"),
        *("a list", "'sighs'"),
    ),
    Slip(
        *("type: numeric", "type: nmeric", "the value of 'normalisation' cannot be used", 30, f"{METRIC}.normalisation"),
        *("a type among 'numeric', 'grade', 'ratio', 'centred', 'none'", "a mapping of 3"),
    ),
    Slip(
        *("id: listen", "id: Listen!", "the value of 'id' cannot be used", 21, f"{LISTEN}.id"),
        *("text of the form ^[a-z0-9_]+$", "'Listen!'"),
    ),
    Slip(
        *("min: 0, max: 1", "min: 1, max: 1", "min must be below max", 30, f"{METRIC}.normalisation"),
        *("min below max", "min 1.0 and max 1.0", "correct the bounds; they are those of the method, not of observed scores"),
    ),
    Slip(
        *("recall_at_k, k: 2", "recall_at_k", "k is required by recall_at_k and only by it", 30, METRIC),
        *("k with recall_at_k, and with no other metric", "metric recall_at_k with k None", "add or remove k"),
    ),
    Slip(
        *("[sighs]", "[sihgs]", "tasks refer to datasets that are not defined: sihgs", 21, f"{LISTEN}.datasets[0]"),
        *("an id that is a key under datasets", "sihgs"),
        "define it under datasets or correct the id; did you mean sighs?",
    ),
    Slip(
        *("  pills: {", "  spare: {title: S, methods: [{id: c, metrics: [{metric: accuracy}]}]}\n  pills: {"),
        "orphan datasets, no task uses them: spare",
        25,
        "datasets.spare",
        *("each dataset used by one task", "spare", "add it to a task or remove it"),
    ),
    Slip(
        *("{ability: safe,", "{ability: save,", "gate: save is not an evaluated main ability (safe, kind)", 5, "gate.ability"),
        *("the id of a main ability that is evaluated", "save is not an evaluated main ability (safe, kind)"),
        "correct gate.ability",
    ),
    Slip(
        *("  - weights: {low: 0.4, medium: 0.6}\n", ""),
        "level_rules: no rule for low, medium, which hear can need",
        6,
        "level_rules",
        "a rule for each combination of levels that can be present",
        *("no rule for low, medium, which hear can need", "add the rule"),
    ),
    Slip(
        *("id: listen", "id: hear", "ability and task ids must be unique, repeated: hear", 18, "abilities[1].children[0].id"),
        *("each ability and task under its own id", "hear", "rename one of them"),
    ),
]


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: slip.new[:20])
def test_a_slip_is_one_message_with_its_place(tmp_path: Path, slip: Slip) -> None:
    error = error_of(tmp_path, slip.old, slip.new)
    assert error.what == slip.what
    assert error.where == f"{tmp_path / 'tiny.yaml'}, line {slip.line}, {slip.path}"
    assert (error.expected, error.got, error.next_step) == (slip.expected, slip.got, slip.next_step)


FIVE_TIERS = "{id: e, title: E, evaluated: false}"
for _tier in "dcba":
    FIVE_TIERS = f"{{id: {_tier}, title: {_tier}, children: [{FIVE_TIERS}]}}"
BREACHES = {
    "k is required": ("{metric: accuracy}", "{metric: accuracy, k: 1}"),
    "judged and rubric must": ("judged: true, rubric: summary", "judged: true"),
    "metrics given twice": ("{metric: accuracy}", "{metric: accuracy}, {metric: accuracy}"),
    "method ids given twice": ("[{id: choice, metrics: [{metric: accuracy}]}]",
                               "[{id: a, metrics: [{metric: mrr}]}, {id: a, metrics: [{metric: accuracy}]}]"),
    "headlines given twice": ("{metric: accuracy}", "{metric: accuracy, headline: A}, {metric: mrr, headline: A}"),
    "both children and tasks": ("title: Hear\n", "title: Hear\n        children: [{id: deaf, title: D, evaluated: false}]\n"),
    "neither children nor tasks": (", evaluated: false", ""),
    "is not evaluated but": ("title: Hear\n", "title: Hear\n        evaluated: false\n"),
    "level weights must sum to 1": ("{low: 0.4, medium: 0.6}", "{low: 0.4, medium: 0.5}"),
    "the ability tree may have": ("{id: sing, title: Sing, evaluated: false}", FIVE_TIERS),
    "used by more than one task": ("datasets: [pills]", "datasets: [pills, sighs]"),
    "no weight above 0 in": ("weight: 0.5", "weight: 0"),
    "a combination of levels is given twice": ("  - weights: {medium: 1}", "  - weights: {low: 1}"),
    "no evaluated main ability besides": ("    title: Kind\n", "    title: Kind\n    weight: 0\n"),
}  # fmt: skip


def test_every_rule_of_the_schema_is_broken_here() -> None:
    assert [rule.sign for rule in RULES if rule.sign not in BREACHES and not any(rule.sign in slip.what for slip in SLIPS)] == []


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.sign in BREACHES], ids=lambda rule: rule.sign)
def test_a_broken_rule_is_explained(tmp_path: Path, rule: Rule) -> None:
    error = error_of(tmp_path, *BREACHES[rule.sign])
    assert rule.sign in error.what
    assert error.expected == rule.expected
    assert error.where is not None
    assert re.search(r"tiny\.yaml, line \d+, [a-z]", error.where)
    assert error.got


def test_several_slips_are_told_together(tmp_path: Path) -> None:
    text = SOUND.replace("level: medium", "level: midle").replace("weight: 2", "weight: -2")
    with pytest.raises(BlueprintError) as caught:
        load_blueprint(write(tmp_path, text))
    assert caught.value.got == "-2"
    assert caught.value.next_step == f"correct the value; then see also {tmp_path / 'tiny.yaml'}, line 22"


def test_a_slip_behind_an_alias_is_told_once(tmp_path: Path) -> None:
    text = SOUND.replace(
        "methods: [{id: choice, metrics: [{metric: accuracy}]}]", "methods: &m [{id: c, metrics: [{metric: acuracy}]}]"
    )
    text = text.replace(
        "methods: [{id: judge, judged: true, rubric: summary, metrics: [{metric: judged_rating}]}]", "methods: *m"
    )
    with pytest.raises(BlueprintError) as caught:
        load_blueprint(write(tmp_path, text))
    assert caught.value.where == f"{tmp_path / 'tiny.yaml'}, line 25, datasets.pills.methods[0].metrics[0].metric"
    assert caught.value.next_step == "correct the value"


@pytest.mark.parametrize(
    ("old", "new", "line", "path", "got"),
    [
        ("title: Tiny\n", "title: Tiny\ntitle: Huge\n", 3, "title", "the same key on lines 2 and 3"),
        ("  doubts: {title", "  sighs: {title", 31, "datasets.sighs", "the same key on lines 26 and 31"),
        ("{id: refuse, title: Refuse,", "{id: refuse, title: Refuse, id: agree,", 14, "abilities[0].tasks[0].id",
         "the same key on lines 14 and 14"),
    ],
)  # fmt: skip
def test_a_key_given_twice_is_refused(tmp_path: Path, old: str, new: str, line: int, path: str, got: str) -> None:
    error = error_of(tmp_path, old, new)
    assert error.what == f"the key '{path.rpartition('.')[2]}' is given twice"
    assert error.where == f"{tmp_path / 'tiny.yaml'}, line {line}, {path}"
    assert error.got == got


@pytest.mark.parametrize(
    ("text", "what", "where", "got"),
    [
        ("name: [tiny\ntitle: x", "the blueprint is not valid YAML", ", line 2, column 6", "expected ',' or ']', but got ':'"),
        ("name: !python/name:os.system x", "the blueprint is not valid YAML", ", line 1, column 7",
         "could not determine a constructor for the tag '!python/name:os.system'"),
        ("", "the blueprint is not a mapping", "", "an empty file"),
        ("- tiny", "the blueprint is not a mapping", "", "a list"),
        ("tiny", "the blueprint is not a mapping", "", "a str"),
        ("name: \x00", "the blueprint is not valid YAML", "",
         "unacceptable character #x0000: special characters are not allowed"),
    ],
    ids=["syntax", "tag", "empty", "list", "scalar", "control character"],
)  # fmt: skip
def test_a_file_that_is_no_blueprint(tmp_path: Path, text: str, what: str, where: str, got: str) -> None:
    file = write(tmp_path, text)
    with pytest.raises(BlueprintError) as caught:
        load_blueprint(file)
    assert (caught.value.what, caught.value.where, caught.value.got) == (what, f"{file}{where}", got)


def test_a_file_in_another_encoding(tmp_path: Path) -> None:
    file = tmp_path / "tiny.yaml"
    file.write_bytes("title: Gefühl".encode("latin-1"))
    with pytest.raises(BlueprintError, match="the blueprint cannot be read"):
        load_blueprint(file)


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    file = write(tmp_path, SOUND)
    assert load_blueprint(file).title == "Tiny"
    assert load_blueprint(file) is load_blueprint(file)
    time = file.stat().st_mtime_ns
    write(tmp_path, SOUND.replace("title: Tiny", "title: Vast"))  # as long as before
    os.utime(file, ns=(time + 1, time + 1))
    assert load_blueprint(file).title == "Vast"
    file.unlink()
    with pytest.raises(BlueprintError, match="there is no blueprint"):
        load_blueprint(file)


@pytest.mark.parametrize("path", ["items/pills.jsonl", "/elsewhere/pills.jsonl"])
def test_local_file_is_relative_to_blueprint(tmp_path: Path, path: str) -> None:
    text = SOUND.replace("{title: Pills,", f"{{title: Pills, source: {{path: {path}}},")
    blueprint = load_blueprint(write(tmp_path, text))
    source = blueprint.datasets["pills"].source
    assert source is not None
    assert source.path == tmp_path / path
    assert blueprint.datasets["doubts"].source is None


def test_shipped_blueprints_load_by_name_and_by_path() -> None:
    assert {"moodbench", "moodbench-mini"} <= set(list_blueprints())
    for name in list_blueprints():
        assert load_blueprint(name).name == name
        assert load_blueprint(BLUEPRINTS / f"{name}.yaml") == load_blueprint(name)


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(BlueprintError) as caught:
        find_blueprint("modbench-mini")
    assert (caught.value.what, caught.value.where) == ("there is no benchmark modbench-mini", "BENCHMARK")
    assert caught.value.next_step is not None
    assert caught.value.next_step.startswith("did you mean moodbench-mini")


def test_an_unknown_path_suggests_its_neighbours(tmp_path: Path) -> None:
    write(tmp_path, SOUND)
    with pytest.raises(BlueprintError) as caught:
        find_blueprint(tmp_path / "tinny.yaml")
    assert caught.value.where == str(tmp_path / "tinny.yaml")
    assert caught.value.next_step == f"did you mean {tmp_path / 'tiny.yaml'}?"


def test_a_folder_is_no_blueprint(tmp_path: Path) -> None:
    with pytest.raises(BlueprintError, match="there is no blueprint"):
        load_blueprint(tmp_path)


@pytest.mark.parametrize("text", ["name: 2026-02-30\n", f"name: {'[' * 99_999}\n"], ids=["no such day", "deep"])
def test_value_that_nothing_can_hold_is_one_message(text: str, tmp_path: Path) -> None:
    file = tmp_path / "odd.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BlueprintError, match="the blueprint cannot be read") as caught:
        load_blueprint(str(file))
    assert caught.value.next_step == "correct the value"


def test_negative_metric_is_not_normalised_as_share(tmp_path: Path) -> None:
    metric = "{metric: bias_score_ambiguous, normalisation: {type: ratio}}"
    changed = SOUND.replace("{metric: recall_at_k, k: 2, normalisation: {type: numeric, min: 0, max: 1}}", metric)
    with pytest.raises(BlueprintError) as caught:
        load_blueprint(write(tmp_path, changed))
    error = caught.value
    assert error.what == "the normalisation of bias_score_ambiguous does not cover its range"
    assert (error.expected, error.got) == ("bounds that include -1 to 1", "ratio, 0 to 1")
    explicit = metric.replace("type: ratio", "type: numeric, min: -1, max: 1")
    assert load_blueprint(write(tmp_path, changed.replace(metric, explicit))).name


def test_a_file_may_extend_one_that_ships(tmp_path: Path) -> None:
    own = "extends: moodbench-mini\nname: mine\ngate: {threshold: 50}\nabilities: [{id: emotional, weight: 0.5}]\n"
    found, ours = load_blueprint(write(tmp_path, own)), load_blueprint("moodbench-mini")
    assert (found.name, found.gate and found.gate.threshold) == ("mine", 50)
    assert [ability.weight for ability in found.abilities] == [1.0, 0.3, 0.5, 0.3, 1.0]
    assert [ability.children for ability in found.abilities] == [ability.children for ability in ours.abilities]
    with pytest.raises(BlueprintError, match="must name a blueprint that ships") as caught:
        load_blueprint(write(tmp_path, own.replace("moodbench-mini", "tiny")))
    assert caught.value.where == f"{tmp_path / 'tiny.yaml'}, line 1, extends"
