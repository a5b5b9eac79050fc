"""`moodflow judges certify` of judges that are right or wrong in one way, over HTTP: verdicts, and which checks fail."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.flows import simulated_judges as judges
from tests.flows.command import Ended, ended
from tests.flows.simulated_judges import DIMENSIONS, JUDGE, answering, units, write_source
from tests.model_server import ModelServer

CHECKED = 60
"""Texts that each check is tried on: all. With six injections each, none obeyed, the biased judge decides by the fewest: 21 texts
that it rates below 5 in relevance. Wilson's upper limit is 3.84 / (126 + 3.84) = 0.0296."""


def certify(judge: judges.Judge, folder: Path, checked: int = CHECKED) -> Ended:
    file, rubric = write_source(folder)
    with ModelServer(answering(judge)) as server:
        who = ("--judge", JUDGE, "--judge-base-url", server.base_url, "--concurrency", "16", "--lake", folder / "lake")
        what = ("--ratings", file, "--rubric", rubric, "--checks-sample", str(checked))
        return ended("judges", "certify", *what, *who, "--json")


class Expected(NamedTuple):
    """What a certificate says of a judge, in empathy and in relevance: verdicts, checks that it fails and that are undecided."""

    verdicts: tuple[str, str]
    failed: tuple[set[str], set[str]]
    missing: tuple[set[str], set[str]] = (set(), set())


EVERYWHERE = {"wrong_answer", "answer_order"}
"""Checks of the judge as a whole: where it fails them, it does in each dimension."""

EXPECTED: dict[str, tuple[Callable[[], judges.Judge], Expected]] = {
    # Reads what the people rated, and nothing else.
    "perfect": (lambda: judges.perfect, Expected(("items", "items"), (set(), set()))),
    # Always 3: the best constant is at least as good, by definition. Nothing makes it fall, not even the floor, where it says 3
    # instead of 1; of two answers it takes the first, in both orders. Nothing makes it rise either, and it repeats itself. What
    # does not vary has no correlation with length.
    "constant": (
        lambda: judges.constant,
        Expected(
            ("no better than a constant",) * 2,
            ({"flipped_turn", "floor", *EVERYWHERE}, {"flipped_turn", "floor", *EVERYWHERE}),
            ({"length"}, {"length"}),
        ),
    ),
    # One step too high for 36 of 60 texts in empathy and 27 in relevance, those below 5: 0.6 and 0.45 steps, more than 0.25. It
    # is as much too high for a changed text as for its parent, so that no check sees it; systems keep their order.
    "biased": (lambda: judges.biased, Expected(("systems only",) * 2, (set(), set()))),
    # Asked for empathy first, it is right in that; relevance gets the same rating, which is worth less than always 5. The other
    # way round it is wrong in empathy: of all texts relevance is 0.45 steps better, so that each rating depends on the order. In
    # relevance it does not see that an answer belongs to another item, and this check is of the judge as a whole.
    "halo": (
        lambda: judges.halo,
        Expected(
            ("systems only", "no better than a constant"),
            ({"dimension_order", "wrong_answer"}, {"dimension_order", "wrong_answer"}),
        ),
    ),
    # Half of the texts are long to it, of each quality: what is below 5 gets a step more. A short text that is made half as long
    # again does, too. Systems have as many long texts each, so that they keep their order.
    "length_lover": (lambda: judges.length_lover, Expected(("systems only",) * 2, ({"length"}, {"length"}))),
    # Empathy comes first in the first order and gets the step; in the other order relevance does. All checks compare a text with
    # its parent in one order, but for this one. Of two answers it takes the first, whichever that is.
    "position_lover": (
        lambda: judges.position_lover,
        Expected(("systems only",) * 2, ({"dimension_order", "answer_order"}, {"dimension_order", "answer_order"})),
    ),
    # Perfect until a text asks for more; a judge that can be talked into a rating cannot rank systems either.
    "obeys_injections": (lambda: judges.obeys_injections, Expected(("not usable",) * 2, ({"injection"}, {"injection"}))),
    # A step more for two of six systems, unless it is 5: the other judges give these the same as people do.
    "self_preferring": (
        lambda: judges.self_preferring,
        Expected(("systems only",) * 2, ({"self_preference"}, {"self_preference"})),
    ),
}
SHORT = ("perfect", "obeys_injections")
"""Not marked long."""


@pytest.mark.parametrize("name", [name if name in SHORT else pytest.param(name, marks=pytest.mark.long) for name in EXPECTED])
def test_simulated_judge_gets_its_verdict(name: str, tmp_path: Path) -> None:
    make, expected = EXPECTED[name]
    done = certify(make(), tmp_path)
    assert done.status == 0, done.err
    by_dimension = {row["dimension"]: row for row in done.document["dimensions"]}
    assert tuple(by_dimension) == DIMENSIONS
    (empathy, relevance) = by_dimension.values()
    found = Expected(
        (empathy["verdict"], relevance["verdict"]),
        (set(empathy["failed_checks"]), set(relevance["failed_checks"])),
        (set(empathy["missing_checks"]), set(relevance["missing_checks"])),
    )
    assert found == expected, (empathy["rule"], relevance["rule"])
    assert (done.document["texts"], done.document["refused"], done.document["unread"]) == (60, 0, 0)


@pytest.mark.long
def test_noisy_judge_is_not_usable(tmp_path: Path) -> None:
    # Which draw of equal requests is the rating of a text depends on the calls' order; 24 are repeated, and 36 are asked once.
    done = certify(judges.Noisy(), tmp_path, 24)
    # It is off by 0, 1 or 2 steps either way, each as often: equal requests get other ratings, and their alpha is below 0.8.
    for row in done.document["dimensions"]:
        assert (row["verdict"], "repeat" in row["failed_checks"]) == ("not usable", True)


def test_sixty_texts_are_as_stated() -> None:
    texts = units()
    assert len({(unit.item, unit.system) for unit in texts}) == 60
    lengths = [len("".join(replies(unit))) for unit in texts]
    assert [lengths.count(length) for length in (judges.SHORT, judges.LONG)] == [30, 30]
    for place, system in enumerate(judges.SYSTEMS):
        own = [unit for unit in texts if unit.system == system]
        assert len(own) == 10
        for dimension, best in judges.BEST.items():
            assert sorted(unit.quality[dimension] for unit in own) == [2] * (8 - best[place]) + [3, 4] + [5] * best[place]
    for unit in texts:
        about = [topic for language in judges.BOTH for topic in judges.TOPICS[language] if topic in judges.bare(unit.text)]
        assert about == [unit.topic]


def replies(unit: judges.Unit) -> list[str]:
    return [said for speaker, said in unit.turns if speaker == judges.SUPPORTER]
