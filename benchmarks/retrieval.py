"""How fast texts are embedded, how often, in how much memory, and whether ranking finds a hidden passage.

    speed     texts per second of our engine, its store included, against a bare SentenceTransformer.encode over the same texts,
              and against one text per call as LongEmotion's released code does; in turns, so that all share a busy machine
    distinct  texts that a run embeds against distinct texts that it needs, of the 136 items of emotion detection and of contexts
              of emotion classification; vectors are stand-ins, which change no count
    memory    growth of peak memory by a context of 8k to 1M tokens, split and ranked, each size in a fresh process (Linux)
    quality   how often the chunk that holds the needle is among the first 1, 4 and 16, by meaning, by words and fused; queries
              are the bare system, as in the paper, and the question; chunks have 128 tokens, neighbours share up to 50

Texts: the segments of LongEmotion's emotion detection and the chunks of a Gutenberg novel; needles from EmoBench and FinEntity.

Usage: python benchmarks/retrieval.py --mirror FOLDER [--quick] [--parts speed,distinct,memory,quality]
"""

import argparse
import asyncio
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402  the project is imported from its folder

from schemas.context import Context, ContextOptions  # noqa: E402
from schemas.dataset import PinnedFile  # noqa: E402
from schemas.item import Item  # noqa: E402
from schemas.vocabulary import Ranking  # noqa: E402
from tasks.benchmarks.longemotion.datasets.emotion_classification import read_prose  # noqa: E402
from tasks.datasets.building import list_samples, rank_samples  # noqa: E402
from tasks.datasets.catalogue import find_dataset  # noqa: E402
from tasks.retrieval.chunking import split  # noqa: E402
from tasks.retrieval.embedding import SentenceEmbedder, Vectors, find_embedder  # noqa: E402
from tasks.retrieval.engine import RetrievalEngine  # noqa: E402
from tasks.solvers.chunk_rows import holds_needle  # noqa: E402
from tasks.sources.locating import Locator  # noqa: E402
from tasks.sources.reading import read_dataset  # noqa: E402

PARTS = ("speed", "distinct", "memory", "quality")
DETECTION = "github.com/LongEmotion/LongEmotion/data/Emotion_Detection.jsonl"
CLASSIFICATION = ("longemotion_ec_emobench", "longemotion_ec_finentity")
RANKINGS: tuple[Ranking, ...] = ("dense", "bm25", "fused")
CHUNK, OVERLAP = 128, 50
DEPTHS = (1, 4, 16)
TOKENS = (8_000, 32_000, 128_000, 512_000, 1_000_000)
BLOCK, FEWER = 512, 8
REPETITIONS = 3
AIM_ENCODE, AIM_SINGLE, AIM_POINTS = 0.9, 3.0, 1.0


class Options(NamedTuple):
    """What the command line says."""

    mirror: Path
    quick: bool


class Hidden(NamedTuple):
    """A context with a needle, as chunks."""

    system: str
    question: str
    chunks: list[str]
    place: int


def main() -> None:
    """Measure and print, one part after another."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirror", type=Path, required=True, help="folder of source files, as of moodflow run")
    parser.add_argument("--quick", action="store_true", help="fewer texts; contexts of memory repeat their text")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--memory-of", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    options = Options(arguments.mirror.resolve(), arguments.quick)
    if arguments.memory_of is not None:
        print(json.dumps(measure_memory(options, arguments.memory_of)))
        return
    jobs: dict[str, Callable[[Options], None]] = dict(
        zip(PARTS, (report_speed, report_distinct, report_memory, report_quality), strict=True)
    )
    for part in arguments.parts.split(","):
        print(f"\n{part}")
        jobs[part](options)


def report_speed(options: Options) -> None:
    """Texts per second, and how they stand to the aims."""
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415

    files = find_embedder("minilm")
    ours, peer = SentenceEmbedder(files), SentenceTransformer(str(files.folder), device="cpu")
    chunks = [chunk.text for chunk in split(novel(options), CHUNK, OVERLAP)]
    texts = list(dict.fromkeys([*(text for item in segments(options) for text in item), *chunks]))
    np.random.default_rng(0).shuffle(texts)
    blocks = [texts[start : start + BLOCK] for start in range(0, len(texts), BLOCK)][: 2 if options.quick else None]

    def through_engine(block: list[str]) -> None:
        with tempfile.TemporaryDirectory(prefix="moodflow-retrieval-") as folder:
            asyncio.run(_rank_once(block, Path(folder), ours))

    def one_by_one(block: list[str]) -> None:
        for text in block:
            peer.encode([text])

    through_engine(texts[:8])
    peer.encode(texts[:8])
    spent = dict.fromkeys(("engine", "encode", "one per call", "engine, same few"), 0.0)
    for block in blocks:
        few = block[: len(block) // FEWER]
        spent["engine"] += timed(through_engine, block)
        spent["encode"] += timed(peer.encode, block)
        spent["one per call"] += timed(one_by_one, few)
        spent["engine, same few"] += timed(through_engine, few)
    many, little = sum(map(len, blocks)), sum(len(block) // FEWER for block in blocks)
    for name, seconds in spent.items():
        print(f"  {name:18s} {(many if name in {'engine', 'encode'} else little) / seconds:7.1f} texts/s")
    print(f"  engine / encode: {spent['encode'] / spent['engine']:.2f} over {many} texts (aim at least {AIM_ENCODE})")
    print(
        f"  engine / one per call: {spent['one per call'] / spent['engine, same few']:.2f} over the same {little} texts, "
        f"{(spent['one per call'] / little) / (spent['engine'] / many):.2f} by rate (aim at least {AIM_SINGLE:.0f})"
    )
    asked = [text for item in segments(options) for text in item]
    repeated = REPETITIONS * len(asked) / len(set(asked))
    print(
        f"  the same for emotion detection in {REPETITIONS} repetitions, each anew in the released code: "
        f"{repeated * (spent['one per call'] / little) / (spent['engine'] / many):.2f} by rate"
    )


def report_distinct(options: Options) -> None:
    """Texts embedded against distinct texts."""
    _print_counts("emotion detection", [(item, None) for item in segments(options)])
    classification = [(hidden.chunks, hidden.system) for hidden in needles(options, 10 if options.quick else 100, 20_000)]
    _print_counts("emotion classification", classification)


def _print_counts(task: str, items: Sequence[tuple[list[str], str | None]]) -> None:
    asked = [text for texts, query in items for text in (*texts, *([query] if query else []))]
    distinct = set(asked)
    with tempfile.TemporaryDirectory(prefix="moodflow-retrieval-") as folder:
        first = asyncio.run(_rank_all(items, Path(folder)))
        again = asyncio.run(_rank_all(items, Path(folder)))
    print(f"  {task}: {len(items)} items ask for {len(asked)} texts, {len(distinct)} distinct; embedded {first}, again {again}")
    if (first, again) != (len(distinct), 0):
        raise SystemExit("texts were embedded more than once, or not at all")


def report_memory(options: Options) -> None:
    """Growth of peak memory by size of context."""
    for tokens in TOKENS:
        command = [sys.executable, __file__, "--mirror", str(options.mirror), "--memory-of", str(tokens)]
        run = subprocess.run([*command, *(["--quick"] if options.quick else [])], check=True, capture_output=True, text=True)
        chunks, vectors, growth, seconds = json.loads(run.stdout)
        print(
            f"  {tokens:9,} tokens, {chunks:6d} chunks: peak grows by {growth:6.1f} MB, vectors {vectors:5.1f}; {seconds:6.1f} s"
        )


def measure_memory(options: Options, tokens: int) -> tuple[int, float, float, float]:
    """Chunks, megabytes of their vectors, growth of peak memory in megabytes, and seconds of one context, in this process."""
    source = novel(options)
    paragraphs = source.split("\n")
    wanted = split(source, 1024, 0)[-1].token_end
    lines: list[str] = []
    for copy in range(-(-tokens // wanted)):
        # A number before each paragraph makes texts that no store knows.
        lines += paragraphs if options.quick else [f"{copy} {paragraph}" for paragraph in paragraphs]
    text = "\n".join(lines)[: round(len(source) * tokens / wanted)]
    with tempfile.TemporaryDirectory(prefix="moodflow-retrieval-") as folder:
        return asyncio.run(_measure_context(text, source, Path(folder)))


async def _measure_context(text: str, source: str, folder: Path) -> tuple[int, float, float, float]:
    async with RetrievalEngine(find_embedder("minilm"), folder) as engine:
        # What any first use loads, and a full batch.
        warm = await engine.split(source[: len(source) // 8], CHUNK, OVERLAP)
        await engine.rank([chunk.text for chunk in warm], "a train", "fused", "en")
        # Loading a model takes more for a moment than it keeps; growth below that would not show in the peak so far.
        await asyncio.to_thread(Path("/proc/self/clear_refs").write_text, "5")
        before, started = status_mb("VmRSS"), time.perf_counter()
        chunks = await engine.split(text, CHUNK, OVERLAP)
        await engine.rank([chunk.text for chunk in chunks], "the letter", "fused", "en")
        seconds = time.perf_counter() - started
    return len(chunks), len(chunks) * 384 * 4 / 2**20, status_mb("VmHWM") - before, seconds


def report_quality(options: Options) -> None:
    """Recall of the chunk that holds the needle."""
    hidden = needles(options, 20 if options.quick else 200, 8_000)
    print(f"  {len(hidden)} contexts of 8,000 tokens, {np.mean([len(one.chunks) for one in hidden]):.0f} chunks each")
    queries: tuple[Literal["system", "question"], ...] = ("system", "question")
    with tempfile.TemporaryDirectory(prefix="moodflow-retrieval-") as folder:
        for name in queries:
            asked = [one.system if name == "system" else one.question for one in hidden]
            places = {ranking: asyncio.run(_places(hidden, asked, ranking, Path(folder))) for ranking in RANKINGS}
            _print_recall(f"by {name}", places)


def _print_recall(title: str, places: dict[Ranking, "np.ndarray[Any, Any]"]) -> None:
    for ranking, found in places.items():
        recalls = "  ".join(f"@{depth} {100 * np.mean(found[:, 0] < depth):5.1f}" for depth in DEPTHS)
        misses = found[found[:, 0] > 0, 1]
        print(f"  {title:11s} {ranking:6s} {recalls}; of {len(misses)} misses @1 {np.sum(misses == 1)} are the chunk beside")
    for depth in DEPTHS:
        hits = {ranking: places[ranking][:, 0] < depth for ranking in RANKINGS}
        better: Ranking = "dense" if hits["dense"].mean() > hits["bm25"].mean() else "bm25"
        points = 100 * (hits["fused"].astype(float) - hits[better])
        error = points.std(ddof=1) / np.sqrt(len(points))
        print(f"  {title:11s} fused - {better} @{depth}: {points.mean():+.1f} points, error {error:.1f} (aim: -{AIM_POINTS:.0f})")


async def _places(hidden: Sequence[Hidden], queries: list[str], ranking: Ranking, folder: Path) -> "np.ndarray[Any, Any]":
    """Per context, where the needle's chunk is ranked (0 = first), and how far from it in the text the first chunk is."""
    async with RetrievalEngine(find_embedder("minilm"), folder) as engine:
        jobs = (engine.rank(one.chunks, query, ranking, "en") for one, query in zip(hidden, queries, strict=True))
        ranked = await asyncio.gather(*jobs)
    orders = [[chunk.place for chunk in chunks] for chunks in ranked]
    return np.array([(order.index(one.place), abs(order[0] - one.place)) for order, one in zip(orders, hidden, strict=True)])


async def _rank_once(texts: list[str], folder: Path, encode: SentenceEmbedder) -> None:
    async with RetrievalEngine(find_embedder("minilm"), folder, load=lambda _: encode) as engine:
        await engine.rank(texts, None, "dense", "en")


async def _rank_all(items: Sequence[tuple[list[str], str | None]], folder: Path) -> int:
    """Rank everything; return how many texts were embedded."""
    embedded = 0

    def encode(texts: Sequence[str]) -> Vectors:
        nonlocal embedded
        embedded += len(texts)
        return stand_in(texts)

    async with RetrievalEngine(find_embedder("minilm"), folder, load=lambda _: encode) as engine:
        await asyncio.gather(*(engine.rank(texts, query, "dense", "en") for texts, query in items))
        return embedded


def stand_in(texts: Sequence[str]) -> Vectors:
    """Vectors by hash."""
    vectors = np.stack([np.frombuffer(hashlib.sha256(text.encode()).digest(), dtype=np.uint8) for text in texts]) / 255
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def segments(options: Options) -> list[list[str]]:
    """The segments of each item of emotion detection."""
    with (options.mirror / DETECTION).open(encoding="utf-8") as lines:
        return [[segment["context"] for segment in json.loads(line)["text"]] for line in lines]


def novel(options: Options) -> str:
    """The prose of a novel."""
    file = next(
        file for file in find_dataset(CLASSIFICATION[0]).files if isinstance(file, PinnedFile) and file.path.endswith(".txt")
    )
    path = Locator(mirror=options.mirror).locate(file)
    return "\n".join(read_prose(path.read_text(encoding="utf-8").splitlines()))


def needles(options: Options, each: int, tokens: int) -> list[Hidden]:
    """Contexts of both halves of emotion classification, as they are built for a run with seed 0."""
    found: list[Hidden] = []
    for name in CLASSIFICATION:
        spec = find_dataset(name)
        records = read_dataset(spec, [Locator(mirror=options.mirror).locate(file) for file in spec.files])
        built: list[Hidden] = []
        for sample in rank_samples(list_samples(spec, records, ContextOptions(lengths=(tokens,)), 0), 0):
            try:
                item, context = sample.build()
            except (ValueError, LookupError, TypeError):
                continue  # As in a run, where a record that allows no item is listed as rejected.
            if context is not None:
                built.append(_as_chunks(item, context))
            if len(built) == each:
                break
        found += built
    return found


def _as_chunks(item: Item, context: Context) -> Hidden:
    if item.context is None or context.query is None or context.needle_start is None or context.needle_end is None:
        raise ValueError("no context with a needle and a query")
    chunks = split(item.context, CHUNK, OVERLAP)
    place = holds_needle(chunks, context.needle_start, context.needle_end).index(True)
    return Hidden(context.query, item.question, [chunk.text for chunk in chunks], place)


def timed(job: Callable[[list[str]], object], texts: list[str]) -> float:
    """Seconds that a job takes."""
    started = time.perf_counter()
    job(texts)
    return time.perf_counter() - started


def status_mb(name: str) -> float:
    """A line of this process's status on Linux: VmRSS is the memory it has, VmHWM the most since the peak was reset."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(f"{name}:"))) / 1024


if __name__ == "__main__":
    main()
