"""Student's t distribution.

Its values are those of `scipy.stats.t`, whose import takes a second: one of `scipy.special` takes a fifth of that, and a run of
one model needs neither.
"""

import numpy as np

from tasks.statistics.resampling import Floats


def upper_tail(ratios: float | Floats, df: float | Floats) -> Floats:
    """Return the probability of a value above each of `ratios`, with `df` degrees of freedom; NaN where one is NaN or df is 0."""
    from scipy.special import stdtr  # noqa: PLC0415  see above

    return np.asarray(stdtr(df, np.negative(ratios)))


def quantile(share: float, df: float | Floats) -> Floats:
    """Return the value that a `share` of values lies below, with `df` degrees of freedom, 1 or more; NaN where these are NaN."""
    from scipy.special import stdtrit  # noqa: PLC0415  see above

    return np.asarray(stdtrit(df, share))
