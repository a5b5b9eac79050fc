"""The error tree: one message with its parts, which survives pickling."""

import pickle

from schemas.errors import BlueprintError, ChecksumError, MoodflowError, ScoringError


def test_the_message_lists_what_is_known() -> None:
    error = ScoringError("a score is too high", where="dataset d", expected="at most 1", got="2", next_step="score again")
    assert str(error) == "a score is too high\n  where: dataset d\n  expected: at most 1\n  got: 2\n  next step: score again"
    assert str(BlueprintError("broken", got="x")) == "broken\n  got: x"


def test_an_error_survives_pickling() -> None:
    error = ChecksumError("changed", where="file", expected="aa", got="bb", next_step="fetch again")
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301  our own bytes
    assert type(copy) is ChecksumError
    assert str(copy) == str(error)


def test_long_part_is_cut_where_it_is_shown() -> None:
    error = MoodflowError("w" * 200_000, got="g" * 2001)
    assert str(error) == (
        f"{'w' * 1000} [... 198,000 more characters ...] {'w' * 1000}\n"
        f"  got: {'g' * 1000} [... 1 more characters ...] {'g' * 1000}"
    )
    assert len(error.what) == 200_000
