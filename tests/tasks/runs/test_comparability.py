"""How far whole runs of the papers' benchmarks may be set beside the published numbers."""

from typing import Any

from schemas.blueprint import Blueprint, PaperWording
from schemas.lineage import DatasetNotice
from schemas.metrics import METRICS
from schemas.paper import Comparability
from schemas.tables.scores import ItemScores, Totals
from tasks.benchmarks.moodbench.datasets.safetybench import SAFETYBENCH
from tasks.datasets.catalogue import find_dataset
from tasks.lake.manifest import notices
from tasks.runs.comparability import compare_with_paper
from tasks.runs.run_tables import ReportData, System
from tasks.scoring.blueprints import load_blueprint
from tasks.scoring.published import as_table, published_of
from tests.tasks.reporting.example_items import make_table
from tests.tasks.reporting.example_run import manifest, partition
from tests.tasks.reporting.example_scores import score_layers


def judged_by(name: str) -> dict[str, Any]:
    return {"roles": {"judge": {"name": name}}}


ALWAYS_B = System("always-b", "base")
PLAN: dict[str, Any] = {"models": [{"name": "always-b"}], "settings": ["base"], "sample": 12, **judged_by("referee")}


def record(
    benchmark: str | Blueprint,
    asked: set[str] | None = None,
    total: dict[str, Any] | None = None,
    wording: PaperWording | None = None,
    noticed: tuple[DatasetNotice, ...] = (),
    system: System = ALWAYS_B,
    *,
    lost: int = 0,
    **plan: Any,
) -> Comparability:
    """Of a run in which each of these datasets (default: all) gave 12 items, all but the lost scored; SafetyBench is Chinese."""
    blueprint = load_blueprint(benchmark) if isinstance(benchmark, str) else benchmark
    blueprint = blueprint.model_copy(update={"wording": wording})
    names = asked or set(blueprint.datasets)
    specs = [find_dataset(name) for name in blueprint.datasets if name in names]
    chosen = notices((spec.alternative if spec.id.startswith("safetybench") else None) or spec for spec in specs)
    score = {**system._asdict(), "repetition": 0, "value": 1.0, "status": "scored", "gold": ["B"]}
    predicted = {"bias": ["unknown"], "preference": ["stereotype"]}
    rows = [
        score
        | {"dataset": name, "item_id": f"{name}-{n}", "method": method.id, "metric": spec.metric}
        | {"predicted": predicted.get(METRICS[spec.metric].reduction, ["B"])}
        | ({"value": None, "status": "call_failed", "predicted": None} if n < lost else {})
        for name in names
        for method in blueprint.datasets[name].methods
        for spec in method.metrics
        for n in range(12)
    ]
    layers: dict[str, Any] = score_layers(make_table(ItemScores, rows), blueprint)
    if total:
        layers["totals"] = make_table(Totals, [layers["totals"].row(0, named=True) | total])
    partitions = tuple(partition("items", (("dataset", name),)).model_copy(update={"rows": 12}) for name in names)
    run = manifest(plan=PLAN | plan, datasets=noticed or tuple(chosen), partitions=partitions)
    (found,) = compare_with_paper(ReportData(run, blueprint, **layers), as_table(published_of(blueprint))).values()
    return found


SIX = {"crows_pairs", "safetybench_offensiveness", "copa", "wic", "ocnli", "eq60"}
"""Two of the gate's ten datasets, three of foundational ability, one of emotional ability."""

(SOURCE,) = dict.fromkeys(source for one in notices(one.alternative or one for one in SAFETYBENCH) for source in one.sources)

SIXTY = {"total": 68.0, "total_before_veto": 68.0, "ci_low": 66.0, "ci_high": 69.0}


def reasons(found: Comparability) -> dict[str, str]:
    return {each.respect: each.text for each in found.reasons}


def test_a_few_datasets_have_no_place_among_published() -> None:
    # The rank that `rank_incomplete` gives is none among published models.
    found = record("moodbench", SIX, {"rank": 1, **SIXTY})
    assert (found.verdict, found.position) == ("not comparable", None)
    assert reasons(found) == {
        "prompts": "prompts are worded by us, not as the paper's",
        "temperature": "temperature: 0 here; the paper does not say",
        "repetitions": "times each item is asked: 1 here; the paper does not say",
        "profile": "scored by the profile corrected, the paper's numbers by its released code",
        "coverage": "6 of 60 datasets scored",
        "sample": "6 of 60 datasets with fewer items (12 items, in the paper up to 300)",
        "source": f"1 of 60 datasets from another source ({SOURCE})",
        "language": "1 of 60 datasets in another language (asked in Chinese, in the paper in English)",
        "differences": "6 of 60 datasets asked or scored otherwise than in their papers, as the catalogue says",
    }
    assert set(found.abilities.values()) == {"not comparable"}
    verdicts = {entry.dataset: entry.verdict for entry in found.datasets}
    assert {name for name, verdict in verdicts.items() if verdict == "close"} == SIX - {"safetybench_offensiveness"}


def test_all_datasets_are_close_and_have_a_place() -> None:
    found = record("moodbench", total=SIXTY | {"rank": 1})
    assert found.verdict == "close"
    # Of the 28 ranked totals of Table 4, 18 are below 68.00 (rank 11 has 67.89), 9 below 66.00 (rank 20: 65.67), 24 below 69.00.
    assert found.position is not None
    assert found.position.words == "above 18 of the 28 ranked published models (9 to 24 at the ends of its interval)"
    said = reasons(found)
    assert "coverage" not in said
    assert said["sample"] == "60 of 60 datasets with fewer items (12 items, in the paper up to 300)"
    assert said["language"].startswith("7 of 60 datasets in another language")
    assert said["judge"] == "4 of 60 datasets rated by another judge (rated by referee, in the paper by one that is not known)"
    # Summaries are one of four equal parts of foundational ability, 0.3 x 0.25; recall has 0.15 of the third ability's 0.3: 12 %.
    # Of the gate seven of ten datasets are in another language, with more than a quarter of its weight.
    not_comparable = [name for name, verdict in found.abilities.items() if verdict == "not comparable"]
    assert not_comparable == ["values_safety", "foundational"]


def test_no_interval_or_no_rank_gives_no_place() -> None:
    for total in ({"rank": 1, "ci_low": None, "ci_high": None}, {"rank": None}):
        assert record("moodbench", total=SIXTY | total).position is None


def test_languages_stand_beside_the_papers() -> None:
    languages = record("moodbench").languages
    # English 37, Chinese 19, both 4 of 60; seven of the 37 are asked in Chinese, all of the gate's ten.
    assert {name: round(60 * share) for name, share in languages["run"].items()} == {"en": 30, "en+zh": 4, "zh": 26}
    assert languages["gate"] == {"en": 0.3, "zh": 0.7}
    assert languages["gate of paper"] == {"en": 1.0}
    assert languages["paper"] == {"en": 0.583, "zh": 0.35, "en+zh": 0.067}


def test_a_judge_of_half_the_weight_decides() -> None:
    as_paper: dict[str, Any] = {"models": [{"name": "always-b", "sampling": {"temperature": 0.8}}], "repeat": 3, "sample": 428}
    other, same = (record("longemotion-released", **judged_by(name), **as_paper) for name in ("referee", "gpt-4o-2024"))
    # ES, EE and the stages of MC are rated: 3 of 6 equal parts.
    assert (other.verdict, same.verdict) == ("not comparable", "close")
    assert reasons(other)["weight"] == "datasets that are not comparable have 50\u00a0% of the total's weight"
    assert set(reasons(same)) == {"prompts", "rubric", "differences"}
    assert same.abilities["emotion_qa"] == other.abilities["emotion_qa"] == "close"


def test_other_options_of_a_setting_are_departures() -> None:
    playing = System("always-b", "role_play")
    ours, theirs = (
        reasons(record("esc-eval", system=playing, solvers=solvers))
        for solvers in ({"role_play": {"turns": 3}}, {"role_play": {"variant": "zero_shot"}})
    )
    assert (ours["setting"], "setting" in theirs) == ("Role play with turns 3, in the paper 5", False)
    assert reasons(record("esc-eval", system=playing))["setting"] == "Role play with variant cot, in the paper zero_shot"
    goodbyes = [each.text for each in record("esc-eval", system=playing).datasets[0].differences if "goodbye" in each.text]
    assert len(goodbyes) == 1


def test_people_may_be_the_judge_of_a_paper() -> None:
    released = load_blueprint("esc-eval")
    (dataset, *_), (method, *_) = released.datasets, next(iter(released.datasets.values())).methods
    by_people = method.model_copy(update={"raters": "people"})
    judges, names = {}, {"named so": "people-gpt"}
    for name, methods in {
        "people": [by_people],
        "a model": [method],
        "named so": [method],
        "each": [by_people, method.model_copy(update={"id": "other"})],
    }.items():
        entry = released.datasets[dataset].model_copy(update={"methods": tuple(methods)})
        blueprint = released.model_copy(update={"datasets": {**released.datasets, dataset: entry}})
        found = record(blueprint, {dataset}, system=System("always-b", "role_play"), **judged_by(names.get(name, "referee")))
        (differences,) = (each.differences for each in found.datasets if each.dataset == dataset)
        judges[name] = [each.text for each in differences if each.respect == "judge"]
    assert judges == {
        "people": [],
        "a model": ["rated by referee, in the paper by people"],
        "named so": ["rated by people-gpt, in the paper by people"],
        "each": ["rated by referee and people, in the paper by people"],
    }


def test_a_dataset_mostly_without_scores_is_not_comparable() -> None:
    playing, verdicts = System("always-b", "role_play"), {}
    for lost in (0, 6, 7):
        found = record("esc-eval", system=playing, lost=lost, **judged_by("people"))
        verdicts[lost] = {
            (each.likeness, each.text) for row in found.datasets for each in row.differences if each.respect == "lost"
        }
    assert verdicts == {
        0: set(),
        6: {("close", "6 items without a score")},
        7: {("not comparable", "7 items without a score")},
    }


def test_items_built_anew_are_not_the_papers() -> None:
    built = record("longemotion", **judged_by("gpt-4o"))
    # EC, ED and ES: again 3 of 6.
    assert built.verdict == "not comparable"
    assert [entry.dataset for entry in built.datasets if entry.verdict == "not comparable"] == [
        f"longemotion_{name}" for name in ("ec_emobench", "ec_finentity", "ed", "es")
    ]


def test_prompts_are_the_papers_if_all_are_stated() -> None:
    # Base asks the six tasks by a file each; ES, MC-4 and EE are rated by a rubric each.
    asked = [f"longemotion/{name}.yaml" for name in ("ec", "ed", "qa", "es", "mc", "ee")]
    rubrics = [f"rubrics/{name}" for name in ("es_aspects", "ee_expression", *(f"mc_stage{stage}" for stage in range(1, 5)))]

    def stated(*files: str, paper: str = "LongEmotion") -> Comparability:
        wording = PaperWording(paper=paper, source="their/code at 1a2b3c4", files=files)
        return record("longemotion-released", wording=wording, **judged_by("gpt-4o"))

    whole, part, other = stated(*asked, *rubrics), stated(*asked[1:], *rubrics[1:]), stated(*asked, *rubrics, paper="MoodBench")
    (prompts,) = (each for each in whole.reasons if each.respect == "prompts")
    assert (prompts.likeness, prompts.text) == ("same", "prompts are those of their/code at 1a2b3c4, as their folder states")
    assert "rubric" not in reasons(whole)
    assert reasons(part)["prompts"] == f"{prompts.text}; not in the paper's words: longemotion/ec"
    assert reasons(part)["rubric"] == "1 of 10 datasets rated by our own rubric (rated by our own rubric)"
    assert reasons(other)["prompts"] == "prompts are worded by us, not as the paper's"
    assert {each.likeness for found in (part, other) for each in found.reasons if each.respect == "prompts"} == {"close"}


def test_bundled_items_are_not_the_papers() -> None:
    found = record("moodbench-mini")
    assert found.verdict == "not comparable"
    assert [each.text for each in found.reasons if each.respect == "items"] == [
        "the blueprint moodbench-mini is not the one that the paper's table was measured with",
        "41 of 41 datasets with other items (not the paper's: bundled)",
    ]
