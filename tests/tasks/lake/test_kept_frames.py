"""Frames that are kept: 8 bytes a number, so that a frame of ten numbers takes 80."""

import polars as pl

from tasks.lake.kept_frames import KeptFrames


def numbers(first: int) -> pl.DataFrame:
    return pl.DataFrame({"number": range(first, first + 10)}, schema={"number": pl.Int64})


def test_the_frame_that_was_not_used_for_longest_makes_room() -> None:
    kept = KeptFrames[str](limit=160)
    kept.put("a", numbers(0))
    kept.put("b", numbers(10))
    assert kept.get("a") is not None
    kept.put("c", numbers(20))
    found = {name: frame["number"][0] for name in "abc" if (frame := kept.get(name)) is not None}
    assert found == {"a": 0, "c": 20}
    assert all(name in kept for name in "abc")
    assert "d" not in kept


def test_a_frame_put_in_twice_takes_its_room_once() -> None:
    kept = KeptFrames[str](limit=160)
    for name in ("a", "b", "b"):
        kept.put(name, numbers(0))
    assert kept.get("a") is not None


def test_a_frame_larger_than_the_limit_displaces_nothing() -> None:
    kept = KeptFrames[str](limit=100)
    kept.put("small", numbers(0))
    kept.put("large", pl.concat([numbers(0), numbers(10)]))
    assert kept.get("large") is None
    assert "large" in kept
    assert kept.get("small") is not None


def test_who_changes_a_frame_changes_no_other_reader_s() -> None:
    kept, written = KeptFrames[str](limit=1000), numbers(0)
    kept.put("a", written)
    for frame in (written, kept.get("a")):
        assert frame is not None
        frame.insert_column(0, pl.Series("other", range(10)))
    found = kept.get("a")
    assert found is not None
    assert found.columns == ["number"]
