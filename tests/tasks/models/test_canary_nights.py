"""200 nights of simulated servers: how often an unchanged model is called changed, and how long a changed one is not."""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from statistics import median
from typing import NamedTuple

import pytest

from schemas.canary import DECIDED, SCHEDULED_CANARY, CanaryRecord
from tasks.models.canary import TURNS, accept_findings, add_pairs, keep_record, kind_of, weigh

DECISION = Path("docs/decisions/0025-a-model-that-changed.md")
NIGHTS = 200
QUIET = 100
"""Nights before the fall."""

SERVERS = 100
NEVER = NIGHTS + 1


class Server(NamedTuple):
    """A model at temperature 0, some of whose replies vary from call to call."""

    noise: float
    uneven: bool = False
    fall: float = 0
    falls_after: int = QUIET
    size: int = SCHEDULED_CANARY
    calls: int = SCHEDULED_CANARY * TURNS

    def nights(self, chance: Random) -> Iterator[dict[str, str]]:
        """Yield what each night's pairs of replies are like, by call.

        Evenly, every reply is another one by the chance of `noise`; unevenly, half of the replies to some calls are, and none to
        the others.
        """
        varies = [(0.5 if chance.random() < 2 * self.noise else 0.0) if self.uneven else self.noise for _ in range(self.calls)]
        stored = [chance.random() < share for share in varies]
        fell = [chance.random() < self.fall for _ in range(self.calls)]
        for night in range(NIGHTS):
            kinds = {}
            for number in range(night * self.size, (night + 1) * self.size):
                call = number % self.calls
                model = "after" if fell[call] and night >= self.falls_after else "before"
                first, second = (f"{model} {chance.random() < varies[call]}" for _ in range(2))
                kinds[str(call)] = kind_of(f"before {stored[call]}", first, second)
            yield kinds


class Found(NamedTuple):
    """Nights after the fall until a server was drifting and until it was found changed; nights of drifting in all."""

    drifting: int
    changed: int
    nights: int


def watch(server: Server, seed: int, state: Path | None = None) -> Found:
    """Look at a server every night; with the folder of a lake's state, accept the first change and look on."""
    record, drifting, changed, nights = CanaryRecord(), NEVER, NEVER, 0
    begin = server.falls_after if server.fall else 0
    for night, kinds in enumerate(server.nights(Random(seed)), start=1):
        record = add_pairs(record, kinds, server.calls)
        evidence = weigh(record)
        if state and not record.usual:
            if evidence >= DECIDED:
                keep_record(state, record.model_copy(update={"model": "m"}))
                (record,) = accept_findings(state, "m")
            continue
        nights += evidence > 1
        if evidence > 1 and night > begin:
            drifting = min(drifting, night - begin)
        if evidence >= DECIDED:
            changed = night - begin
            break
    return Found(drifting, changed, nights)


def shown(nights: float) -> str:
    return "later" if nights >= NEVER else f"{nights:.0f}"


def unchanged(name: str, server: Server, servers: int = 4 * SERVERS, state: Path | None = None) -> str:
    """Return the row of servers that did not change, or not since that was accepted: how often they are found."""
    found = [watch(server, seed, state) for seed in range(servers)]
    alarms = sum(one.changed <= NIGHTS for one in found)
    assert alarms <= len(found) / 100
    return f"| {name} | {alarms} of {len(found)} | {sum(one.nights for one in found) / len(found):.1f} |"


def fallen(name: str, server: Server) -> str:
    """Return the row of a server that fell by 5, 25 and 68 points: median and ninth decile until drifting, and until found."""
    cells = []
    for points in (5, 25, 68):
        found = [watch(server._replace(fall=points / 100), seed) for seed in range(SERVERS)]
        after = [one for one in found if one.changed > 0]
        until = sorted(one.changed for one in after)
        cells.append(
            f"{shown(median(one.drifting for one in after))}, {shown(median(until))} ({shown(until[len(until) * 9 // 10])})"
        )
    return f"| {name} | {' | '.join(cells)} |"


@pytest.mark.long
def test_nights_until_found_are_those_of_the_decision(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = {"deterministic": Server(0), "2 % noise": Server(0.02), "10 % noise": Server(0.1)}
    rows = [unchanged(name, server) for name, server in names.items()]
    rows += [
        unchanged(f"{name}, half of the replies to some calls", names[name]._replace(uneven=True)) for name in list(names)[1:]
    ]
    rows += [unchanged(f"{name}, a journal of 16", server._replace(calls=16)) for name, server in names.items()]
    fell = {
        f"{name}, fell by 25 points and was accepted": server._replace(fall=0.25, falls_after=0) for name, server in names.items()
    }
    rows += [unchanged(name, server, SERVERS, tmp_path) for name, server in fell.items()]
    rows += [fallen(f"{name}, before the first night", server._replace(falls_after=0)) for name, server in names.items()]
    rows += [fallen(f"{name}, after {QUIET} nights", server) for name, server in names.items()]
    larger = Server(0.1, size=40, calls=40 * TURNS)
    rows += [fallen(f"10 % noise, after {QUIET} nights, `canary: 40` of 1,000", larger)]
    with capsys.disabled():
        print("", *rows, sep="\n")  # noqa: T201  the table of the decision
    assert set(rows) <= set(DECISION.read_text(encoding="utf-8").splitlines())
