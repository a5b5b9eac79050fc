"""What Inspect's viewer takes over its own log: the requests that its page in the browser sends, without the browser's own work.

Its page fetches the directory of the log, a zip, its header and summaries, and filters these itself; a sample is fetched when it
is opened. Summaries hold the question and not the reply: replies can be searched only one sample after the other.

Runs in Inspect's environment, which reads its zips. Usage: inspect_view.py FOLDER SAMPLES
"""

import io
import json
import socket
import subprocess
import sys
import time
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import zipfile_zstd  # type: ignore[import-not-found]  # noqa: F401  importing it teaches zipfile to read them

ResultT = TypeVar("ResultT")
SOME = 200
"""Samples that are read to say how long all of them would take."""


def measure_view(samples: int, folder: Path) -> dict[str, float]:
    """Return seconds to write the log, list, open it, filter by a word of the question, open a sample, search all replies."""
    programs, file = Path(sys.executable).parent, folder / "logs" / "many.eval"
    file.parent.mkdir(parents=True)
    script = [sys.executable, str(Path(__file__).with_name("inspect_log.py")), str(file), str(samples)]
    took = {}
    took["written"], _ = timed(lambda: subprocess.run(script, check=True))
    with viewer(programs, file.parent) as address:
        took["listed"], _ = timed(lambda: fetch(f"{address}/logs"))
        took["opened"], (log, summaries) = timed(lambda: open_log(address, file))
        took["filtered"], _ = timed(lambda: [row for row in summaries if row["scores"]["match"]["value"] == "I"])
        names = [name for name in log.namelist() if name.startswith("samples/")]
        took["sample"], _ = timed(lambda: json.loads(log.read(names[-1])))
        some, _ = timed(lambda: ["quixotic" in str(json.loads(log.read(name))["output"]) for name in names[:SOME]])
        took["replies searched, by estimate"] = some * len(names) / min(SOME, len(names))
    return took


def timed(work: Callable[[], ResultT]) -> tuple[float, ResultT]:
    """Return seconds and result."""
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


@contextmanager
def viewer(programs: Path, logs: Path) -> Iterator[str]:
    """Run `inspect view`; yield the address of its interface."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(programs / "inspect"), "view", "--log-dir", str(logs), "--port", str(port), "--display", "none"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            try:
                with socket.create_connection(("127.0.0.1", port)):
                    break
            except OSError:
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/api"
    finally:
        process.terminate()
        process.wait()


def fetch(url: str) -> bytes:
    """Return what is answered to a request."""
    with urllib.request.urlopen(url) as answer:  # noqa: S310  the viewer's, on this machine
        content: bytes = answer.read()
    return content


def open_log(address: str, file: Path) -> tuple[zipfile.ZipFile, list[dict[str, dict[str, dict[str, str]]]]]:
    """Return a log and the summaries of its samples, as the viewer's page opens it."""
    log = zipfile.ZipFile(RemoteFile(address, file))
    log.read("header.json")
    summaries: list[dict[str, dict[str, dict[str, str]]]] = json.loads(log.read("summaries.json"))
    return log, summaries


class RemoteFile(io.RawIOBase):
    """A log that is read by ranges of bytes."""

    def __init__(self, address: str, file: Path) -> None:
        self._bytes = f"{address}/log-bytes/{quote(str(file), safe='')}"
        self._size, self._place = file.stat().st_size, 0

    def seekable(self) -> bool:
        """Return that it can be read anywhere."""
        return True

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def tell(self) -> int:
        """Return where it is read next."""
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place."""
        self._place = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        return self._place

    def read(self, size: int = -1) -> bytes:
        """Fetch the next bytes."""
        end = self._size if size < 0 else min(self._place + size, self._size)
        if end <= self._place:
            return b""
        content = fetch(f"{self._bytes}?start={self._place}&end={end - 1}")
        self._place = end
        return content


if __name__ == "__main__":
    print(json.dumps(measure_view(int(sys.argv[2]), Path(sys.argv[1]))))
