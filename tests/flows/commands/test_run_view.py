"""Tables of runs for a terminal."""

import re

import pytest

from flows.commands.run_view import leaderboard_table
from tests.flows.command import ended
from tests.flows.commands.past_runs import PastRuns
from tests.tasks.rows import system_row


def test_few_datasets_show_scores_and_no_total(runs: PastRuns) -> None:
    out = ended("runs", "show", runs.after, "--lake", runs.lake).out
    cells = {words[0]: words[1:] for line in out.splitlines() if (words := line.split())}
    # 8 items in two orders each: A is right 3 times, B 5 times, and it was always A.
    assert " ".join(cells["mini_text_classification"]) == "m accuracy 0.188 0.062 to 0.312 16 of 16 0 0.312, always B"
    said = "m has no total of the benchmark: 7 of 41 datasets have a score, and a total needs half of them; what was"
    assert said in " ".join(out.split())
    assert re.findall(r"^ +(Rank|Total|Verdict) +(.*?) *$", out, re.MULTILINE) == [
        *(("Rank", "–"), ("Total", "– (what was scored: 37.54)"), ("Verdict", "too little scored: 7 of 41 datasets have a score"))
    ]


@pytest.mark.parametrize(("vetoed", "shown"), [(True, "8.80 to 22.42, before the veto"), (False, "8.80 to 22.42")])
def test_a_vetoed_total_shows_the_earlier_interval(vetoed: bool, shown: str) -> None:
    total = {"total": 0.0 if vetoed else 15.74, "total_before_veto": 15.74, "ci_low": 8.798, "ci_high": 22.42, "vetoed": vetoed}
    row = system_row(**total, verdict="vetoed" if vetoed else "scored")
    assert shown in map(str, leaderboard_table("b", [row]).columns[1].cells)
