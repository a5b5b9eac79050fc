"""Which failures of a download are tried again, and after which delay."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from tasks.text.backoff import Backoff, Retry

Setback = Literal["connect", "timeout", "cut", "http_429", "http_5xx"]
"""What a further attempt may overcome.

`connect`: no connection. `timeout`: no bytes or too few in the time given, or HTTP 408. `cut`: the answer ended early or
contradicts itself. `http_429`: asked to come later, 425 too. `http_5xx`: the server is out of order.
"""


RETRIES: Mapping[Setback, Retry] = MappingProxyType(
    {
        "connect": Retry(attempts=4, first_delay_s=0.5, longest_delay_s=4),
        "timeout": Retry(attempts=4, first_delay_s=1, longest_delay_s=8),
        # What came is kept, so each attempt starts where the one before ended.
        "cut": Retry(attempts=6, first_delay_s=0.5, longest_delay_s=8),
        "http_429": Retry(attempts=6, first_delay_s=2, longest_delay_s=60),
        "http_5xx": Retry(attempts=5, first_delay_s=1, longest_delay_s=30),
    }
)
"""The one table of what is retried, how often and after which delay."""


@dataclass(frozen=True)
class DownloadRetryPolicy(Backoff[Setback]):
    """Decides on the next attempt of a download; `sleep` waits for a number of seconds."""

    retries: Mapping[Setback, Retry] = field(default_factory=lambda: RETRIES)
    sleep: Callable[[float], None] = time.sleep
