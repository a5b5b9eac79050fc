"""The number of calls in flight grows with what the server can do, and shrinks with what it cannot."""

import pytest

from schemas.vocabulary import Failure
from tasks.models.http.adaptive_concurrency import AdaptiveConcurrency


class Server:
    """Answers calls in rounds: each takes `latency_s` while at most `places` are in flight, and queues beyond."""

    def __init__(self, adaptive: AdaptiveConcurrency, latency_s: float, places: int) -> None:
        self.adaptive, self.latency_s, self.places = adaptive, latency_s, places
        self.now_s = 0.0

    def answer_rounds(self, rounds: int) -> list[int]:
        sizes = []
        for _ in range(rounds):
            calls = self.adaptive.size
            # A server with fewer places than calls answers at its own rate: each call waits for those before it.
            latency_s = self.latency_s * max(1.0, calls / self.places)
            for call in range(calls):
                self.adaptive.note_answer(latency_s, self.now_s + latency_s * (call + 1) / calls, full=True)
            self.now_s += latency_s
            sizes.append(self.adaptive.size)
        return sizes


@pytest.mark.parametrize(("most", "first"), [(1, 1), (20, 8), (64, 8), (100, 100)])
def test_it_begins_with_eight_or_with_unusual_limit(most: int, first: int) -> None:
    assert AdaptiveConcurrency(most).size == first


def test_concurrency_grows_fourfold_while_latency_holds() -> None:
    # Each answer adds three places: 8 add 24, 32 add 96 up to the limit.
    assert Server(AdaptiveConcurrency(64), 0.2, places=1000).answer_rounds(4) == [32, 64, 64, 64]
    assert Server(AdaptiveConcurrency(256), 0.2, places=1000).answer_rounds(2) == [256, 256]


def test_it_stops_growing_where_calls_only_queue() -> None:
    # 16 places: 8 and 16 calls take 0.2 s, 40 take 0.5 s, which is twice that and the slack, and no more of them are answered per
    # second. Beyond it the number comes down by fifths, below it tries tenths.
    sizes = Server(AdaptiveConcurrency(64), 0.2, places=16).answer_rounds(60)
    assert max(sizes[:8]) == 64
    assert all(35 <= size <= 64 for size in sizes[8:])
    assert sum(sizes[8:]) / len(sizes[8:]) < 56


def test_an_unusual_limit_comes_down_where_calls_queue() -> None:
    server = Server(AdaptiveConcurrency(256), 0.2, places=1000)
    server.answer_rounds(2)
    # 50 places: 256 calls take 1.0 s. The first such round ends the growth, the second takes a fifth.
    server.places = 50
    assert server.answer_rounds(2) == [256, 204]


def test_latencies_of_milliseconds_do_not_count_as_queue() -> None:
    # One place, 1 ms: 64 calls take 64 ms each, most of which may be our own.
    assert Server(AdaptiveConcurrency(64), 0.001, places=1).answer_rounds(10)[-1] == 64


def test_harmful_shrinking_is_taken_back() -> None:
    server = Server(AdaptiveConcurrency(64), 0.2, places=1000)
    sizes = server.answer_rounds(2)
    # A server that answers batches of 64: latencies have risen to 1 s, and fewer calls only mean fewer answers.
    server.latency_s = 1.0
    sizes += server.answer_rounds(38)
    assert sizes.count(64) > 30
    assert set(sizes[3:]) == {51, 64}


def test_unused_concurrency_does_not_grow() -> None:
    adaptive = AdaptiveConcurrency(64)
    for call in range(50):
        adaptive.note_answer(0.1, 0.1 * call, full=False)
    assert adaptive.size == 8


@pytest.mark.parametrize(
    ("failure", "left"),
    # 64: half for a 429; 0.7 x 64 = 44.8 for what may be another fault.
    [("http_429", 32), ("http_5xx", 44), ("timeout_total", 44), ("connect", 44), ("auth", 64), ("context_too_long", 64)],
)
def test_failures_shrink_it_once_per_round(failure: Failure, left: int) -> None:
    adaptive = AdaptiveConcurrency(64)
    Server(adaptive, 0.1, places=1000).answer_rounds(3)
    assert adaptive.size == 64
    for _ in range(5):
        adaptive.note_failure(failure)
    assert adaptive.size == left


def test_it_recovers_slowly_after_a_refusal() -> None:
    adaptive = AdaptiveConcurrency(64)
    server = Server(adaptive, 0.1, places=1000)
    server.answer_rounds(3)
    adaptive.note_failure("http_429")
    # The round of the refusal, 64 answers, ends without growth; then a tenth each: 35.2, 38.72, 42.592.
    sizes = server.answer_rounds(6)
    assert sorted(set(sizes)) == [32, 35, 38, 42, 46, 51]


def test_only_429_halves_first_size() -> None:
    def after(failure: Failure) -> int:
        adaptive = AdaptiveConcurrency(64)
        for _ in range(50):
            adaptive.note_failure(failure)
            for call in range(adaptive.size + 16):
                adaptive.note_answer(0.1, 0.1 * call, full=False)
        return adaptive.size

    assert (after("http_5xx"), after("http_429")) == (4, 1)


def test_a_size_reached_after_a_failure_grows_again() -> None:
    adaptive = AdaptiveConcurrency(64)
    server = Server(adaptive, 0.1, places=1000)
    adaptive.note_failure("http_5xx")
    assert adaptive.size == 5
    assert server.answer_rounds(60)[-1] == 64
