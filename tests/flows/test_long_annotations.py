"""AttuneBench on generated conversations over HTTP: models of known skill, a run that is killed, failed calls, broken files."""

import json
from contextlib import ExitStack
from pathlib import Path
from statistics import fmean

import pytest
import yaml

from schemas.attunebench import ConversationGold
from schemas.folders import DATA_FOLDER
from tasks.datasets.attunebench.conversations import TURNS, WHOLE
from tasks.metrics.attunebench.conversation import known_items, measure_parts
from tasks.scoring.annotation_aggregates import conversation_rows, pooled_judgements
from tasks.solvers.answers import SAID
from tests.flows.annotating import MODELS, conversations, invert, judge, knowing, toss
from tests.flows.command import Ended, ended
from tests.flows.scripted_roles import layer
from tests.model_server import ModelServer
from tests.tasks.datasets.attunebench.conversations import varied, write_folder

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("prefect_server")]

ALL = {**MODELS, "inverted": invert, "coin": toss}


def port_blueprint(folder: Path) -> Path:
    """The benchmark, scored as the public port does."""
    blueprint = yaml.safe_load((DATA_FOLDER / "blueprints" / "attunebench.yaml").read_text(encoding="utf-8"))
    blueprint["datasets"]["attunebench"]["methods"][0]["profile"] = "reference"
    path = folder / "port.yaml"
    path.write_text(json.dumps({**blueprint, "name": "port"}))
    return path


def totals(done: Ended) -> dict[str, float]:
    return {row["model"]: row["total"] for row in done.document["models"]}


def raw(done: Ended) -> dict[tuple[str, str], float]:
    return {(row["model"], row["metric"]): row["value"] for row in done.document["raw_scores"]}


def test_models_of_known_skill_have_known_scores(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "set", {str(number): varied(number) for number in range(1, 201)})
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
        port = ended("run", port_blueprint(tmp_path), *command)
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
    assert_pooled(tmp_path / "lake")


def assert_totals(ours: dict[str, float], port: dict[str, float], known: list[ConversationGold]) -> None:
    """Where the mood did not change, the port gives half of the points for it: 100 x 0.27 x 0.4 x 0.5 are out of reach."""
    still = fmean(gold.pre_panas.recomputed == gold.post_panas.recomputed for gold in known)
    assert 0.3 < still < 0.4
    assert ours["oracle"] == pytest.approx(100, abs=1e-9)
    assert ours["copier"] == pytest.approx(100 * still + 94.6 * (1 - still), abs=1e-9)
    assert port["oracle"] == pytest.approx(94.6 * still + 100 * (1 - still), abs=1e-9)
    assert port["copier"] == pytest.approx(94.6, abs=1e-9)


def assert_pooled(lake: Path) -> None:
    """Pooled over all judgements, who says yes to all knows nothing, and who says the opposite knows it all the wrong way."""
    items, answers = layer(lake, "items"), layer(lake, "answers").with_columns(said=SAID)
    known = known_items(items, {name: layer(lake, name) for name in (TURNS, WHOLE)})
    rows = []
    for (model, item), parts in answers.group_by("model", "item_id"):
        said = dict(zip(parts["part"], parts["said"], strict=True))
        named = {"model": model, "mode": "default", "strategy": "absolute", "item_id": item, "cluster": item}
        rows.append({**named, **measure_parts(known[str(item)], said, "corrected")})
    found: dict[str, set[float]] = {name: set() for name in ALL}
    for row in pooled_judgements(conversation_rows(rows)).iter_rows(named=True):
        found[row["model"]].add(round(row["mcc"], 9))
    assert found["oracle"] == {1}
    assert found["yes"] == {0}
    assert found["inverted"] == {-1}
