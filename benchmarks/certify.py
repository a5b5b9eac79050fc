"""How fast a judge is asked about texts that people rated, against what its server allows, and what the certificate then takes.

50 generated conversations are rated in 21 dimensions, each asked for in a call of its own, of a stub that answers after 50 ms,
over 64 connections, as `moodflow judges certify --checks none` does: through the client and the journal, every reply on disk
before it is used, rows of `certificate_ratings` written to Parquet. The server allows connections / latency. Imports and reading
the source are not timed. Each measurement has a fresh process and a fresh stub.

Usage: python benchmarks/certify.py [--conversations 50] [--dimensions 21] [--connections 64] [--latency-ms 50] [--repeats 3]
"""

import argparse
import asyncio
import gc
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import polars as pl  # noqa: E402  the project is imported from its folder

from benchmarks.inference import CallCell, model_entry  # noqa: E402
from benchmarks.peers.servers import stub_server  # noqa: E402
from flows.cli import THRESHOLDS  # noqa: E402
from flows.runtime.endpoints import open_endpoints  # noqa: E402
from schemas.lineage import CallCounts, CodeVersion  # noqa: E402
from schemas.plan import Plan  # noqa: E402
from schemas.tables.ratings import CertificateRatings, HumanRatings, RatedTexts  # noqa: E402
from tasks.certificates.asking import CertifyJob, ask_judge  # noqa: E402
from tasks.certificates.certificate import Spent, build_certificate  # noqa: E402
from tasks.judging.executor import Judge  # noqa: E402
from tasks.judging.rubrics import Rubric  # noqa: E402
from tasks.lake.lake import Lake  # noqa: E402
from tasks.models.cost import Budget  # noqa: E402
from tasks.ratings.reading import RatedSource  # noqa: E402
from tasks.reporting.run_document import describe_cost  # noqa: E402

AIM = 1.3
ALWAYS = "3"
"""What the stub replies: a rating."""

BOTH = ("en", "zh")
RATERS = 3


class Measured(NamedTuple):
    """Seconds of the calls, rows on disk, also of CPU; and of the certificate that is built of them."""

    asking_s: float
    asking_cpu_s: float
    certificate_s: float


def main() -> None:
    """Measure, print each measurement and the median."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--conversations", type=int, default=50)
    parser.add_argument("--dimensions", type=int, default=21)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--latency-ms", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--base-url", help=argparse.SUPPRESS)
    options = parser.parse_args()
    cell = CallCell(options.latency_ms, options.connections, options.conversations * options.dimensions)
    job = made_job(cell, options)
    if options.base_url:
        print(json.dumps(asyncio.run(measure(cell, job))))
        return
    allowed_s = cell.calls * options.latency_ms / 1000 / options.connections
    print(f"{cell.calls:,} calls of {options.latency_ms} ms over {options.connections} connections: at least {allowed_s:.2f} s")
    ratios = []
    for _ in range(options.repeats):
        measured = fresh(cell)
        ratios.append(measured.asking_s / allowed_s)
        print(f"asked in {measured.asking_s:.2f} s (CPU {measured.asking_cpu_s:.2f} s): {ratios[-1]:.2f};", end=" ")
        print(f"certificate {measured.certificate_s:.2f} s", flush=True)
    print(f"median of {options.repeats}: {median(ratios):.2f} times what the server allows (aim at most {AIM:g})")


def fresh(cell: CallCell) -> Measured:
    """Measure in a fresh process against a fresh stub.

    Raises:
        RuntimeError: if the stub did not get exactly the cell's calls.
    """
    with stub_server(cell.latency_ms, "--content", ALWAYS) as (stub, base_url):
        command = [sys.executable, __file__, *sys.argv[1:], "--base-url", base_url]
        client = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        answered = json.loads(stub.communicate()[0])["answered"]
    if answered != cell.calls:
        raise RuntimeError(f"expected {cell.calls} calls at the stub, got {answered}")
    return Measured(*json.loads(client.stdout))


async def measure(cell: CallCell, job: CertifyJob) -> Measured:
    """Ask for all ratings and write them; then build the certificate.

    Raises:
        RuntimeError: if a rating is missing.
    """
    with tempfile.TemporaryDirectory(prefix="moodflow-certify-") as folder:
        lake = Lake(Path(folder), CodeVersion("benchmark", None))
        # As every command does after its imports.
        gc.freeze()
        gc.set_threshold(*THRESHOLDS)
        started, cpu_s = time.perf_counter(), time.process_time()
        async with open_endpoints(Plan(benchmark="certify", models=(job.judge,)), lake, Budget()) as endpoints:
            endpoint = endpoints[job.judge]
            ratings = await ask_judge(job, Judge(job.judge, job.rubric, endpoint.chat), endpoint.pool.do_all)
            await asyncio.to_thread(lake.write, job.key, ratings, CertificateRatings)
        asked, cpu_s = time.perf_counter(), time.process_time() - cpu_s
        if (rated := ratings["rating"].count()) != cell.calls:
            raise RuntimeError(f"expected {cell.calls} ratings, got {rated}; is the stub overloaded?")
        build_certificate(job, ratings, Spent("", CallCounts(), (), describe_cost((), None)))
        return Measured(asked - started, cpu_s, time.perf_counter() - asked)


def made_job(cell: CallCell, options: argparse.Namespace) -> CertifyJob:
    """Return what is asked about the conversations: their texts as they are, without checks."""
    rubric = made_rubric(options.dimensions)
    texts = [made_text(number) for number in range(options.conversations)]
    source = RatedSource(
        name="made",
        ratings=HumanRatings.validate(pl.DataFrame([*made_ratings(texts, rubric)], HumanRatings.create_empty().schema)),
        texts=RatedTexts.validate(pl.DataFrame(texts, RatedTexts.create_empty().schema)),
        read=0,
        refused=(),
        sha256="0" * 64,
    )
    return CertifyJob(
        judge=model_entry(cell, options.base_url or "http://127.0.0.1:1/v1"),
        rubric=rubric,
        source=source,
        checks=(),
        checks_sample=1,
        left_out={},
        not_asked=(),
        seed=0,
    )


def made_rubric(dimensions: int) -> Rubric:
    """Return a rubric that asks for one dimension after the other and reads a digit."""
    meaning = dict.fromkeys(BOTH, "the more the better")
    return Rubric.model_validate(
        {
            "id": "made",
            "version": "1",
            "instruction": dict.fromkeys(BOTH, "Rate the helper's replies."),
            "ask": "one_by_one",
            "reply": "digit",
            "bands": [{"lowest": 1, "highest": 5, "meaning": meaning}],
            "dimensions": [
                {"name": f"dimension_{n}", "definition": dict.fromkeys(BOTH, f"Item {n}.")} for n in range(dimensions)
            ],
        }
    )


def made_text(number: int) -> dict[str, Any]:
    """Return a conversation of twelve turns, 2,000 characters in all."""
    said = f"In conversation {number} they talked for a while, and one of them said how the day had been. " * 2
    turns = [{"speaker": speaker, "text": said} for _ in range(6) for speaker in ("seeker", "helper")]
    text = "\n".join(f"{turn['speaker']}: {turn['text']}" for turn in turns)
    return {
        "source": "made",
        "system": "",
        "unit_id": f"talk-{number:05}",
        "cluster_id": f"talk-{number:05}",
        "language": "en",
        "question": "",
        "text": text,
        "turns": turns,
        "text_sha256": sha256(text.encode()).hexdigest(),
    }


def made_ratings(texts: list[dict[str, Any]], rubric: Rubric) -> Iterator[dict[str, Any]]:
    """Yield what three people say of each text in each dimension."""
    for number, text in enumerate(texts):
        for place, dimension in enumerate(rubric.names):
            for rater in range(RATERS):
                yield {
                    "source": text["source"],
                    "unit_id": text["unit_id"],
                    "system": text["system"],
                    "dimension": dimension,
                    "higher_is_better": True,
                    "rater": f"rater-{rater}",
                    "rater_kind": "expert",
                    "rater_known": True,
                    "rating": float(1 + (number + place + (number % 3 == rater)) % 5),
                    "scale": [1.0, 2.0, 3.0, 4.0, 5.0],
                }


if __name__ == "__main__":
    main()
