"""Panels of the judges that rate by the same rubric, beside their members."""

from collections.abc import Sequence

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
    cluster = pl.coalesce("cluster_id", "unit_id").first()
    target = joined.people.group_by(*UNIT, "dimension").agg(people=pl.col("rating").mean(), cluster=cluster)
    judged = joined.judges.filter(pl.col("rubric") != "").sort(*OF_PANEL, "judge", *UNIT)
    beside = judged.join(target, on=[*UNIT, "dimension"], how="left", maintain_order="left")
    several = [own for _, own in beside.group_by(OF_PANEL, maintain_order=True) if own["judge"].n_unique() > 1]
    if names and not several:
        expected = "two judges that rate a dimension by the same rubric"
        raise UsageError("a panel has one member only", where="--panel", expected=expected, next_step="leave --panel out")
    frames = [_panel(own, how, least) for how in PANELS if how in names for own in several]
    return joined._replace(judges=pl.concat([joined.judges, *frames]))


def _panel(own: pl.DataFrame, how: How, least: int | None) -> pl.DataFrame:
    """Return the ratings of a panel: columns and types of JUDGED."""
    wide = own.pivot("judge", index=[*UNIT, *OF_PANEL[1:], "people", "cluster"], values="value")
    # A unit without people has no cluster, and takes no part in what is learned.
    clusters = np.unique(wide["cluster"].fill_null("").to_numpy(), return_inverse=True)[1]
    members = wide.select(own["judge"].unique().to_list()).to_numpy()
    ratings = panel(members, how, least=least, clusters=clusters, target=wide["people"].to_numpy())
    rated = wide.with_columns(judge=pl.lit(f"panel {how}"), value=pl.Series(ratings, nan_to_null=True))
    return rated.select(JUDGED.names()).cast(JUDGED).drop_nulls("value")
