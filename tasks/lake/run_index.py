"""The index of a lake's runs: a copy of all manifests in one file, so that thousands are read in a second.

A copy counts as long as the manifest's file is the one that it was made from. The index may be deleted at any time, and a lake
that cannot be written does without. A line has a key, a tab, and JSON. A blueprint, which many runs share, is a line of its own,
and each run names it before its JSON.
"""

import json
import time
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from typing import Any

from pydantic_core import from_json, to_json

from schemas.folders import Folder
from schemas.lineage import RunManifest
from tasks.lake.files import replace_file
from tasks.lake.local_state import state_folder

INDEX = "run-index.jsonl"
FEWEST = 100
"""Runs that are worth an index: fewer manifests are read in a moment."""

YOUNG_NS = 2_000_000_000
"""Age below which a file is not copied: one that is changed within a tick of the disk's clock would look the same."""


class RunIndex:
    """The copies of the manifests of a lake.

    Args:
        lake: its folder.
        stamps: by run, what tells a manifest's file from all that were in its place: first when it was changed, in nanoseconds.
    """

    def __init__(self, lake: Folder, stamps: Mapping[str, tuple[Any, ...]]) -> None:
        # On this machine, even if the lake is in a store.
        self._path = state_folder(lake) / INDEX
        self._stamps = stamps if len(stamps) >= FEWEST else {}
        self._before: dict[bytes, bytes] = {}
        with suppress(OSError):  # there is none, or it is another user's
            lines = self._path.read_bytes().split(b"\n") if self._stamps else []
            self._before = {key: text for key, tab, text in (line.partition(b"\t") for line in lines) if tab}
        self._now: dict[bytes, bytes] = {}
        self._blueprints: dict[bytes, Any] = {}

    def find(self, run: str) -> RunManifest | None:
        """Return the manifest of a run as it is now; null if that has to be read."""
        key = self._key(run)
        try:
            shared, _, text = self._before[key].partition(b"\t")
            if shared not in self._blueprints:
                self._blueprints[shared] = from_json(self._before[shared])
            manifest = RunManifest.model_validate({**from_json(text), "blueprint": self._blueprints[shared]})
        except (KeyError, ValueError, TypeError):  # not there, or damaged
            return None
        self._now |= {key: self._before[key], shared: self._before[shared]}
        return manifest

    def keep(self, run: str, manifest: RunManifest) -> None:
        """Keep a manifest that was read."""
        if run not in self._stamps or time.time_ns() - self._stamps[run][0] < YOUNG_NS:
            return
        blueprint = to_json(manifest.blueprint)
        shared = sha256(blueprint).hexdigest()
        text = f"{shared}\t{manifest.model_dump_json(exclude={'blueprint'})}"
        self._now |= {self._key(run): text.encode(), shared.encode(): blueprint}

    def save(self) -> None:
        """Write what was found and kept, if it differs from what is there."""
        if self._now != self._before:
            with suppress(OSError):  # a lake that cannot be written: the next command reads the manifests again
                replace_file(self._path, b"".join(b"%b\t%b\n" % line for line in self._now.items()))

    def _key(self, run: str) -> bytes:
        return json.dumps([run, *self._stamps.get(run, ())]).encode()
