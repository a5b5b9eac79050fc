"""Keep the frames of partitions that were written or read last, so that one that is read again need not be decoded again."""

from collections import OrderedDict
from threading import Lock
from typing import Generic, TypeVar

import polars as pl

KeyT = TypeVar("KeyT")


class KeptFrames(Generic[KeyT]):
    """The frames used last, by key, from any thread; of a key whose frame is no longer kept it is known that it was there.

    Args:
        limit: bytes of all frames that are kept.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._known: set[KeyT] = set()
        self._frames: OrderedDict[KeyT, tuple[pl.DataFrame, int]] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def __contains__(self, key: KeyT) -> bool:
        """Return whether a frame was ever put in under this key."""
        return key in self._known

    def get(self, key: KeyT) -> pl.DataFrame | None:
        """Return the frame of a key, which the caller may change; null if it is not kept."""
        with self._lock:
            if key not in self._frames:
                return None
            self._frames.move_to_end(key)
            return self._frames[key][0].clone()

    def put(self, key: KeyT, frame: pl.DataFrame) -> None:
        """Keep a frame in place of those that were not used for longest; one that is larger than the limit is not kept."""
        size = int(frame.estimated_size())
        with self._lock:
            self._known.add(key)
            if key in self._frames or size > self._limit:
                return
            self._frames[key] = (frame.clone(), size)
            self._size += size
            while self._size > self._limit:
                self._size -= self._frames.popitem(last=False)[1][1]
