"""Cut Chinese text into words, as jieba does."""

import logging
import re

LONGEST_RUN = 500
"""Signs without punctuation that jieba is given at once: its time grows with their square."""

_SIGN = r"\u4e00-\u9fd5a-zA-Z0-9+#&._%-"
_RUNS = re.compile(rf"[{_SIGN}]{{1,{LONGEST_RUN}}}|[^{_SIGN}]+")


def cut_words(text: str) -> list[str]:
    """Return all words in order, punctuation and white space among them."""
    import jieba  # noqa: PLC0415  loads a dictionary, which only Chinese needs

    jieba.setLogLevel(logging.WARNING)
    return [word for run in _RUNS.findall(text) for word in jieba.lcut(run)]
