"""What is said of instruments that failed."""

from tasks.runs.run_tables import InstrumentCount, pool_counts


def test_an_instrument_is_named_once_for_all_datasets() -> None:
    counts = (
        InstrumentCount("m", "base", "judge", "j", ("cards_en",), 4, 10),
        InstrumentCount("m", "base", "simulated person", "", ("cards_en",), 9, 9),
        InstrumentCount("m", "base", "judge", "j", ("cards_zh",), 3, 5),
        InstrumentCount("m", "base", "judge", "k", ("cards_zh",), 5, 5),
    )
    assert [one.words for one in pool_counts(counts)] == [
        "7 of 15 ratings of judge j in cards_en and cards_zh cannot be read",
        "the simulated person fell out of its part in 9 of 9 dialogues of cards_en",
        "5 of 5 ratings of judge k in cards_zh cannot be read",
    ]
