"""How long statistics of judges beside people take, with intervals, and in how much memory.

    statistics  four judges and one human on seven dimensions of 10,000 replies, 350,000 ratings, 1,000 conversations as clusters

Usage: python benchmarks/judges.py --mirror FOLDER [--resamples 1000]
"""

import argparse
import resource
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import polars as pl  # noqa: E402  the project is imported from its folder

from tasks.certificates.agreement import certificates  # noqa: E402
from tasks.certificates.joining import JUDGED, JoinedRatings  # noqa: E402
from tasks.statistics.resampling import Resampling  # noqa: E402

RATINGS = "github.com/abeerbadawi/MentalBench-Align/MentalAlign-70k/ratings.parquet"
AIM_S, AIM_MB = 20, 1000


def read(file: Path) -> JoinedRatings:
    """Return the human's ratings and those of the judges."""
    rows = pl.read_parquet(file).drop_nulls("rating")
    unit = (pl.lit("mental_align").alias("source"), pl.col("conversation_id").cast(pl.String).alias("unit_id"))
    named = rows.with_columns(*unit, system="responder", rubric=pl.lit("r"), lowest=1.0, highest=5.0, value="rating")
    people = named.filter(judge="human").rename({"judge": "rater"})
    stated = people.with_columns(
        cluster_id=None, rater_known=True, higher_is_better=True, scale=pl.lit([1.0, 2, 3, 4, 5], pl.List(pl.Float64))
    )
    return JoinedRatings(stated, named.filter(pl.col("judge") != "human").select(JUDGED.names()).cast(JUDGED), {})


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirror", type=Path, required=True, help="folder of source files, as of moodflow run")
    parser.add_argument("--resamples", type=int, default=1000)
    options = parser.parse_args()
    joined = read(options.mirror / RATINGS)
    began, cpu = time.perf_counter(), time.process_time()
    table = certificates(joined, Resampling(options.resamples, 0))
    seconds, cpu_s = time.perf_counter() - began, time.process_time() - cpu
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"statistics: {joined.people.height + joined.judges.height:,} ratings, {table.height} rows, {options.resamples} resamples"
    )
    print(f"{seconds:.1f} s, {cpu_s:.1f} s of processor (aim below {AIM_S}), {peak_mb:.0f} MB peak (aim below {AIM_MB})")


if __name__ == "__main__":
    main()
