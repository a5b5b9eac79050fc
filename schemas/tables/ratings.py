"""Tables of ratings: by people, the texts that they rated, a judge's of these texts, and what a certificate says of it."""

from typing import Literal, get_args

import dataframely as dy
import polars as pl

from schemas.vocabulary import LANGUAGES, ParseStatus

UNIT = ["source", "system", "unit_id"]
"""Columns that name what was rated."""


class HumanRatings(dy.Schema):
    """Key: (source, system, unit_id, turn, dimension, rater). A file may lack columns that would be empty or true throughout."""

    source = dy.String(min_length=1, description="dataset")
    unit_id = dy.String(min_length=1, description="item; of an item with several answers ITEM/PART")
    turn = dy.Int64(nullable=True, description="of a dialogue; null = the whole")
    cluster_id = dy.String(nullable=True, description="what units share; null = the unit alone")
    system = dy.String(nullable=True, description="who wrote it; null = the only system of the run")
    dimension = dy.String(min_length=1, description="what was rated")
    higher_is_better = dy.Bool(description="false = a high rating is a bad one")
    rater = dy.String(min_length=1, description="who rated")
    rater_kind = dy.Enum(["expert", "crowd", "user", "aggregate", "judge"], description="aggregate = a mean of several")
    rater_known = dy.Bool(description="false = `rater` is a running number per unit")
    rating = dy.Float64(nullable=True, description="null = not given, or not applicable")
    scale = dy.List(dy.Float64(), description="all ratings that could be given, ascending; of words 0, 1, 2 ...")
    words = dy.List(dy.String(), nullable=True, description="names of the ratings of a nominal scale; null = they are numbers")
    text_sha256 = dy.String(nullable=True, description="of the very text that was rated")

    @dy.rule()
    def scale_ascends(cls) -> pl.Expr:
        return (pl.col("scale").list.diff(null_behavior="drop").list.min() > 0).fill_null(value=False)

    @dy.rule()
    def rating_is_on_its_scale(cls) -> pl.Expr:
        rating, scale = pl.col("rating"), pl.col("scale")
        mean = (pl.col("rater_kind") == "aggregate") & rating.is_between(scale.list.min(), scale.list.max())
        return rating.is_null() | scale.list.contains(rating) | mean

    @dy.rule()
    def rated_once(cls) -> pl.Expr:
        return pl.len().over([*UNIT, "turn", "dimension", "rater"]) == 1

    @dy.rule()
    def one_cluster_per_unit(cls) -> pl.Expr:
        return pl.col("cluster_id").drop_nulls().n_unique().over("source", "unit_id") <= 1

    @dy.rule()
    def one_scale_and_direction_per_dimension(cls) -> pl.Expr:
        return pl.struct("scale", "words", "higher_is_better").n_unique().over("source", "dimension") == 1


class RatedTexts(dy.Schema):
    """One row per text that people rated. Key: (source, system, unit_id)."""

    source = dy.String(primary_key=True, min_length=1, description="data set of the ratings")
    system = dy.String(primary_key=True, description="who wrote the text; empty = not stated")
    unit_id = dy.String(primary_key=True, min_length=1, description="item, reply or dialogue")
    cluster_id = dy.String(min_length=1, description="what units share, such as a prompt; else the unit")
    language = dy.Enum(list(LANGUAGES), description="of the text")
    context = dy.String(nullable=True, description="what the rated text answers or is about; null = it stands alone")
    question = dy.String(description="what was asked of its author; empty = not stated")
    text = dy.String(min_length=1, description="what was rated; a dialogue as lines `speaker: text`")
    turns = dy.List(dy.Struct({"speaker": dy.String(), "text": dy.String()}), nullable=True, description="null = no dialogue")
    text_sha256 = dy.String(regex=r"^[0-9a-f]{64}$", description="of `text`")


class CertificateRatings(dy.Schema):
    """One row per rating by the judge that is certified. Written by `moodflow judges certify`."""

    source = dy.String(primary_key=True, min_length=1, description="data set of the ratings by people")
    system = dy.String(primary_key=True, description="who wrote the text; empty = not stated")
    unit_id = dy.String(primary_key=True, min_length=1, description="what was rated")
    perturbation = dy.String(primary_key=True, description="check that changed the text; empty = the text that people rated")
    variant = dy.String(primary_key=True, description="which of the check's changes; empty = it has one")
    repetition = dy.Int64(primary_key=True, min=0, description="times the judge was asked this before")
    dimension = dy.String(primary_key=True, min_length=1, description="of the rubric")
    place = dy.Int64(min=0, description="at which the call asked for the dimension")
    lowest = dy.Int64(description="end of the dimension's scale")
    highest = dy.Int64(description="other end of the dimension's scale")
    rating = dy.Int64(nullable=True, description="as the judge gave it; null = none could be read")
    parse_status = dy.Enum(get_args(ParseStatus), description="how the rating was read")
    call_key = dy.String(regex=r"^[0-9a-f]{64}$", description="key of the judge's reply in the journal")
    raw_reply = dy.String(nullable=True, description="the judge's reply; null = none came")
    prompt_tokens = dy.Int64(nullable=True, min=0, description="of the call; the same in all rows of one call")
    completion_tokens = dy.Int64(nullable=True, min=0, description="of the call; the same in all rows of one call")
    error = dy.String(nullable=True, description="message of the failure")


CertificateVerdict = Literal["items", "systems only", "not usable", "no better than a constant", "no ceiling"]
"""What a judge may be used for: to score items, to rank systems only, or nothing; from best to worst.

`no better than a constant`: always the same rating agrees with people as well. `no ceiling`: people do not agree with each other.
"""

CERTIFICATE_VERDICTS: tuple[CertificateVerdict, ...] = get_args(CertificateVerdict)


class Certificates(dy.Schema):
    """One row per statistic of a judge and people, and per figure of a check. Written by `moodflow judges certify`."""

    source = dy.String(primary_key=True, min_length=1, description="data set of the ratings by people")
    judge = dy.String(primary_key=True, min_length=1, description="the judge, a panel, or people among each other")
    rubric = dy.String(primary_key=True, description="that the judge rated by; empty = of people")
    dimension = dy.String(primary_key=True, min_length=1, description="what was rated, or the mean of dimensions")
    statistic = dy.String(primary_key=True, min_length=1, description="such as spearman; of a check `check` or `check: variant`")
    level = dy.String(primary_key=True, min_length=1, description="pooled, by_item or by_system; or check")
    value = dy.Float64(nullable=True, description="of the judge and people; null = undefined")
    ci_low = dy.Float64(nullable=True, description="lower end of its 95 % interval; null = no interval")
    ci_high = dy.Float64(nullable=True, description="upper end of that interval; null = no interval")
    n_units = dy.Int64(nullable=True, min=0, description="units that both rated")
    n_pairs = dy.Int64(nullable=True, min=0, description="ratings by people of these units")
    n_clusters = dy.Int64(nullable=True, min=0, description="clusters of these units")
    design_effect = dy.Float64(nullable=True, description="variance of the mean over that of as many units drawn alone")
    human_value = dy.Float64(nullable=True, description="the same statistic among people")
    same_targets_value = dy.Float64(nullable=True, description="of the judge, with the targets of `human_value`")
    constant_value = dy.Float64(nullable=True, description="of the best constant rating")
    margin = dy.Float64(nullable=True, description="number in the rule of the verdict or of the check; null = it enters no rule")
    passed = dy.Bool(nullable=True, description="whether the figure keeps that rule; null = no rule, or undefined")
    verdict = dy.Enum(list(CERTIFICATE_VERDICTS), nullable=True, description="on the dimension; null = of people")
    method = dy.String(description="how value and interval are computed")
    undefined_because = dy.String(nullable=True, description="why there is no value; null = there is one")
