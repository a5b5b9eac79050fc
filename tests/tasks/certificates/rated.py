"""Texts that people rated, ratings by people, and a judge's ratings, as rows of which a test states what it is about."""

from hashlib import sha256
from typing import Any

import dataframely as dy
import polars as pl

from schemas.tables.ratings import CertificateRatings, HumanRatings, RatedTexts
from tasks.judging.rubrics import Rubric
from tasks.ratings.reading import RatedSource

SCALE = [1.0, 2.0, 3.0, 4.0, 5.0]


def rated_source(ratings: dy.DataFrame[HumanRatings], texts: dy.DataFrame[RatedTexts]) -> RatedSource:
    return RatedSource("s", ratings, texts, ratings.height, (), "")


def rubric(*dimensions: str, **more: Any) -> Rubric:
    both = {"en": "Rate it.", "zh": "请评分。"}
    anchors = {"en": list("abcde"), "zh": list("甲乙丙丁戊")}
    rows = [{"name": name, "definition": both} for name in dimensions]
    return Rubric.model_validate({"id": "r", "version": "1", "instruction": both, "dimensions": rows, "anchors": anchors, **more})


def text(unit_id: str, said: str = "Yes. It is.", **more: Any) -> dict[str, Any]:
    row = {"source": "s", "system": "", "unit_id": unit_id, "cluster_id": unit_id, "language": "en", "context": None}
    row |= {"question": "", "text": said, "turns": None, "text_sha256": sha256(said.encode()).hexdigest(), **more}
    return row


def texts(*rows: dict[str, Any]) -> dy.DataFrame[RatedTexts]:
    return RatedTexts.validate(pl.DataFrame(list(rows), schema=RatedTexts.create_empty().schema))


def by_person(unit_id: str, rating: float, dimension: str = "d1", **more: Any) -> dict[str, Any]:
    row = {"source": "s", "system": "", "unit_id": unit_id, "dimension": dimension, "rating": rating, "higher_is_better": True}
    return {**row, "rater": "p", "rater_kind": "expert", "rater_known": True, "scale": SCALE, **more}


def people(*rows: dict[str, Any]) -> dy.DataFrame[HumanRatings]:
    return HumanRatings.validate(pl.DataFrame(list(rows), schema=HumanRatings.create_empty().schema))


def by_judge(unit_id: str, rating: int | None, perturbation: str = "", variant: str = "", **more: Any) -> dict[str, Any]:
    row = {"source": "s", "system": "", "unit_id": unit_id, "perturbation": perturbation, "variant": variant, "repetition": 0}
    row |= {"dimension": "d1", "place": 0, "lowest": 1, "highest": 5, "rating": rating, "call_key": "0" * 64}
    return {**row, "parse_status": "parsed" if rating is not None else "unparsed", **more}


def given(*rows: dict[str, Any]) -> dy.DataFrame[CertificateRatings]:
    return CertificateRatings.validate(pl.DataFrame(list(rows), schema=CertificateRatings.create_empty().schema))
