"""The list of what providers allow of a batch."""

from pathlib import Path

import pytest

from schemas.errors import UsageError
from tasks.models.batches.limits import limits_at


@pytest.mark.parametrize("text", ["[]", "- id: mine", "hello", "\xe9", "a: [", None])
def test_unreadable_list_is_named(text: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "limits.yaml"
    if text is not None:
        file.write_text(text, encoding="latin-1")
    monkeypatch.setenv("MOODFLOW_BATCH_APIS", str(file))
    with pytest.raises(UsageError, match="the limits of batches cannot be read") as error:
        limits_at("http://127.0.0.1/v1")
    assert str(file) in str(error.value)
