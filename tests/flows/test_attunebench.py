"""AttuneBench as a user runs it: models that know the annotations, copy the mood or always say yes, and a judge of drafts."""

import json
import re
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import fmean
from typing import Any

import polars as pl
import pytest

from tasks.benchmarks.attunebench.conversation import TurnGold
from tasks.sources.locating import BUNDLED
from tests.flows.annotating import MODELS, Messages, conversations, judge, knowing, port_blueprint
from tests.flows.command import Ended, ended
from tests.flows.scripted_roles import layer, rows_of
from tests.model_server import ModelServer
from tests.tasks.benchmarks.attunebench.datasets.conversations import TURN, at, conversation, write_folder
from tests.tasks.benchmarks.attunebench.metrics import official
from tests.tasks.reporting.pages import section


def share_of_yes(side: str) -> float:
    """What always saying yes earns, in percent: shares of turns, averaged over turns, then over conversations."""

    def of_turn(turn: TurnGold) -> float:
        said = [getattr(one, side) for one in turn.judgements]
        return said.count("yes") / (said.count("yes") + said.count("no"))

    return 100 * fmean(fmean(map(of_turn, gold.turns)) for gold, _ in conversations().values())


def total(done: Ended, model: str) -> float:
    (score,) = (row["total"] for row in done.document["models"] if row["model"] == model)
    return float(score)


def raw(done: Ended, model: str) -> dict[str, float]:
    return {row["metric"]: row["value"] for row in done.document["raw_scores"] if row["model"] == model}


def test_from_the_conversation_to_the_score(tmp_path: Path) -> None:
    lake, named = tmp_path / "lake", tmp_path / "models.yaml"
    with ExitStack() as stack:
        servers = {name: stack.enter_context(ModelServer(knowing(change))) for name, change in MODELS.items()}
        rating = stack.enter_context(ModelServer(judge))
        entries = [{"name": name, "base_url": server.base_url} for name, server in servers.items()]
        roles = {"draft_judge": {"name": "judge", "base_url": rating.base_url}}
        named.write_text(json.dumps({"models": entries, "roles": roles}))
        command = ("--config", named, "--lake", lake, "--json")
        forecast = ended("run", "attunebench-mini", *command, "--dry-run")
        assert sum(server.calls for server in (*servers.values(), rating)) == 0
        done = ended("run", "attunebench-mini", *command)
        # The port scores the same replies: it finds them all, and asks nothing.
        port = ended("score", port_blueprint("attunebench-mini", tmp_path), *command)
        # Four conversations of three turns: 4 x 3 + 1 calls to each model, and 3 to the judge, who is sent equal drafts once.
        assert {name: (server.calls, server.repeated) for name, server in servers.items()} == dict.fromkeys(MODELS, (52, 0))
        assert (rating.calls, rating.repeated) == (12, 0)
        (entry, *_) = entries
        alone = ended("run", "attunebench-mini", "--model", "oracle", "--base-url", entry["base_url"], *command[2:])
        # Without a judge these are other partitions; their calls are those of before.
        assert (servers["oracle"].calls, servers["oracle"].repeated) == (52, 0)
    assert [run.status for run in (forecast, done, port, alone)] == [0] * 4, done.err + port.err + alone.err
    assert_calls(forecast.document, done.document, layer(lake, "answers"))
    of_port = {row["model"]: row["total"] for row in rows_of(lake, port.document, "totals")}
    assert_scores(done, of_port, alone)
    assert_shown(done.document, lake)
    assert_headlines(done.document, alone.document)


def assert_calls(forecast: dict[str, Any], document: dict[str, Any], answers: pl.DataFrame) -> None:
    """5T + 1 of them are foreseen, and stand behind the numbers; each gives one answer."""
    foreseen = {(row["model"], row["role"]): 0 for row in forecast["datasets"]}
    for row in forecast["datasets"]:
        foreseen[row["model"], row["role"]] += row["calls"]
    assert foreseen == {**{(name, "tested"): 52 for name in MODELS}, ("judge", "draft_judge"): 36}
    assert {(row["model"], row["role"]): row["calls"] for row in document["usage"]} == foreseen
    (item,) = answers.filter(model="yes").unique("item_id").sort("item_id").head(1)["item_id"]
    parts = answers.filter(model="yes", item_id=item)["part"]
    calls = ("draft", "judge", "review", "hp_binary", "pairwise")
    assert set(parts) == {"post", *(f"turn {number} {call}" for number in (1, 2, 3) for call in calls)}
    assert len(parts) == 16


def assert_scores(done: Ended, port: dict[str, float], alone: Ended) -> None:
    """Known models have known scores; the mood changed in three of the four conversations."""
    assert total(done, "oracle") == total(alone, "oracle") == pytest.approx(100)
    # Where the mood did not change, nobody can be compared with who copies it: that conversation has 100.
    assert total(done, "copier") == pytest.approx((3 * 94.6 + 100) / 4)
    # The port gives half of the points there, to all.
    assert port["copier"] == pytest.approx(94.6)
    assert port["oracle"] == pytest.approx((3 * 100 + 94.6) / 4)
    values, unjudged = raw(done, "yes"), raw(alone, "oracle")
    branches = ("perceiving", "facilitating", "understanding", "managing")
    assert [unjudged["emotion_intensity_mae"], *(unjudged[f"branch_{name}"] for name in branches)] == [0, 1, 1, 1, 1]
    for metric, side in {"binary_om_accuracy": "observed", "binary_human_accuracy": "preferred"}.items():
        assert 100 * values[metric] == 100 * values[f"{metric}_hp"] == pytest.approx(share_of_yes(side))
    # Ratings of 5, 6, 4 and 5 have the mean 5, and 4 of 6 steps; the judge says yes to everything.
    assert values["draft_judge_score"] == pytest.approx(4 / 6)
    assert 100 * values["draft_binary_alignment"] == pytest.approx(share_of_yes("preferred"))
    assert unjudged["draft_judge_score"] is unjudged["draft_binary_alignment"] is None


def assert_headlines(document: dict[str, Any], alone: dict[str, Any]) -> None:
    """Capabilities and pillars lead the page, composite last; what nobody judged is missing; and what stands behind them."""
    judged, unjudged = (section(Path(one["report"]).read_text(encoding="utf-8"), "headlines") for one in (document, alone))
    heads = "Emotion Behaviour Preference Judged drafts Behaviour and preference Whole conversation Composite"
    whole = "100.00 51.01 to 100.00 4"  # Wilson: 4 / (4 + 3.841)
    assert f"Model {heads} oracle (Annotate) {whole} {whole} {whole}" in judged
    assert f"{heads} oracle (Annotate) {whole} {whole} {whole} – {whole}" in unjudged
    assert "A rank correlation needs three models." in unjudged
    (headlines,) = alone["headlines"]
    (drafts,) = (row for row in headlines["scores"] if row["headline"] == "Judged drafts")
    assert (drafts["score"], drafts["n"]) == (None, 0)
    # Who always says yes judges worst, and is as good as the others elsewhere: no order there.
    rho = document["headlines"][0]["correlations"]["annotate"]["Behaviour"]
    assert (rho["Behaviour and preference"], rho["Emotion"]) == (pytest.approx(1), None)
    found = {row["model"]: row for row in document["annotations"]}
    assert [side["mcc"] for row in found["yes"]["judgements"] for side in (row["observer"], row["participant"])] == [0] * 4
    assert {row["recall"] for row in found["oracle"]["emotions"]} == {1}
    assert all(row["mean"] == row["intensity"] for row in found["oracle"]["intensities"])
    assert [(row["turn"], row["n"]) for row in found["oracle"]["turns"]] == [(1, 4), (2, 4), (3, 4)]


def assert_shown(document: dict[str, Any], lake: Path) -> None:
    """The report names judge, mode and strategy; a number is explained down to the replies; and the run is verified."""
    page = Path(document["report"]).read_text(encoding="utf-8")
    assert '<th scope="row">Draft judge</th>' in page
    for option in ("mode=&#34;default", "strategy=&#34;absolute", "labels=&#34;neutral"):
        assert f"solvers.annotate.{option}&#34;" in page
    assert "orders chunks" not in page
    assert "emotion_intensity_mae (lower is better; not in the total)" in page
    # What counts explains an example, though other metrics stand before it.
    assert "against the best reference" not in page  # there is none
    told = ended("explain", document["run"], "--dataset", "attunebench_mini", "--model", "copier", "--lake", lake)
    assert (told.status, "95.95" in told.out) == (0, True)
    # Ten of the sixteen answers, and what all of them together earn.
    (first,) = re.findall(r"\n  Part post:\n  Reply: .*?(?=\n\n)", told.out, flags=re.DOTALL)[:1]
    assert (first.count("\n  Part "), first.count("\n  Reply: ")) == (10, 10)
    assert "\n  and 6 more parts: --item " in first
    assert first.index("more parts") < first.index("composite_score ")
    item = layer(lake, "items")["item_id"][0]
    row = ended("explain", document["run"], "--dataset", "attunebench_mini", "--model", "yes", "--item", item, "--lake", lake)
    assert (row.status, "turn 2 hp_binary" in row.out) == (0, True)
    split = ended("explain", document["run"], "--where", "who_5 < 13 AND country IS NOT NULL", "--lake", lake, "--json")
    assert (split.status, sum(split.document["items"].values())) == (0, 4)
    assert {"topic", "diagnoses", "who_5", "tipi_openness"} <= set(split.document["columns"])
    # The first conversation alone is about that, by a person who is tense.
    for where in ("subtopic = 'Passed over for a post'", "topic_attitude LIKE 'Tense%'"):
        alone = ended("explain", document["run"], "--where", where, "--lake", lake, "--json").document
        assert alone["items"] == {"subset": 1, "complement": 3, "unknown": 0}
    checked = ended("verify", document["run"], "--lake", lake)
    assert checked.status == 0, checked.out


def judged_by(folder: Path, model: str, judge: str, **own: str) -> tuple[str | Path, ...]:
    file = folder / f"{judge.rpartition(':')[2].partition('/')[0]}.json"
    role = {"draft_judge": {"name": "judge", "base_url": judge, **own}}
    file.write_text(json.dumps({"models": [{"name": "oracle", "base_url": model, **own}], "roles": role}))
    return ("--config", file, "--json")


def first_words(messages: Messages) -> str:
    """What a model says that begins with a draft in no form."""
    return "I hear you." if len(messages) == 2 else knowing(MODELS["oracle"])(messages)


@pytest.mark.long
def test_a_run_comes_back_from_its_result_files(tmp_path: Path) -> None:
    lake, folder, new = tmp_path / "lake", tmp_path / "files", tmp_path / "new"
    with ModelServer(first_words) as model, ModelServer(judge) as mild, ModelServer(lambda _: '{"overall_score": 1}') as harsh:
        options, others = (judged_by(tmp_path, model.base_url, one.base_url) for one in (mild, harsh))
        done, anew = (ended("run", "attunebench-mini", *one, "--lake", lake) for one in (options, others))
        port = ended("run", port_blueprint("attunebench-mini", tmp_path), *options, "--lake", lake)
        assert (model.calls, mild.calls, harsh.calls) == (52, 12, 12)
    # Of 13 replies about each conversation one, the first draft, is in no form.
    page = Path(done.document["report"]).read_text(encoding="utf-8")
    assert "4 of 52 replies of the model in attunebench_mini cannot be read" in page
    changed = {name for name, value in raw(anew, "oracle").items() if value != raw(done, "oracle")[name]}
    assert changed == {"draft_judge_score", "draft_binary_alignment"}
    written = ended("runs", "export", done.document["run"], "--to", folder, "--lake", lake, "--json")
    assert (written.status, len(written.document["files"])) == (0, 5), written.err
    scores = json.loads((folder / "scores-corrected.json").read_text(encoding="utf-8"))
    assert scores["metadata"]["ground_truth_path"] == "attunebench_mini.jsonl"
    (means,) = scores["aggregates"]
    assert (means["n_conversations"], means["composite_score"]) == (4, pytest.approx(total(done, "oracle")))
    assert_official_scores(port.document["run"], tmp_path / "port", lake)
    # All servers are closed. 4 x 13 calls to the model, 12 to the judge
    taken = ended("journal", "import", folder, "attunebench-mini", *options, "--lake", new)
    assert (taken.status, taken.document["added"], taken.document["refused"]) == (0, 64, 0), taken.err
    again = ended("run", "attunebench-mini", *options, "--lake", new)
    assert (again.document["calls"]["sent"], again.scores) == (0, done.scores), again.err


def test_odd_fields_are_told_and_cost_no_conversation(tmp_path: Path) -> None:
    records = {str(number): conversation(number) for number in range(1, 4)}
    at(*TURN, "moodShiftTags", value=[{"emotion": "Upset", "intensity": 9}])(records["2"])
    at("participant_profile")(records["3"])
    folder, lake = write_folder(tmp_path / "set", records), tmp_path / "lake"
    built = ended("build", "attunebench", "--set", f"folders.attunebench={folder}", "--lake", lake)
    assert built.status == 0, built.err
    told = "attunebench has 2 items with odd fields: remarks of conversation_annotations say how they were read"
    assert told in " ".join(built.err.split())
    assert layer(lake, "items").height == 3
    assert not (lake / "items_rejected").exists()


def copying_omniscient(messages: Messages) -> str:
    """What a model says that copies the mood where it is shown who wrote, and knows everything elsewhere."""
    shown = "Before the first message you are told" in messages[0]["content"]
    return knowing(MODELS["copier" if shown else "oracle"])(messages)


MODES = ("default", "verbose", "omniscient", "verbose_omniscient")


@pytest.mark.parametrize(
    ("value", "modes"),
    [("default,omniscient", ("default", "omniscient")), pytest.param("all", MODES, marks=pytest.mark.long)],
    ids=["two", "all"],
)
def test_one_command_asks_several_modes(tmp_path: Path, value: str, modes: tuple[str, ...]) -> None:
    with ModelServer(copying_omniscient) as server:
        model = ("--model", "m", "--base-url", server.base_url, "--lake", tmp_path / "lake")
        shown = ended("run", "attunebench-mini", *model, "--vary", f"solvers.annotate.mode={value}")
        # Of each mode 4 x 13 calls.
        assert (server.calls, server.repeated) == (len(modes) * 52, 0)
    assert shown.status == 0, shown.err
    side_by_side = shown.out[shown.out.index("m (Annotate): attunebench_mini") :]
    rows = [line.split() for line in side_by_side.splitlines() if line.strip().startswith("solvers.annotate.mode=")][: len(modes)]
    assert [row[0] for row in rows] == [f"solvers.annotate.mode={mode}" for mode in modes]
    # Emotion, behaviour, preference, no judge, both behaviour and preference; b is 0 in three, so 0.2 of 1 are lost there. In the
    # composite, which is the total, these three have 94.6 and the fourth 100.
    assert [row[1:] for row in rows] == [
        ["100.00"] * 3 + ["–", "100.00", *(["85.00", "95.95"] if shows(mode) else ["100.00"] * 2)] for mode in modes
    ]


def shows(mode: str) -> bool:
    """Whether a mode shows who wrote, so that the mood is copied."""
    return mode.endswith("omniscient")


def test_a_failed_call_ends_the_port_with_1(tmp_path: Path) -> None:
    """One of 52 calls fails, and the port scores it as an empty reply: nothing lacks a score."""
    with ModelServer(knowing(MODELS["oracle"]), fault=lambda number: "context_too_long" if number == 5 else None) as server:
        model = ("--model", "oracle", "--base-url", server.base_url, "--lake", tmp_path / "lake", "--json")
        done = ended("run", port_blueprint("attunebench-mini", tmp_path), *model)
    assert (done.status, done.document["calls"]["failed"]) == (1, 1), done.err
    of_all = [row for row in done.document["raw_scores"] if not row["metric"].startswith(("draft", "panas"))]
    assert all(row["n_scored"] == row["n_total"] == 4 for row in of_all)


def answered(folder: Path, wave: Path, says: Callable[[Messages], str]) -> Path:
    """A log of others who answered every call: samples of the first ten, the rest as a batch."""
    rows = []
    files = (wave / "attunebench-mini.jsonl", wave / "attunebench-mini" / "documents.jsonl")
    lines = zip(*(file.read_text(encoding="utf-8").splitlines() for file in files), strict=True)
    for number, (call, document) in enumerate(map(json.loads, pair) for pair in lines):
        text = says(call["body"]["messages"])
        body = {"choices": [{"message": {"content": text}}]}
        sample = {"doc": document, "resps": [[text]]}
        rows.append(sample if number < 10 else {"custom_id": call["custom_id"], "response": {"status_code": 200, "body": body}})
    log = folder / f"{wave.name}.jsonl"
    log.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return log


def test_others_answer_the_calls_in_two_waves(tmp_path: Path) -> None:
    lake, nobody = ("--lake", tmp_path / "lake"), "http://127.0.0.1:9/v1"
    options = judged_by(tmp_path, nobody, nobody, identity="another harness")
    # 4 x 13 calls to the model; then the judge's about twelve drafts
    for wave, calls, says in (("first", 52, knowing(MODELS["oracle"])), ("second", 12, judge)):
        asked = ended("journal", "requests", "attunebench-mini", *options, *lake, "--to", tmp_path / wave)
        assert (asked.document["calls"], len(asked.document["files"])) == (calls, 1), asked.err
        log = answered(tmp_path, tmp_path / wave, says)
        taken = ended("journal", "import", log, "--requests", tmp_path / wave, *lake, "--json")
        assert (taken.status, taken.document["added"]) == (0, calls), taken.err
    done = ended("run", "attunebench-mini", *options, *lake)
    assert done.document["calls"]["sent"] == 0, done.err
    assert total(done, "oracle") == pytest.approx(100)
    assert raw(done, "oracle")["draft_judge_score"] == pytest.approx(4 / 6)


def assert_official_scores(run: str, folder: Path, lake: Path) -> None:
    """The official rules make of the records and of the result files what our score file of the port has."""
    written = ended("runs", "export", run, "--to", folder, "--lake", lake, "--json")
    ours = json.loads((folder / "scores-reference.json").read_text(encoding="utf-8"))["conversations"]
    lines = (BUNDLED / "attunebench_mini.jsonl").read_text(encoding="utf-8").splitlines()
    records = {record["conversationId"]: record for record in map(json.loads, lines) if "conversationId" in record}
    files = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*_default.json")]
    assert (written.status, len(files), len(ours)) == (0, 4, 4), written.err
    found = {row["conversationId"]: row for row in ours}
    for file in files:
        row = found[file["conversationId"]]
        theirs = official.score(records[file["conversationId"]], file)
        assert {name: row.get(name) for name in theirs} == {
            name: value if value is None else pytest.approx(value, abs=0.0100001 if "composite" in name else 1e-9)
            for name, value in theirs.items()
        }
