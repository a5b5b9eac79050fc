"""Panels of the judges that rate by the same rubric, beside their members."""

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from schemas.errors import UsageError, unknown_name
from schemas.tables.ratings import UNIT
from tasks.certificates.joining import JUDGED, JoinedRatings
from tasks.statistics.panels import PANELS, How, panel

OF_PANEL = ["source", "rubric", "dimension", "lowest", "highest"]
"""Columns in which the members of a panel are alike."""


def add_panels(joined: JoinedRatings, names: Sequence[str], least: int | None) -> JoinedRatings:
    """Return the ratings with those of panels, judges named `panel mean` and so on; `least`: as of `panel`.

    Raises:
        UsageError: a panel that does not exist, or no two judges rate a dimension by one rubric.
    """
    for name in set(names) - {*PANELS}:
        raise unknown_name("panel", name, PANELS, "--panel", "name one of these")
    target = joined.people.group_by(*UNIT, "dimension").agg(
        people=pl.col("rating").mean(), cluster=pl.coalesce("cluster_id", "unit_id").first()
    )
    judged = joined.judges.filter(pl.col("rubric") != "").sort(*OF_PANEL, "judge", *UNIT)
    frames = [
        frame
        for how in PANELS
        if how in names
        for _, own in judged.group_by(OF_PANEL, maintain_order=True)
        for frame in _panel(own.join(target, on=[*UNIT, "dimension"], how="left", maintain_order="left"), how, least)
    ]
    if names and not frames:
        expected = "two judges that rate a dimension by the same rubric"
        raise UsageError("a panel has one member only", where="--panel", expected=expected, next_step="leave --panel out")
    return joined._replace(judges=pl.concat([joined.judges, *frames]))


def _panel(own: pl.DataFrame, how: How, least: int | None) -> Iterator[pl.DataFrame]:
    """Yield the ratings of a panel, if it has two members: columns and types of JUDGED."""
    members = own["judge"].unique().sort()
    if len(members) > 1:
        wide = own.pivot("judge", index=[*UNIT, *OF_PANEL[1:], "people", "cluster"], values="value")
        # A unit without people has no cluster, and takes no part in what is learned.
        clusters = np.unique(wide["cluster"].fill_null("").to_numpy(), return_inverse=True)[1]
        ratings = panel(wide.select(members).to_numpy(), how, least=least, clusters=clusters, target=wide["people"].to_numpy())
        rated = wide.with_columns(judge=pl.lit(f"panel {how}"), value=pl.Series(ratings, nan_to_null=True))
        yield rated.select(JUDGED.names()).cast(JUDGED).drop_nulls("value")
