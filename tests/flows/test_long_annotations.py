"""AttuneBench on generated conversations over HTTP: models of known skill, a run that is killed, failed calls, broken files."""

import json
import os
import sys
import time
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from typing import Any

import polars as pl
import pytest
from prefect.settings import PREFECT_API_AUTH_STRING

from schemas.attunebench import ConversationGold
from tasks.models.http import client as limits
from tasks.models.http.failures import RETRIES
from tests.crashes.commands import kept_replies, partitions
from tests.flows.annotating import MODELS, conversations, invert, judge, knowing, port_blueprint, toss
from tests.flows.command import Ended, ended
from tests.flows.scripted_roles import layer
from tests.flows.test_role_play import killed
from tests.model_server import Fault, ModelServer
from tests.tasks.datasets.attunebench.conversations import malformed, varied, write_folder

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("prefect_server")]

ALL = {**MODELS, "inverted": invert, "coin": toss}


def generated(folder: Path, conversations: int) -> Path:
    return write_folder(folder / "set", {str(number): varied(number) for number in range(1, conversations + 1)})


def run(server: ModelServer, folder: Path, lake: Path, *more: str) -> tuple[str, ...]:
    model = ("--model", "oracle", "--base-url", server.base_url, "--lake", str(lake), "--set", f"folders.attunebench={folder}")
    return ("run", "attunebench", *model, "--set", "bootstrap=0", *more)


def totals(done: Ended) -> dict[str, float]:
    return {row["model"]: row["total"] for row in done.document["models"]}


def raw(done: Ended) -> dict[tuple[str, str], float]:
    return {(row["model"], row["metric"]): row["value"] for row in done.document["raw_scores"]}


def test_models_of_known_skill_have_known_scores(tmp_path: Path) -> None:
    folder = generated(tmp_path, 200)
    known = [gold for gold, _ in conversations(folder).values()]
    turns = [len(gold.turns) for gold in known]
    assert (len(known), set(turns)) == (200, {3, 4, 5, 6, 7, 8})
    with ExitStack() as stack:
        servers = {name: stack.enter_context(ModelServer(knowing(change, folder))) for name, change in ALL.items()}
        rating = stack.enter_context(ModelServer(judge))
        entries = [{"name": name, "base_url": server.base_url} for name, server in servers.items()]
        named = tmp_path / "models.json"
        named.write_text(
            json.dumps({"models": entries, "roles": {"draft_judge": {"name": "judge", "base_url": rating.base_url}}})
        )
        command = ("--config", named, "--lake", tmp_path / "lake", "--set", f"folders.attunebench={folder}", "--json")
        done = ended("run", "attunebench", *command)
        port = ended("run", port_blueprint("attunebench", tmp_path), *command)
        # 4T + 1 calls to each model in both runs together, and T to the judge, to whom all models' drafts are the same.
        sent = {name: (server.calls, server.repeated) for name, server in servers.items()}
        assert sent == dict.fromkeys(ALL, (sum(4 * number + 1 for number in turns), 0))
        assert (rating.calls, rating.repeated) == (sum(turns), 0)
    assert (done.status, port.status) == (0, 0), done.err + port.err
    assert_totals(totals(done), totals(port), known)
    values = raw(done)
    assert values["copier", "panas_baseline_adjusted"] == 0
    assert values["inverted", "pairwise_accuracy"] == 0
    # Each of the 12 T tosses of a conversation is right half of the time: four standard errors of the mean over conversations.
    error = 4 * sum(0.25 / (12 * number) for number in turns) ** 0.5 / len(turns)
    assert 0 < abs(values["coin", "pairwise_accuracy"] - 0.5) < error < 0.02
    assert_pooled(done.document)


def assert_totals(ours: dict[str, float], port: dict[str, float], known: list[ConversationGold]) -> None:
    """Where the mood did not change, the port gives half of the points for it: 100 x 0.27 x 0.4 x 0.5 are out of reach."""
    still = fmean(gold.pre_panas.recomputed == gold.post_panas.recomputed for gold in known)
    assert 0.3 < still < 0.4
    assert ours["oracle"] == pytest.approx(100, abs=1e-9)
    assert ours["copier"] == pytest.approx(100 * still + 94.6 * (1 - still), abs=1e-9)
    assert port["oracle"] == pytest.approx(94.6 * still + 100 * (1 - still), abs=1e-9)
    assert port["copier"] == pytest.approx(94.6, abs=1e-9)


def assert_pooled(document: dict[str, Any]) -> None:
    """Pooled over all judgements, who says yes to all knows nothing, and who says the opposite knows it all the wrong way."""
    found: dict[str, set[float]] = {name: set() for name in ALL}
    for row in document["annotations"]:
        sides = [judged[side] for judged in row["judgements"] for side in ("observer", "participant")]
        found[row["model"]].update(round(side["mcc"], 9) for side in sides)
    assert (found["oracle"], found["yes"], found["inverted"]) == ({1}, {0}, {-1})


def test_scores_after_five_kills_are_those_of_an_undisturbed_run(tmp_path: Path, prefect_server: str) -> None:
    environment = {**os.environ, "PREFECT_API_URL": prefect_server, "PREFECT_LOGGING_TO_API_ENABLED": "false"}
    environment["PREFECT_API_AUTH_STRING"] = PREFECT_API_AUTH_STRING.value()
    folder, lake, in_flight, lost, kept = generated(tmp_path, 30), tmp_path / "lake", 4, 0, 0
    with ModelServer(knowing(MODELS["oracle"], folder), latency_s=0.05) as server:
        command = run(server, folder, lake, "--concurrency", str(in_flight), "--json")
        calls = sum(4 * len(gold.turns) + 1 for gold, _ in conversations(folder).values())
        for goal in (10, 150, 290, 430, 570):
            received = server.calls
            killed([sys.executable, "-m", "tests.crashes.limited", "--", *command], server, goal + lost, environment)
            time.sleep(0.3)  # what a killed process has sent has reached the server by then
            now = kept_replies(lake, tmp_path / "copy")
            # A call that was received and whose reply is not there was in flight.
            gone = (server.calls - received) - (now - kept)
            assert 0 <= gone <= in_flight
            kept, lost = now, lost + gone
        last = ended(*command)
        assert (last.status, server.repeated) == (0, server.calls - calls), last.err
        assert server.repeated <= lost
        whole = ended(*run(server, folder, tmp_path / "whole", "--json"))
    assert totals(last) == {"oracle": pytest.approx(100)}
    assert last.scores == whole.scores
    # The same annotations, answers and scores, row by row.
    assert partitions(lake) == partitions(tmp_path / "whole")


def test_one_call_in_five_fails_and_the_rest_is_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = {failure: replace(retry, first_delay_s=0.0, longest_delay_s=0.0) for failure, retry in RETRIES.items()}
    monkeypatch.setattr(limits, "RETRIES", at_once)
    folder, lake = generated(tmp_path, 60), tmp_path / "lake"

    def fault(number: int) -> Fault | None:
        """The same calls fail each time they are sent."""
        drawn = sha256(json.dumps(server.bodies[number]["messages"]).encode()).digest()
        kinds: tuple[Fault, Fault] = ("500", "context_too_long")
        return None if drawn[0] % 5 else kinds[drawn[1] % 2]

    with ModelServer(knowing(MODELS["oracle"], folder), fault=fault) as server:
        done, told = ended(*run(server, folder, lake, "--json")), ended(*run(server, folder, tmp_path / "told"))
    failed = defaultdict[str, set[str]](set)
    for item, part in layer(lake, "answers").filter(pl.col("text").is_null()).select("item_id", "part").iter_rows():
        failed[item].add(part)
    count, known = sum(map(len, failed.values())), [gold for gold, _ in conversations(folder).values()]
    assert count > sum(4 * len(gold.turns) + 1 for gold in known) / 6
    told_failures = sum(row["calls"] for row in done.document["failures"])
    assert (done.status, done.document["calls"]["failed"], told_failures) == (1, count, count)
    # Without `post` there is no third pillar, without any review no first one; pairs are lost only with all of them.
    headline = [
        gold
        for gold in known
        if "post" not in failed[gold.conversation_id]
        and any(f"turn {turn.number} review" not in failed[gold.conversation_id] for turn in gold.turns)
    ]
    assert 0 < len(headline) < len(known)
    (model,) = done.document["models"]
    assert (model["total"], model["n"], model["n_total"]) == (pytest.approx(100), len(headline), 60)
    assert f"Items           {len(headline)} of 60" in told.out
    found = {row["metric"]: (row["n_scored"], row["n_total"]) for row in done.document["raw_scores"]}
    changed = [gold for gold in known if gold.pre_panas.recomputed != gold.post_panas.recomputed]
    asked = [gold for gold in changed if "post" not in failed[gold.conversation_id]]
    assert found["panas_baseline_adjusted"] == (len(asked), len(changed))
    assert (found["composite_score"], found["draft_judge_score"]) == ((len(headline), 60), (0, 0))
    # All that came has all its parts.
    assert raw(done)["oracle", "read_share"] == 1
    page = Path(done.document["report"]).read_text(encoding="utf-8")
    assert f"{len(headline)} of 60" in page


def test_broken_files_are_named_and_the_rest_is_scored(tmp_path: Path) -> None:
    good, broken_rules = {f"good_{number}": varied(number) for number in range(1, 31)}, malformed()[:3]
    bad = {f"bad_{place}": content for place, (_, content) in enumerate(broken_rules)}
    folder = write_folder(tmp_path / "set", {**good, **bad})
    with ModelServer(knowing(MODELS["oracle"], write_folder(tmp_path / "good", good))) as server:
        done, told = ended(*run(server, folder, tmp_path / "lake", "--json")), ended(*run(server, folder, tmp_path / "told"))
        assert server.repeated == server.calls / 2 == sum(4 * len(one["turns"]) + 1 for one in good.values())
    assert (done.status, told.status) == (1, 1)
    (model,) = done.document["models"]
    assert (model["total"], model["n"], model["n_total"]) == (pytest.approx(100), 30, 33)
    (missing,) = done.document["missing"]
    assert (missing["dataset"], missing["rows"]) == ("attunebench", len(bad))
    broken, words = defaultdict[str, list[str]](list), " ".join(told.out.split())
    for place, (rule, _) in enumerate(broken_rules):
        broken[rule].append(f"conversation_bad_{place}.json")
    for rule, files in broken.items():
        assert f"{rule} ({len(files)}: {', '.join(sorted(files))})" in missing["reason"]
        assert rule in words
    assert "attunebench has 3 rows of 33 that break a rule and are no items" in words
