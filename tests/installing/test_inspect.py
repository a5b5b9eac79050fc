"""Inspect's library, which needs packages of other versions, in an environment of its own as docs/replies-by-file.md has it."""

from pathlib import Path

import pytest

from tests.docs.pages import ROOT, blocks
from tests.installing.environments import new_environment

TOOLS = ("pytest", "pytest-asyncio", "hypothesis", "trustme")
OTHER_VERSIONS = frozenset({"fsspec", "s3fs"})


@pytest.mark.long
def test_logs_are_written_and_read_beside_moodflow(tmp_path: Path) -> None:
    (wanted,) = [block.body for block in blocks(ROOT / "docs" / "replies-by-file.md") if "inspect-ai" in block.body]
    assert 'pip install . "inspect-ai>=0.3.285"\n' in wanted
    environment = new_environment(tmp_path / "environment")
    environment.install(str(ROOT), "inspect-ai>=0.3.285", *TOOLS, without=OTHER_VERSIONS)
    options = ("-q", "-p", "no:cacheprovider", "-k", "test_inspect_logs_are_read_back_and_listed")
    done = environment.run("python", "-m", "pytest", *options, "tests/flows/test_replies_by_file.py", folder=ROOT)
    assert (done.status, "1 passed" in done.out) == (0, True), done.out
