"""What probes found goes with the replies, and never replaces what the importer found himself."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from schemas.api_capabilities import Sampling
from schemas.chat import ChatMessage, ChatReply, ChatRequest, ModelEntry
from schemas.errors import LakeError
from schemas.provider import CAPABILITIES, Capability, CapabilityFinding, ModelProbe, Verdict
from tasks.models.capabilities.probe import PROBE_VERSION
from tasks.models.capabilities.probe_records import list_probes, probe_file, recall, remember
from tasks.models.capabilities.probe_sharing import METADATA_KEY, TakenProbes, take_shared
from tasks.models.journal.files import export_replies, import_replies, merge_replies
from tasks.models.journal.journal import Journal
from tasks.models.journal.table import JOURNAL

URL = "http://localhost/v1"
LISTENER, TALKER = (ModelEntry(name=name, base_url=URL) for name in ("listener", "talker"))


def found(name: str, **verdicts: Verdict) -> ModelProbe:
    """A probe that got a temperature through, if `verdicts` says nothing else."""
    findings: dict[Capability, CapabilityFinding] = {
        capability: CapabilityFinding(verdicts.get(capability, "yes"), f"{capability} of {name}") for capability in CAPABILITIES
    }
    return ModelProbe(PROBE_VERSION, name, URL, "2026-01-02T12:00:00+00:00", 2, 0.25, name, None, findings)


REFUSES = found("listener", temperature="no")


async def fill(lake: Path, *probes: tuple[ModelEntry, ModelProbe], models: tuple[ModelEntry, ...] = (LISTENER, TALKER)) -> Path:
    """A lake with one reply by each model, and these probes."""
    async with Journal(lake / JOURNAL) as journal:
        for entry in models:
            messages = (ChatMessage(role="user", content="Hello"),)
            await journal.put(ChatRequest(entry.name, entry.identity, messages, Sampling()), ChatReply(text="Hi"))
    for entry, probe in probes:
        remember(lake, entry, probe)
    return lake


async def test_a_probe_goes_with_the_replies_of_its_model(tmp_path: Path) -> None:
    ours = await fill(tmp_path / "ours", (LISTENER, REFUSES), (TALKER, found("talker")))
    assert export_replies(ours / JOURNAL, tmp_path / "both.parquet") == (2, 2)
    assert export_replies(ours / JOURNAL, tmp_path / "one.parquet", "listener") == (1, 1)
    theirs = tmp_path / "theirs"
    assert import_replies(tmp_path / "one.parquet", theirs / JOURNAL).probes == TakenProbes(added=1)
    assert (recall(theirs, LISTENER), recall(theirs, TALKER)) == (REFUSES, None)
    assert import_replies(tmp_path / "both.parquet", theirs / JOURNAL).probes == TakenProbes(added=1, same=1)
    assert probe_file(theirs, TALKER).read_bytes() == probe_file(ours, TALKER).read_bytes()


async def test_a_probe_of_a_model_without_replies_is_not_shared(tmp_path: Path) -> None:
    lake = await fill(tmp_path / "ours", (LISTENER, REFUSES), (TALKER, found("talker")), models=(LISTENER,))
    other = LISTENER.model_copy(update={"identity": "http://elsewhere/v1"})
    remember(lake, other, found("listener"))
    assert export_replies(lake / JOURNAL, tmp_path / "shared.parquet") == (1, 1)
    assert import_replies(tmp_path / "shared.parquet", tmp_path / "theirs" / JOURNAL).probes.added == 1
    assert list_probes(tmp_path / "theirs") == [REFUSES]


async def test_ours_stay(tmp_path: Path) -> None:
    ours = await fill(tmp_path / "ours", (LISTENER, REFUSES))
    export_replies(ours / JOURNAL, tmp_path / "shared.parquet")
    mine = replace(found("listener"), probed_at="2026-02-03T12:00:00+00:00")
    theirs = await fill(tmp_path / "theirs", (LISTENER, mine))
    before = probe_file(theirs, LISTENER).read_bytes()
    for taken in (import_replies(tmp_path / "shared.parquet", theirs / JOURNAL), merge_replies(ours / JOURNAL, theirs / JOURNAL)):
        assert taken.probes == TakenProbes(kept_ours=1)
        assert probe_file(theirs, LISTENER).read_bytes() == before


async def test_what_an_older_version_found_is_not_shared_and_gives_way(tmp_path: Path) -> None:
    ours = await fill(tmp_path / "ours", (LISTENER, REFUSES))
    export_replies(ours / JOURNAL, tmp_path / "shared.parquet")
    old = await fill(tmp_path / "old", (LISTENER, replace(REFUSES, version=PROBE_VERSION - 1)))
    assert export_replies(old / JOURNAL, tmp_path / "old.parquet") == (2, 0)
    assert import_replies(tmp_path / "shared.parquet", old / JOURNAL).probes == TakenProbes(added=1)
    assert recall(old, LISTENER) == REFUSES


@pytest.mark.parametrize("named", [Path(), JOURNAL], ids=["moved folder", "lake"])
async def test_probes_of_another_journal_are_merged(tmp_path: Path, named: Path) -> None:
    other = await fill(tmp_path / "other", (LISTENER, REFUSES), (TALKER, found("talker")))
    probe_file(other, TALKER).write_text("{")
    if named == Path():
        (other / "journal").rename(tmp_path / "moved")
        file = tmp_path / "moved" / JOURNAL.name
    else:
        file = other / JOURNAL
    taken = merge_replies(file, tmp_path / "ours" / JOURNAL)
    assert taken.added == 2
    assert (taken.probes.added, taken.probes.refused, taken.probes.rules) == (1, 1, {"probe_is_whole": 1})
    assert list_probes(tmp_path / "ours") == [REFUSES]


async def test_a_damaged_probe_stops_an_export(tmp_path: Path) -> None:
    lake = await fill(tmp_path / "ours", (LISTENER, REFUSES))
    probe_file(lake, LISTENER).write_text("{")
    with pytest.raises(LakeError, match="cannot be read") as caught:
        export_replies(lake / JOURNAL, tmp_path / "shared.parquet")
    assert caught.value.where == str(probe_file(lake, LISTENER))
    assert not (tmp_path / "shared.parquet").exists()


async def document(folder: Path) -> dict[str, Any]:
    """The probe of a file as it is shared."""
    lake = await fill(folder / "ours", (LISTENER, REFUSES))
    export_replies(lake / JOURNAL, folder / "shared.parquet")
    (entry,) = json.loads(pq.read_metadata(folder / "shared.parquet").metadata[METADATA_KEY])
    return dict(entry)


CHANGED: Mapping[str, tuple[dict[str, Any], str]] = {
    "nothing": ({}, ""),
    "another version": ({"version": 0}, "probe_is_of_this_version"),
    "another model": ({"model": "talker"}, "probe_is_of_the_model"),
    "a wrong type": ({"calls": "many"}, "probe_is_whole"),
    "no findings": ({"findings": {}}, "probe_is_whole"),
    "not answered": ({"findings": {name: {"verdict": "no", "evidence": ""} for name in CAPABILITIES}}, "probe_is_whole"),
    "what controls a terminal": ({"echoed_model": "\x1b[31m"}, "probe_is_printable"),
}


@pytest.mark.parametrize(("changes", "rule"), CHANGED.values(), ids=CHANGED.keys())
async def test_a_probe_that_was_changed_is_refused(tmp_path: Path, changes: dict[str, Any], rule: str) -> None:
    entry = await document(tmp_path)
    assert (entry["identity"], entry["model"]) == (URL, "listener")
    entry["probe"] |= changes
    taken = take_shared(json.dumps([entry]).encode(), tmp_path / "theirs" / "journal" / "models")
    assert (taken.read, taken.added, taken.refused, taken.rules) == ((1, 0, 1, {rule: 1}) if rule else (1, 1, 0, {}))
    assert len(list_probes(tmp_path / "theirs")) == taken.added


@pytest.mark.parametrize("content", [b"{", b"{}", b"[7]", b"\xff"])
def test_what_is_no_list_of_probes_is_refused_whole(tmp_path: Path, content: bytes) -> None:
    assert take_shared(content, tmp_path).rules == {"probes_are_a_list": 1}


@pytest.mark.parametrize("entry", [{}, {"identity": URL, "model": "listener"}, {"probe": 7}])
def test_a_probe_without_its_fields_is_refused(tmp_path: Path, entry: dict[str, Any]) -> None:
    assert take_shared(json.dumps([entry]).encode(), tmp_path).rules == {"probe_is_whole": 1}


async def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    entry = await document(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(LakeError, match="cannot be written"):
        take_shared(json.dumps([entry]).encode(), tmp_path / "file" / "models")
