"""What the partitions of the infer stage are made of."""

from dataclasses import replace
from typing import Any, get_args

import pytest

from schemas.api_capabilities import ApiCapabilities, Sampling
from schemas.base import Frozen
from schemas.chat import ModelEntry
from schemas.context import RetrievalOptions
from schemas.errors import UsageError
from schemas.lineage import PartitionKey
from schemas.provider import TokenLimit
from schemas.vocabulary import ContextTask
from tasks.benchmarks.longemotion.solvers import solve as longemotion
from tasks.solvers import infer_job
from tasks.solvers.chunk_rows import ChunkJob
from tasks.solvers.infer_job import InferJob
from tasks.solvers.presentation import Epochs
from tasks.solvers.prompts import Prompts
from tasks.solvers.registry import SOLVERS, Solver
from tasks.solvers.state import Chunking, PlainOptions, SolverCode, SolverOptions
from tests.rows import each_row
from tests.tasks.rows import partition

CORE = ModelEntry(name="m", base_url="http://localhost/v1")
SAGE = ModelEntry(name="s", base_url="http://localhost/v1")
BUILT = (partition("items"), partition("contexts"))


def asked(**changed: Any) -> ModelEntry:
    return CORE.model_copy(update=changed)


def key(setting: str = "coem", layer: str = "responses", **changed: Any) -> PartitionKey:
    entry = changed.get("entry", CORE)
    models = {"tested": entry, **({"sage": changed.get("sage", SAGE)} if setting == "coem" else {})}
    limits = (changed.get("length_demand", True), changed.get("too_long", "missing"))
    options = PlainOptions(setting, changed.get("options", RetrievalOptions(embedder="minilm")), *limits)
    plan = SOLVERS[setting].plan(options, changed.get("task", "qa"), entry)
    plan = replace(plan, code=replace(plan.code, **changed.get("code", {})))
    items, contexts = changed.get("built", BUILT)
    keys = InferJob(models, options, plan, items, contexts, changed.get("epochs", Epochs())).keys
    found = {"responses": keys.responses, "retrievals": keys.retrievals, "chunks": keys.written}[layer]
    assert found is not None
    return found


@each_row(
    "changed",
    [
        {"options": RetrievalOptions(top_k=3)},
        {"options": RetrievalOptions(ranking="bm25")},
        {"options": RetrievalOptions(preset="code_2026_01")},
        {"options": RetrievalOptions(legacy_bos=True)},
        {"sage": ModelEntry(name="t", base_url="http://localhost/v1")},
        {"sage": SAGE.model_copy(update={"sampling": Sampling(seed=1)})},
        {"entry": asked(sampling=Sampling(max_tokens=9))},
        {"entry": asked(identity="elsewhere")},
        {"entry": asked(dialect=ApiCapabilities(unsent=("temperature",)))},
        {"entry": asked(dialect=ApiCapabilities(reasoning_effort="low"))},
        {"entry": asked(dialect=ApiCapabilities(extra='{"enable_thinking": true}'))},
        {"length_demand": False},
        {"code": {"prompts": Prompts}},
        {"code": {"versions": {"solvers_version": "next"}}},
        {"code": {"version": "next"}},
        {"epochs": Epochs(repeat=2)},
        {"epochs": Epochs(permute=2)},
        {"too_long": "cut_middle"},
        {"built": (partition("items", "5"), BUILT[1])},
        {"built": (BUILT[0], partition("contexts", "5"))},
        {"setting": "rag"},
        {"layer": "retrievals"},
    ],
)
def test_what_changes_the_replies_changes_the_key(changed: dict[str, Any]) -> None:
    assert key(**changed).fingerprint != key().fingerprint


@pytest.mark.parametrize(
    "changed",
    [
        {"sage": SAGE.model_copy(update={"concurrency": 1})},
        {"entry": asked(timeout_s=1.0, concurrency=1, api_key_env="KEY")},
        {"entry": asked(dialect=ApiCapabilities())},
        {"entry": asked(dialect=ApiCapabilities(token_limit=get_args(TokenLimit)[1]))},
        {"entry": asked(dialect=ApiCapabilities(effort_path="reasoning.effort"))},
        # The seed was not sent anyway, and no call of this stage has a schema.
        {"entry": asked(dialect=ApiCapabilities(unsent=("seed", "json_schema")))},
        # It draws an order of options where there is one.
        {"epochs": Epochs(seed=1)},
        # No name of an embedding model is one of them: its identity is, where it ranks.
        {"setting": "base", "options": RetrievalOptions(embedder="bge-m3", top_k=3, preset="code_2026_01")},
    ],
    ids=str,
)
def test_transport_and_names_do_not(changed: dict[str, Any]) -> None:
    assert key(**changed).fingerprint == key(changed.get("setting", "coem")).fingerprint


def test_how_often_item_is_asked_tells_keys_apart() -> None:
    ways = [Epochs(permute=2), Epochs(permute=3), Epochs(permute=2, seed=1), Epochs(permute=2, repeat=2), Epochs(repeat=2)]
    assert len({key(epochs=way).fingerprint for way in ways}) == 5


def test_unsent_options_do_not_count() -> None:
    unsent = ApiCapabilities(unsent=("temperature",))
    cold, warm = (key(entry=asked(dialect=unsent, sampling=Sampling(temperature=value))) for value in (0.0, 1.0))
    assert cold.settings["sampling"] == {"temperature": None, "top_p": 1.0, "max_tokens": 512, "seed": None}
    assert warm.fingerprint == cold.fingerprint


def test_extra_counts_as_object_and_not_as_text() -> None:
    texts = ('{"a": 1, "b": {}}', '{"a":1,"b":{}}', '{"b": {}, "a": 1}')
    assert len({key(entry=asked(dialect=ApiCapabilities(extra=text))).fingerprint for text in texts}) == 1


def test_token_probabilities_are_named_where_wanted() -> None:
    assert "token_probabilities" not in key("base", task=None).settings
    assert key("base", task=None, entry=asked(token_probabilities=True)).settings["token_probabilities"] is True


def test_where_they_are() -> None:
    assert key().place == (("dataset", "d"), ("model", "m"), ("setting", "coem"))
    assert dict(chunks().place) == {"dataset": "d", "chunking": "128-50"}
    assert dict(chunks(legacy_bos=True).place)["chunking"] == "128-50-bos"
    assert dict(chunks(chunk_tokens=None).place)["chunking"] == "segments"
    assert key("rag", "chunks", task="ee").place == (("dataset", "d"), ("model", "m"), ("setting", "rag"))


def chunks(**changed: Any) -> PartitionKey:
    return ChunkJob(
        changed.pop("items", BUILT[0]), BUILT[1], Chunking(**{"chunk_tokens": 128, "overlap_tokens": 50, **changed})
    ).key


def test_chunks_are_shared_by_whatever_splits_alike() -> None:
    others = [chunks(chunk_tokens=64), chunks(overlap_tokens=20), chunks(legacy_bos=True), chunks(items=partition("items", "5"))]
    assert len({one.fingerprint for one in (chunks(), *others)}) == 5
    # Segments are what they are.
    assert chunks(chunk_tokens=None).fingerprint == chunks(chunk_tokens=None, overlap_tokens=20).fingerprint


def test_solver_states_splitting_and_layers() -> None:
    def planned(setting: str, task: ContextTask, **options: Any) -> tuple[Chunking | None, set[str]]:
        plan = SOLVERS[setting].plan(SolverOptions(setting, RetrievalOptions(embedder="minilm", **options)), task, CORE)
        return plan.chunking, set(plan.yields)

    assert planned("rag", "qa") == (Chunking(128, 50), {"retrievals"})
    # The preset of the released code counts tokens as that does.
    assert planned("rag", "qa", preset="code_2026_01") == (Chunking(512, 50, legacy_bos=True), {"retrievals"})
    assert planned("coem", "ed") == (Chunking(None, 50), {"retrievals"})
    assert planned("rag", "ee") == (None, {"retrievals", "chunks"})
    # Earlier stages of a conversation never retrieve, as published.
    assert planned("rag", "mc1") == planned("base", "qa") == (None, set())


def test_own_solver_is_known_by_code_and_options() -> None:
    class Turns(Frozen):
        turns: int = 4

    solver = Solver("talk", "Talk", SOLVERS["base"].solve, (SolverCode("1", Prompts),), options=Turns)

    def own(given: dict[str, Any]) -> PartitionKey:
        options = SolverOptions("talk", own=solver.read_options(given))
        return InferJob({"tested": CORE}, options, solver.plan(options, None, CORE), BUILT[0]).keys.responses

    assert own({}).settings["options"] == {"turns": 4}
    assert own({"turns": 4}) == own({}) != own({"turns": 5})
    with pytest.raises(UsageError, match="invalid options for setting talk"):
        own({"turn": 5})
    with pytest.raises(UsageError, match="setting base has no options"):
        SOLVERS["base"].read_options({"turns": 4})


def test_chunks_of_another_version_are_other_retrievals(monkeypatch: pytest.MonkeyPatch) -> None:
    retrieved, base = key("rag"), key("base")
    monkeypatch.setattr(longemotion, "CHUNKS_VERSION", "next")
    assert key("rag") != retrieved
    assert key("base") == base


def test_responses_version_enters_keys_once_it_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {layer: key(layer=layer) for layer in ("responses", "retrievals")}
    monkeypatch.setattr(infer_job, "RESPONSES_VERSION", "2")
    for layer, earlier in before.items():
        now = key(layer=layer)
        assert now.settings == {**earlier.settings, "responses_version": "2"}
        assert now.fingerprint != earlier.fingerprint
