"""What a machine gets, worked out by hand: 200 MiB fixed and 23,040 bytes per token, out of half the memory available."""

import pytest

from schemas.errors import EndpointError
from tasks.models.embedded.fitting import MIB, ServerSize, fit_server

GIB = 1024 * MIB
SLOT = 180 * MIB
"""8192 tokens of 23,040 bytes: 188,743,680 bytes = 180 MiB."""


@pytest.mark.parametrize(
    ("cores", "memory_bytes", "size"),
    [
        (2, 24 * GIB, ServerSize(slots=4, slot_tokens=8192, threads=2)),
        (1, 24 * GIB, ServerSize(slots=4, slot_tokens=8192, threads=1)),
        (4, 24 * GIB, ServerSize(slots=8, slot_tokens=8192, threads=4)),
        (8, 24 * GIB, ServerSize(slots=16, slot_tokens=8192, threads=8)),
        # More threads than 8 do not help, and slots follow threads.
        (64, 512 * GIB, ServerSize(slots=16, slot_tokens=8192, threads=8)),
        # 2 x (200 + 4 x 180) MiB = 1840 MiB hold four slots; with a byte less there are three, of the same length.
        (2, 1840 * MIB, ServerSize(slots=4, slot_tokens=8192, threads=2)),
        (2, 1840 * MIB - 1, ServerSize(slots=3, slot_tokens=8192, threads=2)),
        (2, 2 * (200 * MIB + SLOT), ServerSize(slots=1, slot_tokens=8192, threads=2)),
        # Half of 600 MiB less 200 MiB = 104,857,600 bytes = 4551.1 tokens, of which 17 x 256 are used.
        (2, 600 * MIB, ServerSize(slots=1, slot_tokens=4352, threads=2)),
        # 2 x (200 + 45) MiB hold one slot of 2048 tokens.
        (2, 490 * MIB, ServerSize(slots=1, slot_tokens=2048, threads=2)),
    ],
)
def test_slots_follow_cores_and_the_context_is_shortened_last(cores: int, memory_bytes: int, size: ServerSize) -> None:
    assert fit_server(cores, memory_bytes) == size


@pytest.mark.parametrize(("memory_bytes", "got"), [(490 * MIB - 1, "489 MiB"), (100 * MIB, "100 MiB"), (0, "0 MiB")])
def test_too_little_memory_is_told_with_what_is_needed(memory_bytes: int, got: str) -> None:
    with pytest.raises(EndpointError, match="does not fit into the memory") as caught:
        fit_server(2, memory_bytes)
    assert caught.value.expected == "490 MiB available, half of them for the server"
    assert caught.value.got == got


def test_the_memory_of_a_size_is_what_was_measured() -> None:
    # 4 x 8192 tokens: 869 MiB at the start and 894 MiB after four long prompts; 1 x 2048: 193 and 210 MiB.
    assert ServerSize(4, 8192, 2).memory_bytes / MIB == 920
    assert ServerSize(1, 2048, 2).memory_bytes / MIB == 245
