from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from schemas.errors import UsageError
from schemas.json_yaml import read_yaml
from tasks.benchmarks.longemotion.benchmark import ASPECTS
from tasks.judging import rubrics
from tasks.judging.rubrics import RUBRICS, Rubric, falling_dimensions, load_rubric, place_of, title_dimension

Damage = Callable[[dict[str, Any]], None]


def rubric_fields() -> dict[str, Any]:
    fields = yaml.safe_load((RUBRICS / "summary.yaml").read_text(encoding="utf-8"))
    assert isinstance(fields, dict)
    return fields


@pytest.mark.parametrize(
    ("name", "sha256"),
    [
        ("summary", "33edad30d8b8b86abd15f90ba97e0465640a93113a410231ba7003699132989b"),
        ("answer", "06fcea4bc31c4e1d36a2bcafb88954c137cf475e99ff9d014e6af0beb99dde67"),
        ("mc_stage1", "7036af9b8cd31ea3e0894e52a1a2748124f0208c2fbc0445c21258447a38f63d"),
        ("ee_expression", "913fb311f9a1bf54b61f892a2d92a6cd55af53280333c09085009e95ac39f4ca"),
        ("es_aspects", "397e799d1fb234b4fd724a4d74a12d73b1564f86f6a9b0695bbf0bdb50b3b804"),
    ],
)
def test_unused_fields_keep_rubric_hash(name: str, sha256: str) -> None:
    """It is part of the key of stored judgements."""
    assert load_rubric(name).sha256 == sha256


def test_aspects_are_rated_by_three_criteria_each() -> None:
    criteria = ("factual_consistency", "completeness", "clarity")
    assert load_rubric("es_aspects").names == tuple(f"{aspect}_{criterion}" for aspect in ASPECTS for criterion in criteria)


def test_each_dimension_comes_to_each_place_once() -> None:
    rubric = load_rubric("summary")
    orders = [[dimension.name[:4] for dimension in rubric.calls(repetition)[0]] for repetition in range(5)]
    assert orders == [
        ["comp", "conc", "fait", "flue"],
        ["conc", "fait", "flue", "comp"],
        ["fait", "flue", "comp", "conc"],
        ["flue", "comp", "conc", "fait"],
        ["comp", "conc", "fait", "flue"],
    ]


@pytest.mark.parametrize("name", ["answer", "summary", "es_aspects"])
def test_place_is_where_the_dimension_stands(name: str) -> None:
    rubric = load_rubric(name)
    for repetition in range(20):
        order = [dimension.name for dimension in rubric.calls(repetition)[0]]
        assert [place_of(rubric, dimension, repetition) for dimension in order] == list(range(len(order)))
    with pytest.raises(ValueError, match="not in tuple"):
        place_of(rubric, "beauty", 0)


def test_rubric_hash_follows_texts_and_scales() -> None:
    fields, shared = rubric_fields(), shared_fields()
    reworded = rubric_fields()
    reworded["dimensions"][0]["anchors"]["zh"][4] += "！"
    banded = shared | {"bands": [band(1, 3), band(4, 5)]}
    del banded["anchors"]
    changes: list[dict[str, Any]] = [{"scale": {"lowest": 0, "highest": 4}}, {"layout": "aspects"}, {"texts": ["SOURCE"]}]
    said = {"a": {"en": "helper", "zh": "助手"}}
    changes += [{"language": "en"}, {"speakers": said}, {"opening": said}, {"layout": "labelled"}]
    changes += [
        {"ask": "one_by_one"},
        {"ask": "one_by_one", "reply": "digit"},
        {"rationale": True},
        *({"dimensions": asked} for asked in own_scales()),
    ]
    others = [*(fields | change for change in changes), banded | {"bands": [band(1, 2), band(3, 5)]}]
    variants = [fields, shared, reworded, banded, *others]
    assert len({Rubric.model_validate(one).sha256 for one in variants}) == len(variants)


def own_scales() -> list[list[dict[str, Any]]]:
    """The dimensions of which the first is asked on another scale."""
    plain = {name: value for name, value in DIMENSIONS[0].items() if name != "anchors"}
    two = {language: ["no", "yes"] for language in ("en", "zh")}
    asked = ({"scale": "yes_no"}, {"scale": "yes_no", "anchors": two}, {"scale": {"lowest": 0, "highest": 1}, "anchors": two})
    return [[plain | change, *DIMENSIONS[1:]] for change in asked]


def test_extended_rubric_inherits_unless_stated() -> None:
    judge, human, together, released = (load_rubric(f"esc_eval{name}") for name in ("", "_human", "_together", "_released"))
    assert judge.names == ("fluency", "expression", "empathy", "information", "skillful", "humanoid", "overall")
    assert {one.names for one in (human, together, released)} == {judge.names}
    own = [name for name, mine, theirs in zip(judge.names, human.dimensions, judge.dimensions, strict=True) if mine != theirs]
    assert own == ["fluency", "skillful", "humanoid"]
    assert (human.instruction, human.speakers, human.ask) == (judge.instruction, judge.speakers, "one_by_one")
    assert (together.dimensions, len(together.calls()), len(judge.calls())) == (judge.dimensions, 1, 7)
    assert len({one.sha256 for one in (judge, human, together, released)}) == 4


@pytest.mark.parametrize(
    ("own", "got"),
    [
        ("id: b\nextends: c", "there is no rubric c"),
        ("id: b\nextends: a\ndimensions: [{}]", "'name'"),
        ("id: b\nextends: b", "recursion"),
        ("id: b\nextends: a\nask: never", "Input should be 'together' or 'one_by_one'"),
        ("id: b\nextends: [a]", "list"),
    ],
)
def test_a_wrong_extension_is_told(own: str, got: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_rubric("b", {"a": {**rubric_fields(), "id": "a"}, "b": read_yaml(own)})
    assert got in str(caught.value)


def test_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(UsageError, match="there is no rubric sumary") as caught:
        load_rubric("sumary")
    assert "did you mean summary?" in str(caught.value)


def shared_fields() -> dict[str, Any]:
    """The same with the anchors of its first dimension for all."""
    fields = rubric_fields()
    fields["anchors"] = fields["dimensions"][0]["anchors"]
    for dimension in fields["dimensions"]:
        del dimension["anchors"]
    return fields


def band(lowest: int, highest: int) -> dict[str, Any]:
    return {"lowest": lowest, "highest": highest, "meaning": {"en": "so", "zh": "这样"}}


def drop(*path: str | int) -> Damage:
    def damage(fields: Any) -> None:
        for step in path[:-1]:
            fields = fields[step]
        del fields[path[-1]]

    return damage


def give(**changes: Any) -> Damage:
    return lambda fields: fields.update(changes)


def give_bands(*bands: dict[str, Any]) -> Damage:
    return give(**{**shared_fields(), "bands": bands, "anchors": None})


def give_scale(scale: Any, *dropped: str) -> Damage:
    """Give the first dimension a scale of its own, and take something from it."""

    def damage(fields: dict[str, Any]) -> None:
        fields["dimensions"][0] = {name: value for name, value in DIMENSIONS[0].items() if name not in dropped} | {"scale": scale}

    return damage


DIMENSIONS = rubric_fields()["dimensions"]
LONGER = {"lowest": 0, "highest": 5}
EXACTLY_ONE = "give exactly one of own anchors, shared anchors or shared bands"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (drop("instruction", "zh"), "no text in zh"),
        (drop("dimensions", 0, "anchors", "en"), "no text in en"),
        (drop("dimensions", 0, "anchors", "en", 4), "dimension completeness: 4 anchors in en for 5 ratings"),
        (drop("dimensions", 1, "anchors"), f"dimension conciseness: {EXACTLY_ONE}"),
        (give(anchors=DIMENSIONS[0]["anchors"]), f"dimension completeness: {EXACTLY_ONE}"),
        (give(**shared_fields(), bands=[band(1, 5)]), f"dimension completeness: {EXACTLY_ONE}"),
        (give(scale=LONGER), "dimension completeness: 5 anchors in en for 6 ratings"),
        (give(**{**shared_fields(), "scale": LONGER}), "anchors: 5 anchors in en for 6 ratings"),
        (give(scale={"lowest": 0, "highest": 30_000_000}), "less than or equal to 1000"),
        (give(scale={"lowest": 5, "highest": 5}), "a scale goes from lowest to highest, got 5 to 5"),
        (give_bands(band(1, 3)), "bands cover each rating from 1 to 5 once, in order"),
        (give_bands(band(4, 5), band(1, 3)), "bands cover each rating from 1 to 5 once, in order"),
        (give_scale("yes"), "Input should be 'yes_no'"),
        (
            give_scale({"lowest": 0, "highest": 4}, "anchors"),
            "completeness: a scale of its own needs anchors of its own",
        ),
        (give_scale("yes_no"), "dimension completeness: 5 anchors in en for 2 ratings"),
        (give(rationale=True, dimensions=[DIMENSIONS[0] | {"name": "rationale"}]), "give the dimension another name"),
        (give(reply="digit"), "reply digit: asked one_by_one, without rationale or faults, on scales within 0 to 9"),
        (give(texts=["EMOTION"]), "Input should be 'SOURCE', 'TASK', 'REFERENCE' or 'STATEMENTS'"),
        (give(dimensions=[*DIMENSIONS, DIMENSIONS[0]]), "dimension names must be unique"),
        (give(instructions={}), "Extra inputs are not permitted"),
    ],
)
def test_damaged_rubric_is_refused(damage: Damage, message: str) -> None:
    fields = rubric_fields()
    damage(fields)
    with pytest.raises(ValidationError, match=message):
        Rubric.model_validate(fields)
    with pytest.raises(UsageError, match="breaks a rule") as caught:
        load_rubric("summary", {"summary": fields})
    assert message in str(caught.value)


@pytest.mark.parametrize(("content", "got"), [(b"id: \xff", "can't decode"), (b"id: a\nid: b", "the key 'id' is given twice")])
def test_binary_or_unclear_file_is_refused(content: bytes, got: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.yaml").write_bytes(content)
    monkeypatch.setattr(rubrics, "RUBRICS", tmp_path)
    with pytest.raises(UsageError, match="breaks a rule") as caught:
        load_rubric("a")
    assert got in str(caught.value)


def test_id_must_be_the_file_name() -> None:
    with pytest.raises(UsageError, match="not its file name"):
        load_rubric("other", {"other": rubric_fields()})


def test_direction_marks_a_dimension_and_asks_for_no_rating_again() -> None:
    fields = rubric_fields()
    name = fields["dimensions"][0]["name"]
    turned = {**fields, "dimensions": [{**fields["dimensions"][0], "better": "low"}, *fields["dimensions"][1:]]}
    assert Rubric.model_validate(turned).sha256 == Rubric.model_validate(fields).sha256
    own = {fields["id"]: turned}
    assert falling_dimensions(fields["id"], own) == {name}
    assert title_dimension(fields["id"], name, own) == f"{name.replace('_', ' ')} (lower is better)"
    assert falling_dimensions("gone", own) == frozenset()
    assert title_dimension("gone", "warm_heart", own) == "warm heart"
