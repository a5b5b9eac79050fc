"""What must be the same in two runs that are compared or ranked together."""

from typing import Any, get_args

from schemas.lineage import OWN_AS_PINNED, OWN_UNPINNED, PartitionRef, RunManifest
from schemas.plan import Kind, Plan, fields_of
from tasks.runs.comparable_runs import NOT_COMPARED, WHY, basis, difference, group_runs, in_words
from tasks.runs.run_tables import System
from tests.rows import each_row
from tests.tasks.reporting import example_run
from tests.tasks.runs.test_evidence import notice

CORE = System("core", "base")
ENTRY = {"name": "core", "base_url": "http://one/v1"}


def partition(layer: str, **place: str) -> PartitionRef:
    return PartitionRef(layer=layer, place=tuple(place.items()), fingerprint="0" * 64, path="p", rows=1, content_sha256="0" * 64)


def scored(model: str = "core", setting: str = "base") -> PartitionRef:
    return partition("item_scores", dataset="d", model=model, setting=setting)


EVERY_RUN_HAS = (partition("ability_scores"), partition("totals"))


def manifest(run: str = "20260102-x", systems: tuple[System, ...] = (CORE,), **changed: Any) -> RunManifest:
    given = {"benchmark": "tiny", "models": [ENTRY], "sample": 300, **changed.pop("plan", {})}
    plan = Plan.model_validate(given).model_dump(mode="json")
    fields = {"run": run, "benchmark": "tiny", "blueprint_sha256": "0", "plan": plan, "missing": ()}
    return example_run.manifest(**fields | {"partitions": (*(scored(*system) for system in systems), *EVERY_RUN_HAS)} | changed)


@each_row(
    ("changed", "expected"),
    [
        ({"benchmark": "other"}, "it is of other"),
        ({"plan": {"profile": "reference"}}, "it was scored in the reference profile"),
        ({"blueprint_sha256": "1"}, "its blueprint is another one"),
        ({"systems": (System("core", "rag"),)}, "it has no scores of core with setting base"),
        ({"plan": {"datasets": ["d"]}}, "its datasets: d instead of not set"),
        ({"plan": {"models": [{**ENTRY, "sampling": {"temperature": 0.7}}]}}, "core was asked with other parameters"),
        (
            {"plan": {"roles": {"seeker": {"datasets": {"d": ENTRY}}}}},
            "its seeker is another one, or was asked with other parameters",
        ),
    ],
)
def test_what_must_be_the_same(changed: dict[str, Any], expected: str) -> None:
    assert difference(manifest(), manifest("20260101-x", **changed), CORE) == expected


def test_a_judge_matters_where_something_is_rated() -> None:
    for judged, expected in ((True, "its judge is another one, or was asked with other parameters"), (False, None)):
        blueprint = {"datasets": {"d": {"methods": [{"judged": judged}]}}}
        one, other = (manifest(name, plan={"roles": {"judge": {**ENTRY, "name": name}}}, blueprint=blueprint) for name in "jk")
        # The regression check and the groups of a leaderboard follow one rule.
        assert (difference(one, other, CORE), len(group_runs([one, other], {}))) == (expected, 2 if judged else 1)


def test_options_of_a_setting_must_be_the_same() -> None:
    plain, other = manifest(), manifest("20260101-x", plan={"solvers": {"base": {"most": 2}}})
    assert difference(plain, other, CORE) == "its solvers: base most 2 instead of not set"
    assert difference(other, plain, CORE) == "its solvers: not set instead of base most 2"
    four, one = (manifest(plan={"retrieval": {"preset": "paper", "top_k": k}}) for k in (4, 1))
    assert difference(four, one, CORE) == "its retrieval.top_k: 1 instead of 4"


@each_row(
    "plan",
    [
        {"models": [{**ENTRY, "base_url": "http://two/v1", "timeout_s": 3, "concurrency": 1}]},
        {"models": [ENTRY, {"name": "other", "base_url": "http://two/v1"}]},
        {"settings": ["base", "rag"]},
        {"lake": "elsewhere", "bootstrap": 10, "redact": True, "rank_incomplete": True, "budget_tokens": 5},
    ],
)
def test_what_may_differ(plan: dict[str, Any]) -> None:
    # Another address above all: that a server was moved or renewed is what a comparison is to show.
    assert difference(manifest(), manifest("20260101-x", plan=plan), CORE) is None


def test_other_seekers_or_turns_are_not_ranked_together() -> None:
    faults = scored().model_copy(update={"layer": "simulation_faults"})

    def played(model: str, partitions: tuple[PartitionRef, ...] = (faults,), **plan: Any) -> Any:
        asked = {"models": [{**ENTRY, "name": model}], "settings": ["role_play"], **plan}
        return basis(manifest(plan=asked, partitions=partitions))

    seeker: dict[str, Any] = {"roles": {"seeker": {**ENTRY, "name": "s"}}}
    assert played("a", **seeker) == played("b", **seeker)
    assert played("a", **seeker) != played("a", roles={"seeker": {**ENTRY, "name": "t"}})
    assert played("a", **seeker) != played("a", **seeker, solvers={"role_play": {"turns": 3}})
    # Where none is named each model is its own.
    assert played("a") != played("b")
    assert played("a") == played("a", roles={"seeker": {**ENTRY, "name": "a"}})
    assert in_words(played("a")["seeker"]) == "a"
    # A helper that plays nobody is part of the model.
    assert played("a", (), settings=["coem"]) == played("b", (), settings=["coem"])


def test_what_totals_rest_on() -> None:
    def of(judge: str, url: str = "http://one/v1", *, judged: bool = True, **plan: Any) -> dict[str, Any]:
        blueprint = {"datasets": {"d": {"methods": [{"judged": judged}]}, "e": {"methods": [{"judged": False}]}}}
        roles = {"judge": {"name": judge, "base_url": url}}
        return basis(manifest(plan={"roles": roles, **plan}, blueprint=blueprint))

    assert of("j") == of("j", "http://two/v1") != of("k")
    assert of("j", judge_repeat=3) != of("j")
    assert of("j", judged=False) == of("k", judged=False, judge_repeat=3)
    # The benchmark has a judged dataset, the run has not.
    assert of("j", datasets=["e"]) == of("k", datasets=["e"], judge_repeat=3)
    own: dict[str, Any] = {"blueprint": {"datasets": {"d": {"source": {"path": "d.jsonl"}, "methods": []}}}}
    files = [scored().model_copy(update={"layer": "items", "content_sha256": digit * 64}) for digit in "ab"]
    assert basis(manifest(**own, partitions=(files[0],))) != basis(manifest(**own, partitions=(files[1],)))
    # Gold may stand beside the items.
    gold = [file.model_copy(update={"layer": "conversation_annotations"}) for file in files]
    beside = [basis(manifest(**own, partitions=(files[0], each)))["items"] for each in gold]
    assert beside == [{"d": "aaaaaaaa aaaaaaaa"}, {"d": "bbbbbbbb aaaaaaaa"}]
    public: dict[str, Any] = {"blueprint": {"datasets": {"d": {"methods": []}}}, "partitions": (files[0],)}
    pinned, unpinned = (
        basis(
            manifest(**public, plan={"folders": {"d": "mine"}}, datasets=(notice("d").model_copy(update={"sources": (source,)}),))
        )
        for source in (f"{OWN_AS_PINNED}: r at 1234567", f"{OWN_UNPINNED}: d.jsonl, sha256 0")
    )
    assert (pinned, unpinned["items"]) == (basis(manifest(**public)), {"d": "aaaaaaaa"})
    for changed in ({"seed": 1}, {"sample": 7}, {"profile": "reference"}, {"datasets": ["d"]}):
        assert basis(manifest(plan=changed)) != basis(manifest())
    assert in_words({"a": [1, 2], "b": None, "": ("x",)}) == "a 1, 2, x"


def test_where_files_lie_sets_no_run_apart() -> None:
    def of(path: str, run: str, prompt: str = "Say it.", title: str = "T") -> RunManifest:
        datasets = {"d": {"title": title, "source": {"path": path, "sha256": None}, "methods": []}}
        blueprint = {"datasets": datasets, "own_prompts": {"open_ended": {"en": {"instruction": prompt}}}}
        return manifest(run, blueprint=blueprint, blueprint_sha256=run)

    here, there = of("d.jsonl", "20260102-x"), of("/home/me/d.jsonl", "20260101-x", "Say it.\n")
    others = of("d.jsonl", "20260103-x", title="U"), of("d.jsonl", "20260104-x", "Say  it.")
    assert (basis(here), difference(here, there, CORE)) == (basis(there), None)
    assert [difference(here, other, CORE) for other in others] == ["its blueprint is another one"] * 2
    assert len(group_runs([here, there, *others], {})) == 3


def test_groups_with_most_items_come_first() -> None:
    runs = [manifest(f"r{number}", plan={"seed": seed}) for number, seed in enumerate((1, 2, 1, 3))]
    groups = group_runs(runs, {"r0": 5, "r1": 10, "r2": 7})
    told = [(group.number, group.runs, group.words) for group in groups]
    assert told == [(1, ("r1",), "seed 2"), (2, ("r0", "r2"), "seed 1"), (3, ("r3",), "seed 3")]


def test_an_unreadable_plan_is_not_compared() -> None:
    older = manifest("20260101-x").model_copy(update={"plan": {"benchmark": "tiny", "gone": 1}})
    assert difference(manifest(), older, CORE) == "its plan was written by another version and cannot be read"


def test_every_field_of_a_plan_has_one_kind() -> None:
    assert sorted(name for kind in get_args(Kind) for name in fields_of(kind)) == sorted(Plan.model_fields)
    assert NOT_COMPARED | set(fields_of("evaluation")) == set(Plan.model_fields)
    # What it means that one differs is said of each that moves scores of common items.
    assert {*WHY, "sample", "datasets"} == set(fields_of("evaluation"))
