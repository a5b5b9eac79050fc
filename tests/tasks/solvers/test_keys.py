"""What partitions of long items are made of."""

from typing import Any

import pytest

from schemas.api_capabilities import Sampling
from schemas.chat import ModelEntry
from schemas.lineage import PartitionKey
from schemas.retrieval import RetrievalOptions
from schemas.usage import Role
from schemas.vocabulary import Setting
from tasks.solvers import keys
from tasks.solvers.keys import chunks_key, long_key, long_settings
from tasks.solvers.option_order import Epochs
from tasks.solvers.state import SolverOptions
from tasks.solvers.truncation import truncation_settings
from tests.tasks.rows import partition

CORE = ModelEntry(name="m", base_url="http://localhost/v1")
SAGE = ModelEntry(name="s", base_url="http://localhost/v1")
TEXTS = {"prompts_sha256": "3" * 64, "solvers_version": "1"}


BUILT = (partition("items"), partition("contexts"))


def key(setting: Setting = "coem", layer: str = "responses", **changed: Any) -> PartitionKey:
    options = SolverOptions(setting, changed.get("options", RetrievalOptions()), changed.get("length_demand", True))
    helpers: dict[Role, ModelEntry] = {"sage": changed.get("sage", SAGE)} if setting == "coem" else {}
    settings = {
        **long_settings(options, helpers, changed.get("embedder", "minilm-1"), changed.get("texts", TEXTS)),
        **Epochs(repeat=changed.get("repeat", 1)).settings,
        **truncation_settings(changed.get("too_long", "missing")),
    }
    return long_key(layer, changed.get("entry", CORE), setting, settings, changed.get("built", BUILT))


@pytest.mark.parametrize(
    "changed",
    [
        {"options": RetrievalOptions(top_k=3)},
        {"options": RetrievalOptions(ranking="bm25")},
        {"options": RetrievalOptions(preset="code_2026_01")},
        {"options": RetrievalOptions(legacy_bos=True)},
        {"embedder": "other"},
        {"embedder": None},
        {"sage": ModelEntry(name="t", base_url="http://localhost/v1")},
        {"sage": SAGE.model_copy(update={"sampling": Sampling(seed=1)})},
        {"entry": CORE.model_copy(update={"sampling": Sampling(max_tokens=9)})},
        {"length_demand": False},
        {"texts": {**TEXTS, "prompts_sha256": "4" * 64}},
        {"texts": {**TEXTS, "solvers_version": "2"}},
        {"repeat": 2},
        {"too_long": "cut_middle"},
        {"built": (partition("items", "5"), BUILT[1])},
        {"built": (BUILT[0], partition("contexts", "5"))},
        {"setting": "rag"},
        {"layer": "retrievals"},
    ],
    ids=str,
)
def test_what_changes_the_replies_changes_the_key(changed: dict[str, Any]) -> None:
    assert key(**changed).fingerprint != key().fingerprint


@pytest.mark.parametrize(
    "changed",
    [
        {"sage": SAGE.model_copy(update={"concurrency": 1})},
        {"entry": CORE.model_copy(update={"timeout_s": 1.0})},
        # What its name stands for is the embedder's identity.
        {"options": RetrievalOptions(embedder="minilm")},
    ],
    ids=str,
)
def test_transport_and_names_do_not(changed: dict[str, Any]) -> None:
    assert key(**changed).fingerprint == key().fingerprint


def test_base_knows_nothing_of_retrieval() -> None:
    changed = key("base", options=RetrievalOptions(top_k=3, preset="code_2026_01"), embedder=None)
    assert changed.fingerprint == key("base", embedder=None).fingerprint


def test_where_they_are() -> None:
    assert key().place == (("dataset", "d"), ("model", "m"), ("setting", "coem"))
    assert dict(chunks_key(BUILT[0], 128, RetrievalOptions()).place) == {"dataset": "d", "chunking": "128-50"}
    assert dict(chunks_key(BUILT[0], 128, RetrievalOptions(legacy_bos=True)).place)["chunking"] == "128-50-bos"
    assert dict(chunks_key(BUILT[0], None, RetrievalOptions()).place)["chunking"] == "segments"


def test_chunks_are_shared_by_whatever_splits_alike() -> None:
    first = chunks_key(BUILT[0], 128, RetrievalOptions())
    same = chunks_key(BUILT[0], 128, RetrievalOptions(top_k=3, ranking="bm25", embedder="minilm"))
    assert same.fingerprint == first.fingerprint
    others = [
        chunks_key(BUILT[0], 64, RetrievalOptions()),
        chunks_key(BUILT[0], 128, RetrievalOptions(overlap_tokens=20)),
        chunks_key(BUILT[0], 128, RetrievalOptions(legacy_bos=True)),
        chunks_key(partition("items", "5"), 128, RetrievalOptions()),
    ]
    assert len({one.fingerprint for one in (first, *others)}) == 5
    # The preset of the released code counts tokens as that does.
    released = chunks_key(BUILT[0], 128, RetrievalOptions(preset="code_2026_01"))
    assert released.fingerprint == others[2].fingerprint
    # Segments are what they are.
    assert (
        chunks_key(BUILT[0], None, RetrievalOptions()).fingerprint
        == chunks_key(BUILT[0], None, RetrievalOptions(overlap_tokens=20)).fingerprint
    )


def test_chunks_of_another_version_are_other_retrievals(monkeypatch: pytest.MonkeyPatch) -> None:
    retrieved, base = key("rag"), key("base")
    monkeypatch.setattr(keys, "CHUNKS_VERSION", "next")
    assert key("rag") != retrieved
    assert key("base") == base
