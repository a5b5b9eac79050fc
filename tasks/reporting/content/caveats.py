"""Find missing scores, and everything else that lowers the trust in a total."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from schemas.lineage import RunManifest
from schemas.roles import JUDGE, PEOPLE
from schemas.usage import TESTED
from tasks.certificates.lookup import say_judges
from tasks.models.long_prompts import LEAST_WINDOW
from tasks.retrieval.embedding import BUNDLED, UNREAD_CHINESE
from tasks.runs.baselines import tell_no_better
from tasks.runs.evidence import restricted_notices
from tasks.runs.failures import METRIC, NOT_SENT, find_failures, name_role
from tasks.runs.run_tables import ReportData, Row, System
from tasks.runs.score_tree import explain_ability, scores_of
from tasks.solvers.answers import ANSWER, SAID
from tasks.solvers.registry import SOLVERS
from tasks.text.number_format import count, counted, listed, number, percent, share_of, shorten

WIDE_POINTS = 10.0
"""A 95 % interval of the total that spans more than this is worth a warning: the published ranks 1 to 28 span 7 points."""

LONG_PROMPT = 6000
"""Characters of a prompt that the smallest usual context, 2,048 tokens, may not hold."""


@dataclass(frozen=True)
class Caveat:
    """One reason for care: a few words for the sentence on top and a full sentence for the list below it."""

    short: str
    text: str


def count_replies(item_scores: pl.DataFrame) -> dict[str, int]:
    """Count items that were read, unparsed (by any of several methods), and that a judge failed on."""
    per_item = item_scores.group_by("dataset", "item_id", "repetition").agg(
        read=pl.col("status").is_in(["scored", "unparsed"]).any(),
        unparsed=(pl.col("status") == "unparsed").any(),
        judge_failed=(pl.col("status") == "judge_failed").any(),
    )
    return per_item.select(pl.col("read", "unparsed", "judge_failed").sum()).row(0, named=True)


def find_caveats(data: ReportData, system: System, totals: Row) -> tuple[Caveat, ...]:
    """Find everything that lowers the trust, the gravest kinds first; `totals`: the row of the system."""
    return (
        *_about_coverage(data, system, totals),
        *_about_replies(data, system, totals),
        *_about_constants(data, system),
        *_about_instruments(data, system),
        *_about_calls(data, system),
        *_about_the_embedder(data, system),
        *_about_the_judge(data, system),
        *_about_precision(totals),
    )


def _about_coverage(data: ReportData, system: System, totals: Row) -> Iterator[Caveat]:
    """Yield where the replies are from, and which datasets and rows are missing."""
    if digest := data.manifest.replies_file(system.model):
        yield Caveat("replies from a file", f"MoodFlow did not ask the model: its replies come from a file, SHA-256 {digest}.")
    scored, of = totals["datasets_scored"], totals["datasets_total"]
    if not scored:
        yield Caveat("nothing scored", "No dataset gave a score.")
    elif scored < of:
        share = percent(totals["coverage"])
        yield Caveat(
            f"coverage {share}",
            f"{scored} of {counted(of, 'dataset')} gave a score ({share}). The mean is over those alone, so it can move in "
            "either direction once the others are there.",
        )
    for gap in data.manifest.missing:
        if gap.rows:
            text = f"{gap.dataset} {gap.reason}. They count as missing, as far as the sample would have held them."
            yield Caveat(f"{counted(gap.rows, 'broken row')} of {gap.dataset}", text)


def _about_replies(data: ReportData, system: System, totals: Row) -> Iterator[Caveat]:
    read, unparsed, judge_failed = count_replies(system.of(data.item_scores)).values()
    if unparsed:
        share = percent(share_of(unparsed, read))
        errors = Counter(system.of(data.item_scores).drop_nulls("error").unique(ANSWER)["error"].sort())
        tallies = ", ".join(f"{error} {count(n)}" for error, n in errors.items())
        own = f" MoodFlow itself failed to read some; please report: {tallies}." if errors else ""
        yield Caveat(
            f"{share} of the replies unreadable",
            f"Replies that could not be read as an answer: {count(unparsed)} of {count(read)} ({share}). They count "
            "as wrong; if the model can be made to follow the answer format, its total may rise."
            f"{own}{_examples_of_unread(data, system)}",
        )
    failures = system.of(data.responses).filter(pl.col("status") == "failed")
    tested, was_sent = pl.col("role") == TESTED, pl.col("failure") != NOT_SENT
    failed, of_helpers, unsent = (failures.filter(whose).height for whose in (tested & was_sent, ~tested & was_sent, ~was_sent))
    n_asked = int(system.of(data.raw_scores).group_by("dataset").agg(pl.col("n_total").max())["n_total"].sum())
    lost = n_asked - totals["n_scored"]
    if lost:
        causes = [counted(failed, "failed call")] if failed else []
        causes += [counted(of_helpers, "failed call of a helper", "failed calls of helpers")] if of_helpers else []
        causes += [counted(judge_failed, "missing rating")] if judge_failed else []
        causes += [counted(unsent, "call not sent", "calls not sent")] if unsent else []
        because = f" ({listed(causes)})" if causes else ""
        yield Caveat(
            f"{counted(lost, 'item')} without score",
            f"Items without a score: {count(lost)} of {count(n_asked)} asked{because}. They are left out, not counted "
            "as wrong; a repeated run asks only these again.",
        )
    elif failed:
        text = f"{counted(failed, 'call')} to the model failed. Each item has a score, of what does not rest on them."
        yield Caveat(counted(failed, "failed call"), text)


def _about_constants(data: ReportData, system: System) -> Iterator[Caveat]:
    scores = scores_of(data.layers, system, data.baselines)
    mains = (explain_ability(scores, main, data.blueprint) for main in data.blueprint.abilities if main.dataset_ids)
    if told := [said for part in mains for said in tell_no_better(part.title, part.score, part.constant)]:
        yield Caveat("no better than constant answers", f"{'; '.join(told)}.")


def _about_instruments(data: ReportData, system: System) -> Iterator[Caveat]:
    unread = system.of(data.item_scores).filter(pl.col("status") == "unparsed").height  # told above, with examples
    for tally in data.instruments:
        if (tally.model, tally.setting) == system and not tally.failed and not (unread and tally.instrument == "reader"):
            yield Caveat(tally.words, f"{tally.words[0].upper()}{tally.words[1:]}.")


def _examples_of_unread(data: ReportData, system: System) -> str:
    """Return where most replies were unreadable, and three of them, of different datasets if there are: none that is withheld."""
    key = ["dataset", "item_id", "repetition", "part"]
    unread = system.of(data.item_scores).filter(pl.col("status") == "unparsed").unique(key).sort(key)
    items = Counter(unread.unique(["dataset", "item_id", "repetition"])["dataset"].to_list())
    most = [f"{dataset} {count(n)}" for dataset, n in sorted(items.items(), key=lambda entry: (-entry[1], entry[0]))]
    hidden = [notice.id for notice in restricted_notices(data)] if data.manifest.redacted else []
    replies = system.of(data.answers).with_columns(reply=SAID).select(*key, "reply")
    quotable = unread.filter(~pl.col("dataset").is_in(hidden)).join(replies, on=key)
    in_turn = quotable.with_columns(turn=pl.int_range(pl.len()).over("dataset")).sort("turn", *key)
    rows = in_turn.head(MAX_NAMES).iter_rows(named=True)
    quoted = [f"“{shorten(row['reply'], MAX_QUOTED)}” ({row['dataset']}, item {row['item_id']})" for row in rows]
    return f" By dataset: {_names(most)}." + (f" Such as {listed(quoted)}." if quoted else "")


def _about_calls(data: ReportData, system: System) -> Iterator[Caveat]:
    answered = system.of(data.responses).filter(pl.col("status") == "answered", pl.col("role") == TESTED)
    items = ["dataset", "item_id"]
    shortened = answered.filter(pl.col("left_out_characters") > 0).select(items).n_unique()
    if shortened:
        yield Caveat(
            f"{counted(shortened, 'item')} shortened",
            f"{counted(shortened, 'item')} did not fit the model's context and {'was' if shortened == 1 else 'were'} asked with "
            "a part of the text left out, as the policy for long items says.",
        )
    is_long, tokens = pl.col("messages").str.len_chars() > LONG_PROMPT, pl.col("prompt_tokens")
    if unseen := answered.filter(is_long & (tokens.is_null() | (tokens < LEAST_WINDOW))).select(items).n_unique():
        yield Caveat(
            f"{counted(unseen, 'long prompt')} uncounted",
            f"The prompt of {counted(unseen, 'item')} is long, and the server's count of its tokens is missing or far too low, "
            "so it may have been cut; moodflow models check tries a long prompt.",
        )
    ends = answered.filter(pl.col("remark") == "unknown_end")
    if ends.height:
        reasons = _names([shorten(reason, MAX_QUOTED) for reason in ends["finish_reason"].unique().sort()])
        yield Caveat("unknown ends", f"{counted(ends.height, 'reply', 'replies')} ended for an unknown reason: {reasons}.")
    others = answered.filter(pl.col("remark") == "other_model")["answered_by"].unique().sort().to_list()
    if others:
        calls = answered.filter(pl.col("remark") == "other_model").height
        yield Caveat(
            "answered by another model",
            f"{counted(calls, 'reply', 'replies')} came from a model that the server calls {listed(others)}; "
            "--set models.require_same_model=true makes them failures.",
        )


def _about_the_embedder(data: ReportData, system: System) -> Iterator[Caveat]:
    options = data.manifest.plan.get("retrieval") or {}
    chinese = data.items.filter(pl.col("language") == "zh").height
    embeds = system.setting in SOLVERS and SOLVERS[system.setting].retrieves and options.get("ranking") != "bm25"
    if chinese and embeds and options.get("embedder") == BUNDLED:
        yield Caveat("Chinese retrieved by an English model", f"{counted(chinese, 'item')} in Chinese: {UNREAD_CHINESE}.")


def _about_the_judge(data: ReportData, system: System) -> Iterator[Caveat]:
    judges = data.manifest.models_in(JUDGE)
    judged = {method.id for dataset in data.blueprint.datasets.values() for method in dataset.methods if method.judged}
    has_judged = system.of(data.raw_scores).filter(pl.col("method").is_in(sorted(judged)) & pl.col("value").is_not_null()).height
    if not judges or not has_judged:
        return
    if doubtful := [each for each in data.judges if not each.may_rank]:
        yield Caveat("a judge without a certificate", " ".join(f"{line}." for line in say_judges(doubtful)))
    calls = system.of(data.judgements).filter(pl.col("judge") != PEOPLE).unique("call_key")
    if repaired := calls.filter(pl.col("parse_status") == "repaired").height:
        yield Caveat(
            f"{counted(repaired, 'rating')} repaired",
            f"{count(repaired)} of {counted(calls.height, 'reply', 'replies')} of the judge had another form than was asked for, "
            "such as a number in quotes, but left no doubt about the rating. They count.",
        )
    own = [model.get("identity") for model in data.manifest.plan.get("models", ()) if model["name"] == system.model]
    if any(judge["name"] == system.model and judge.get("identity") in own for judge in judges):
        yield Caveat(
            "judged by itself",
            "The model judged its own free-text answers. Models tend to favour their own wording; name another judge.",
        )


def _about_precision(totals: Row) -> Iterator[Caveat]:
    low, high = totals["ci_low"], totals["ci_high"]
    if totals["total_before_veto"] is None:
        return
    if low is None or high is None:
        yield Caveat("no interval", "No 95 % interval was computed, so how far chance moved the total is unknown.")
    elif high - low > WIDE_POINTS:
        spread = number(high - low, 0)
        text = f"The 95 % interval of the total spans {spread} points; more items per dataset would narrow it."
        yield Caveat("wide interval", text)


STATUS_WORDS = {"call_failed": "failed call", "judge_failed": "missing rating", "not_counted": "filler item"}
MAX_NAMES = 3
MAX_QUOTED = 120
"""Characters of a reply that is quoted as an example."""


@dataclass(frozen=True)
class MissingScores:
    """Reasons by dataset and system, gathered from the manifest and the status of the items.

    `lacking`: items by whom the dataset or one of its numbers is about (columns METRIC, as far as they go), and by their status
    and whose call failed.
    """

    manifest: RunManifest
    lacking: dict[tuple[str, ...], dict[tuple[str, str | None], int]]

    def reason(self, system: System, dataset: str, *number: str) -> str:
        """Return why this dataset, or a number of it (method, metric), gave this system no score; the most specific known."""
        of_dataset = [gap for gap in self.manifest.missing if gap.rows is None and gap.dataset == dataset]
        noted = [gap for gap in of_dataset if gap.model in {None, system.model} and gap.setting in {None, system.setting}]
        if noted:
            return max(noted, key=lambda gap: (gap.model is not None) + (gap.setting is not None)).reason
        if dataset not in (self.manifest.plan.get("datasets") or [dataset]):
            return "not selected for this run"
        lacking = self.lacking.get((*system, dataset, *number), {})
        parts = [counted(n, *self._words(status, role, system.model)) for (status, role), n in lacking.items()]
        return f"nothing scored: {', '.join(parts)}" if parts else "no replies in this run"

    def _words(self, status: str, role: str | None, model: str) -> tuple[str, ...]:
        """Return what became of items: a word for one, and one for several."""
        if role == NOT_SENT:
            return "call not sent", "calls not sent"
        whose = f" of the {name_role(self.manifest, role, model)}" if status == "call_failed" and role and role != TESTED else ""
        return tuple(f"{STATUS_WORDS[status]}{ending}{whose}" for ending in ("", "s"))

    def reasons(self, system: System, datasets: list[str]) -> str:
        """Return the reasons of several datasets, each said once, the commonest first; with names where reasons differ."""
        by_reason: dict[str, list[str]] = defaultdict(list)
        for dataset in datasets:
            by_reason[self.reason(system, dataset)].append(dataset)
        if len(by_reason) == 1:
            return next(iter(by_reason))
        ordered = sorted(by_reason.items(), key=lambda entry: -len(entry[1]))
        return "; ".join(f"{reason} ({_names(names)})" for reason, names in ordered)


def _names(names: list[str]) -> str:
    return listed(names) if len(names) <= MAX_NAMES else f"{', '.join(names[:MAX_NAMES])} and {len(names) - MAX_NAMES} more"


def find_missing_scores(data: ReportData) -> MissingScores:
    """Gather what is known about datasets, and numbers of them, without a score."""
    fillers = data.item_scores.filter(pl.col("status") == "not_counted").with_columns(failed_role=pl.lit(None, pl.String))
    rows = pl.concat([find_failures(data.item_scores, data.answers), fillers])
    lacking: dict[tuple[str, ...], dict[tuple[str, str | None], int]] = defaultdict(dict)
    for of in (METRIC[:3], METRIC):
        counts = rows.group_by(*of, "status", "failed_role").agg(pl.struct("item_id", "repetition").n_unique())
        for *about, status, role, n in counts.sort("status", "failed_role", descending=[False, True]).iter_rows():
            lacking[tuple(about)][status, role] = n
    return MissingScores(data.manifest, dict(lacking))
