"""Tables that compare: settings with base, judges with each other and with people, places of needles."""

import dataframely as dy

from schemas.tables.columns import OfSystem

OF_ALL = "total"
"""Scope of a gain in the total; every other scope is a dataset."""


class SettingGains(OfSystem):
    """One row per (model, setting, scope): what a setting gains over `base`, over the items scored in both."""

    scope = dy.String(primary_key=True, min_length=1, description="a dataset, or `total`")
    base_0_100 = dy.Float64(min=0, max=100, description="score in the setting base")
    setting_0_100 = dy.Float64(min=0, max=100, description="score in this setting")
    gain = dy.Float64(min=-100, max=100, description="points; setting - base")
    ci_low = dy.Float64(nullable=True, description="95 % interval of the gain; null = too few clusters, or a grade")
    ci_high = dy.Float64(nullable=True, description="upper end of that interval")
    n_items = dy.Int64(min=1, description="items scored in both settings")


class Agreements(dy.Schema):
    """One row per (dataset, model, setting, rubric, dimension): how far judges agree, and what else moves their ratings."""

    dataset = dy.String(primary_key=True, min_length=1, description="id of the dataset")
    model = dy.String(primary_key=True, min_length=1, description="model under test")
    setting = dy.String(primary_key=True, min_length=1, description="how it was asked")
    rubric = dy.String(primary_key=True, min_length=1, description="rubric that was rated by")
    dimension = dy.String(primary_key=True, min_length=1, description="dimension of the rubric")
    judges = dy.List(dy.String(), description="sorted")
    n_answers = dy.Int64(min=0, description="rated at least twice")
    n_ratings = dy.Int64(min=0, description="of these answers")
    alpha = dy.Float64(nullable=True, max=1, description="Krippendorff's, interval; null = nothing to compare or no variance")
    length_correlation = dy.Float64(nullable=True, min=-1, max=1, description="Spearman, rating and characters of the answer")
    place_effect = dy.Float64(nullable=True, description="mean rating where asked first - where asked last; null = one order")


class NeedleScores(OfSystem):
    """One row per (model, setting, dataset, method, metric, length, depth): scores of items with a needle, by where it is."""

    dataset = dy.String(primary_key=True, min_length=1, description="id of the dataset")
    method = dy.String(primary_key=True, min_length=1, description="how it is scored, as the blueprint names it")
    metric = dy.String(primary_key=True, min_length=1, description="what the value measures")
    length_tokens = dy.Int64(primary_key=True, min=0, description="target, or the bin's lower limit")
    length_bin = dy.String(min_length=1, description="the length as a label")
    depth_percent = dy.Float64(primary_key=True, min=0, max=100, description="target, or the bin's lower limit")
    depth_bin = dy.String(min_length=1, description="the depth as a label")
    value = dy.Float64(nullable=True, min=0, max=1, description="mean over items; null = none was scored")
    n = dy.Int64(min=0, description="items scored")
    n_total = dy.Int64(min=0, description="items asked")
