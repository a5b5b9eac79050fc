"""What computes each metric: the general ones, and those of the benchmarks."""

from collections.abc import Mapping

from schemas.benchmark import rows
from schemas.metrics import Metric
from tasks.metrics.measures import GENERAL, MeasureRow, OwnMeasure

MEASURES: Mapping[Metric, MeasureRow] = {
    **GENERAL,
    **{metric: own.row for own in rows("measures", OwnMeasure) for metric in own.metrics},
}
