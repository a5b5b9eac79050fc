"""Count what the instruments of a run failed to do: persons out of their part, ratings and replies that cannot be read."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import polars as pl

from schemas.tables.responses import Answers
from tasks.analysis.number_format import listed
from tasks.analysis.run_tables import System
from tasks.judging.answers import SIMULATED
from tasks.metrics.attunebench.replies import is_unread
from tasks.metrics.item_scores import wholes_of
from tasks.solvers.annotate.annotate import DRAFT_JUDGE
from tasks.solvers.answers import ANSWER, ASKED, OWN_WORDS
from tasks.text.json_objects import read_object

if TYPE_CHECKING:
    from tasks.analysis.past_run import PastRun

MOST_FAULTY = 0.2
"""Share beyond which an instrument failed: the score then says more about it than about the model."""

Instrument = Literal["simulated person", "judge", "draft judge", "reader"]
"""`reader`: what takes an answer from the replies of the model under test."""

OF_DATASET = ["model", "setting", "dataset"]


@dataclass(frozen=True)
class InstrumentCount:
    """How much of what an instrument did for a system, in these datasets, is of no use.

    `name`: of its model; of the reader, of the gate, whose replies are counted apart; empty = none.
    """

    model: str
    setting: str
    instrument: Instrument
    name: str
    datasets: tuple[str, ...]
    faulty: int
    total: int

    @property
    def system(self) -> System:
        """Whom it is about."""
        return System(self.model, self.setting)

    @property
    def failed(self) -> bool:
        """Whether nothing that rests on it stands."""
        return self.faulty > MOST_FAULTY * self.total

    def concerns(self, datasets: Iterable[str]) -> bool:
        """Return whether it has to do with one of these datasets."""
        return not set(self.datasets).isdisjoint(datasets)

    @property
    def words(self) -> str:
        """What it failed to do, how often and where."""
        where = self.datasets[0] if len(self.datasets) == 1 else f"{len(self.datasets)} datasets"
        n = f"{self.faulty:,} of {self.total:,}"
        return {
            "simulated person": f"the simulated person fell out of its part in {n} dialogues of {where}",
            "judge": f"{n} ratings of judge {self.name} in {where} cannot be read",
            "draft judge": f"{n} replies of the draft judge {self.name} in {where} cannot be read",
            "reader": f"{n} replies of the model in {self.name or where} cannot be read",
        }[self.instrument]


def failed_instruments(counts: Iterable[InstrumentCount]) -> Mapping[System, str]:
    """Return by system, in words, which instruments failed; nothing of a system whose instruments all worked."""
    found = defaultdict[System, list[str]](list)
    for one in counts:
        if one.failed:
            found[one.system].append(one.words)
    return {system: listed(words) for system, words in found.items()}


def count_instruments(run: "PastRun") -> tuple[InstrumentCount, ...]:
    """Count what each instrument failed to do, by dataset; of replies of the model, over the gate and over all else.

    Raises:
        LakeError: if a partition is gone or changed.
    """
    counts = [*_simulated_persons(run), *_judges(run), *_draft_judges(run)]
    # Of a run of which only totals were kept no reply is known.
    counts += _readers(run) if run.partitions("raw_scores") else ()
    return tuple(one for one in counts if one.faulty)


def count_tainted(run: "PastRun") -> pl.DataFrame:
    """Return `dialogues` with a simulated person, and how many are `tainted` by a fault that counts: columns OF_DATASET."""
    faults = run.read("simulation_faults").filter(pl.col("refused").is_null()).unique(ANSWER)
    answers = run.read("answers").filter(SIMULATED) if run.partitions("simulation_faults") else Answers.create_empty()
    tainted = faults.group_by(OF_DATASET).agg(tainted=pl.len())
    counts = answers.group_by(OF_DATASET).agg(dialogues=pl.len()).join(tainted, on=OF_DATASET, how="left")
    return counts.with_columns(pl.col("tainted").fill_null(0)).sort(OF_DATASET)


def _simulated_persons(run: "PastRun") -> Iterator[InstrumentCount]:
    for model, setting, dataset, dialogues, tainted in count_tainted(run).iter_rows():
        yield InstrumentCount(model, setting, "simulated person", "", (dataset,), tainted, dialogues)


def _judges(run: "PastRun") -> Iterator[InstrumentCount]:
    """Count ratings whose reply came, of the judge and of each of a panel."""
    came = run.read("judgements").filter(pl.col("parse_status") != "failed").group_by(*OF_DATASET, "judge")
    counts = came.agg((pl.col("parse_status") == "unparsed").sum(), pl.len()).sort(*OF_DATASET, "judge")
    for model, setting, dataset, judge, unread, ratings in counts.iter_rows():
        yield InstrumentCount(model, setting, "judge", judge, (dataset,), unread, ratings)


def _draft_judges(run: "PastRun") -> Iterator[InstrumentCount]:
    judge = ", ".join(run.manifest.names_in(DRAFT_JUDGE))
    for model, setting, dataset, unread, came in _replies_by_part(run, of_judge=True).iter_rows():
        yield InstrumentCount(model, setting, "draft judge", judge, (dataset,), unread, came)


def _readers(run: "PastRun") -> Iterator[InstrumentCount]:
    """Count replies of the model under test over the datasets of the gate, and over the others: a verdict rests on either."""
    gate = run.blueprint.gate.ability if run.blueprint.gate else None
    titles = {name: main.title for main in run.blueprint.abilities if main.id == gate for name in main.dataset_ids}
    raw = run.layers["raw_scores"].filter(pl.col("n_scored") > 0)
    unparsed = raw.group_by(OF_DATASET).agg(unread=pl.col("n_unparsed").max(), came=pl.col("n_scored").max())
    by_part = _replies_by_part(run, of_judge=False)
    replies = pl.concat([by_part, unparsed.join(by_part, on="dataset", how="anti")]).sort(OF_DATASET)
    replies = replies.with_columns(gate=pl.col("dataset").replace_strict(titles, default="", return_dtype=pl.String))
    for (model, setting, title), rows in replies.group_by("model", "setting", "gate", maintain_order=True):
        system = System(str(model), str(setting))
        found = InstrumentCount(*system, "reader", str(title), tuple(rows["dataset"]), rows["unread"].sum(), rows["came"].sum())
        silent = sum(_count_silent(run, system, dataset) for dataset in found.datasets) if found.failed else 0
        yield replace(found, faulty=found.faulty - silent)


def _replies_by_part(run: "PastRun", *, of_judge: bool) -> pl.DataFrame:
    """Return OF_DATASET, `unread` and `came` of the datasets whose items are scored by all their parts together."""
    datasets = [name for name, dataset in run.blueprint.datasets.items() if wholes_of(dataset.methods)]
    answers = pl.concat([Answers.create_empty(), *(run.read("answers", dataset=name) for name in datasets)])
    replies = answers.drop_nulls("text").filter(pl.col("part").str.ends_with("judge") == of_judge)
    unread = [is_unread(part, read_object(text) or {}) for part, text in replies.select("part", "text").iter_rows()]
    counts = replies.with_columns(unread=pl.Series(unread, dtype=pl.Boolean)).group_by(OF_DATASET)
    return counts.agg(pl.col("unread").sum().cast(pl.Int64), came=pl.len().cast(pl.Int64)).sort(OF_DATASET)


def _count_silent(run: "PastRun", system: System, dataset: str) -> int:
    """Count unparsed replies that are empty or, as the server marked them, refusals: these are the model's own."""
    place = {"dataset": dataset, **system._asdict()}
    unread = run.read("item_scores", **place).filter(pl.col("status") == "unparsed").unique(ASKED)
    silent = (pl.col("remark") == "refusal") | (OWN_WORDS.str.strip_chars() == "")
    return unread.join(run.read("answers", **place).filter(silent), on=ASKED, how="semi").height
