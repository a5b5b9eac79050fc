"""Copies of the manifests of a lake in one file, so that thousands are read in a second."""

import time
from contextlib import suppress
from functools import cache
from hashlib import sha256

from pydantic_core import from_json, to_json

from schemas.folders import Folder
from schemas.lineage import RunManifest
from tasks.lake.files import replace_file
from tasks.lake.local_state import state_folder

INDEX = "run-index.jsonl"
FEWEST = 100
"""Only a lake with more runs than this gets an index."""

YOUNG_NS = 2_000_000_000
"""Age below which a file is not copied: one that is changed within a tick of the disk's clock would look the same."""

Stamp = tuple[int, ...]
"""What tells a file from any other that was in its place: first the time of its last change in nanoseconds, 0 where others do."""


class RunIndex:
    """The copies of the manifests of a lake, in one file.

    A copy counts as long as the manifest's file is the one that it was made from. The index may be deleted at any time, and a
    lake that cannot be written does without. A line has a key, a tab, and JSON. A blueprint, which many runs share, is a line of
    its own, and each run names it before its JSON.
    """

    def __init__(self, lake: Folder) -> None:
        self._path = state_folder(lake) / INDEX  # on this machine, even if the lake is in a store
        self._before, self._now = dict[bytes, bytes](), dict[bytes, bytes]()
        with suppress(OSError):  # there is none, or it is another user's
            lines = (line.partition(b"\t") for line in self._path.read_bytes().split(b"\n"))
            self._before = {key: text for key, tab, text in lines if tab}
        self._blueprint = cache(lambda shared: from_json(self._before[shared]))

    def find(self, run: str, stamp: Stamp) -> RunManifest | None:
        """Return the manifest of a run; null if it has to be read."""
        key = to_json([run, *stamp])
        try:
            shared, _, text = self._before[key].partition(b"\t")
            manifest = RunManifest.model_validate({**from_json(text), "blueprint": self._blueprint(shared)})
        except (KeyError, ValueError, TypeError):  # not there, or damaged
            return None
        self._now |= {key: self._before[key], shared: self._before[shared]}
        return manifest

    def keep(self, run: str, stamp: Stamp, manifest: RunManifest) -> None:
        """Keep a manifest that was read."""
        if time.time_ns() - stamp[0] > YOUNG_NS:
            blueprint = to_json(manifest.blueprint)
            shared = sha256(blueprint).hexdigest()
            text = f"{shared}\t{manifest.model_dump_json(exclude={'blueprint'})}"
            self._now |= {to_json([run, *stamp]): text.encode(), shared.encode(): blueprint}

    def save(self) -> None:
        """Write what was found and kept, if it differs from what is there."""
        if self._now != self._before and len(self._now) > FEWEST:
            with suppress(OSError):  # a lake that cannot be written: the next command reads the manifests again
                replace_file(self._path, b"".join(b"%b\t%b\n" % line for line in self._now.items()))
