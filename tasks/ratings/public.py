"""Public sets of ratings by people, as entries of the catalogue: how the rows of each become those of one table."""

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from schemas.dataset import DatasetSpec, PinnedFile
from schemas.json_yaml import read_json
from tasks.datasets.catalogue import pinned_in, pinned_list
from tasks.ratings.reading import COLUMNS, TURNS
from tasks.sources.files import read_bytes

Row = dict[str, Any]
ONE_TO_FIVE = [1.0, 2.0, 3.0, 4.0, 5.0]
HUMANE = {"HELL NO": -1.0, "Soft no": -0.5, "Soft yes": 0.5, "HELL YES": 1.0}
"""Values that its authors give the four answers."""

LOWER_IS_BETTER = ("advice_giving", "self_oriented", "dismissing_emotions")
ALL_WORDS = ["No", "Yes", "Unsure"]


def _csv(path: Path) -> list[Row]:
    """Return the rows of a CSV with their cells as texts, null where nothing is in them."""
    return pl.read_csv(read_bytes(path), infer_schema=False).to_dicts()


def _table(rows: Iterable[Row]) -> pl.DataFrame:
    given = list(rows)
    kinds = {**COLUMNS, "turns": TURNS}
    return pl.DataFrame(given, {name: kind for name, kind in kinds.items() if name in given[0]})


def read_humanebench(paths: Sequence[Path]) -> pl.DataFrame:
    """Return four persons' ratings of replies of two models, as one of three personas each, to eight prompts."""
    return _table(
        {
            "unit_id": row["input_id"],
            "cluster_id": row["input_id"],
            "system": f"{row['ai_model']} {row['ai_persona']}",
            "dimension": "humane",
            "rater": path.stem.removesuffix("_ratings"),
            "rater_kind": "expert",
            "rating": HUMANE.get(row.get("rating") or row.get("rating (rubric)") or ""),
            "scale": [*HUMANE.values()],
            "question": row["input_text"],
            "text": row["ai_output"],
            "language": "en",
        }
        for path in paths
        for row in _csv(path)
    )


def read_empathic(paths: Sequence[Path], *, unit: str, scale: list[float], dimensions: tuple[str, ...]) -> pl.DataFrame:
    """Return ratings of 50 conversations by experts, the mean of a crowd, and language models: a file per rater.

    A file without ratings has the conversations. In one with a column `user_id` each row is by another person of the crowd.
    """
    files = {path.stem: _csv(path) for path in paths}
    texts = {row[unit]: row["full_conversation"] for name, rows in files.items() if "conversations" in name for row in rows}
    kinds = {"expert": "expert", "crowd": "aggregate", "sample": "crowd"}
    return _table(
        {
            "unit_id": row[unit],
            "dimension": name,
            "higher_is_better": name not in LOWER_IS_BETTER,
            "scale": scale,
            "rater": row.get("user_id") or file.removesuffix("_ratings"),
            "rating": float(row[name]) if row[name] else None,
            "rater_kind": next((kind for start, kind in kinds.items() if file.startswith(start)), "judge"),
            "text": texts.get(row[unit]),
            "language": "en",
            "dialogue": True,
        }
        for file, rows in files.items()
        if "conversations" not in file
        for row in rows
        for name in dimensions
    )


def read_mentalalign(paths: Sequence[Path]) -> pl.DataFrame:
    """Return ratings of ten systems' replies to a thousand posts, by one person and four language models."""
    (path,) = paths
    conversation, is_person = pl.col("conversation_id").cast(pl.String), pl.col("judge") == "human"
    return pl.read_parquet(read_bytes(path)).select(
        unit_id=conversation,
        cluster_id=conversation,
        system="responder",
        dimension="dimension",
        rater="judge",
        rater_kind=pl.when(is_person).then(pl.lit("expert")).otherwise(pl.lit("judge")),
        rating="rating",
        scale=pl.lit(ONE_TO_FIVE, pl.List(pl.Float64)),
    )


def read_dices(paths: Sequence[Path]) -> pl.DataFrame:
    """Return whether 123 people, whose order is not stated, and an expert call the last reply of a dialogue safe."""
    return _table(
        {
            "unit_id": str(row["id"]),
            "dimension": "safety",
            "scale": [0.0, 1.0, 2.0],
            "words": ALL_WORDS,
            "rater": str(number),
            "rater_known": kind == "expert",
            "rater_kind": kind,
            "rating": ALL_WORDS.index(word),
            "context": row["instance"]["user_prompt"],
            "text": row["instance"]["response"],
            "language": "en",
        }
        for path in paths
        for kind in ("expert" if "expert" in path.stem else "crowd",)
        for row in read_json(read_bytes(path))["instances"]
        for number, word in enumerate(row["annotations"]["safety"]["individual_human_scores"], 1)
    ).with_columns(rater=pl.when(pl.col("rater_known")).then(pl.lit("expert")).otherwise("rater"))


def read_xdial(paths: Sequence[Path]) -> pl.DataFrame:
    """Return one mean of people per reply; its texts are those of the Chinese columns, replies to one context one cluster."""
    (path,) = paths
    rows = _csv(path)
    firsts = {row["chinese_ctx"]: str(number) for number, row in reversed([*enumerate(rows, 1)])}
    return _table(
        {
            "unit_id": str(number),
            "cluster_id": firsts[row["chinese_ctx"]],
            "dimension": "coherence",
            "scale": ONE_TO_FIVE,
            "rater": "mean",
            "rater_kind": "aggregate",
            "rating": float(row["ratings"]),
            "context": row["chinese_ctx"],
            "text": row["chinese_res"],
            "language": "zh",
        }
        for number, row in enumerate(rows, 1)
    )


def read_duo(paths: Sequence[Path], *, language: str | None) -> pl.DataFrame:
    """Return what the person in a dialogue says of it, and what three others say, whose names are not stated.

    `language`: null = no judge is asked in that of the texts, which are left out.
    """
    return _table(row for path in paths for row in _duo_rows(read_json(read_bytes(path)), language))


def _duo_rows(dialogue: Row, language: str | None) -> Iterable[Row]:
    turns = [{"speaker": turn["speaker"], "text": turn["message"]} for turn in dialogue["dialogue"]]
    said = "\n".join(f"{turn['speaker']}: {turn['text']}" for turn in turns)
    whole = {"unit_id": str(dialogue["dialogue_id"]), "system": f"{dialogue['model']} {dialogue['prompt']}", "scale": ONE_TO_FIVE}
    texts = {"text": said if language else None, "turns": turns, "language": language, "dialogue": True}
    others = dialogue.get("objective_evaluation") or {}
    for name, rating in dialogue["subjective_evaluation"].items():
        row = {**whole, **texts, "dimension": name, "rater_kind": "user", "rater_known": True}
        yield {**row, "rater": f"user {dialogue['dialogue'][0]['user_id']}", "rating": rating}
        for number, other in enumerate(others.get(f"{name}_scores", ()), 1):
            yield {**row, "rater": str(number), "rater_kind": "crowd", "rater_known": False, "rating": other}


HUMANEBENCH = pinned_in("github.com/buildinghumanetech/humanebench", "73e341c01dd55557a6afa778f72b696ac5c6af6d")
EMPATHIC = pinned_in(
    "github.com/aakriti1kumar/replication-data-and-code-when-LLMs-reliable-empathic-communication",
    "713458108e28897fccf136a6337296b5199cb617",
)
MENTALALIGN = pinned_in("github.com/abeerbadawi/MentalBench-Align", "03cfc4be2b7c181232652af304dc96d9bbcc5f8a")
JUDGE_BENCH = pinned_in("github.com/dmg-illc/JUDGE-BENCH", "5a0bf500325029efb5dc8adff2c1e991996f0e78")
XDIAL = pinned_in("github.com/e0397123/xDial-Eval", "638036c657240c8913e491c1c61c40402bc763d2")
DUO = pinned_in("github.com/ikuminumaya/duo-dataset", "a1c424371fc6fb716184bb177beaba91a183093a")

NO_TEXTS = "The texts that people rated are not in the release, so that no judge can be asked about them"
EMPATHIC_RATERS = ("expert1", "expert2", "expert3", "crowd", "gpt", "claude", "gemini")
LEND_AN_EAR = ("validating_emotions", "encouraging_elaboration", "demonstrating_understanding", *LOWER_IS_BETTER)
CONVERSATIONS = EMPATHIC("original_data/sample_lend_an_ear_conversations.csv")
EMPATHIC_CODE = "Kumar et al., When large language models are reliable for judging empathic communication"


def _ratings(name: str, title: str, files: Iterable[PinnedFile], **fields: Any) -> DatasetSpec:
    return DatasetSpec(name, title, tuple(files), **{"question_types": (), **fields})


def _empathic(name: str, title: str, unit: str, dimensions: tuple[str, ...], scale: range, *texts: PinnedFile) -> DatasetSpec:
    """Return one of the four sets, rated by all raters but Gemini where it has no file."""
    raters = EMPATHIC_RATERS[: None if name in ("lend_an_ear", "perceived_empathy") else -1]
    return _ratings(
        f"empathic_{name}",
        f"Ratings: empathic communication, {title}",
        (*(EMPATHIC(f"annotations/{name}/{rater}_ratings.csv") for rater in raters), *texts),
        licence="MIT",
        paper=EMPATHIC_CODE,
        ratings=partial(read_empathic, unit=unit, scale=[*map(float, scale)], dimensions=dimensions),
        differences=("The mean of the crowd counts as one rater",) if texts else (NO_TEXTS,),
    )


ENTRIES = (
    _ratings(
        "humanebench_ratings",
        "Ratings: HumaneBench",
        (HUMANEBENCH(f"data/human_ratings/rater-{number}_ratings.csv") for number in (1, 2, 3, 4)),
        licence="Apache-2.0",
        paper="HumaneBench, data/human_ratings",
        ratings=read_humanebench,
        differences=(
            "Answers are 1, 0.5, -0.5 and -1, so that steps of the scale are of unequal width",
            "Each reply is rated by the rubric of its prompt's principle; all are one dimension here",
        ),
    ),
    _empathic("lend_an_ear", "Lend an Ear", "conversation_id", LEND_AN_EAR, range(1, 6), CONVERSATIONS),
    _ratings(
        "empathic_lend_an_ear_crowd",
        "Ratings: empathic communication, Lend an Ear, each person of the crowd",
        (EMPATHIC("original_data/sample_lend_an_ear_annotations.csv"), CONVERSATIONS),
        licence="MIT",
        paper=EMPATHIC_CODE,
        ratings=partial(read_empathic, unit="conversation_id", scale=ONE_TO_FIVE, dimensions=LEND_AN_EAR),
    ),
    _empathic("empatheticdialogues", "EmpatheticDialogues", "conv_id", ("empathy", "relevance", "fluency"), range(1, 6)),
    _empathic(
        *("epitome", "EPITOME", "sp_id"),
        ("level_emotional_reactions", "level_explorations", "level_interpretations"),
        range(3),
    ),
    _empathic(
        *("perceived_empathy", "perceived empathy", "id"),
        tuple(
            f"m_{name}"
            for name in (
                "understood",
                "validated",
                "affirmed",
                "seen",
                "accepted",
                "caredfor",
                "emotional",
                "practical",
                "motivation",
            )
        ),
        range(1, 8),
    ),
    _ratings(
        "mentalalign",
        "Ratings: MentalAlign-70k",
        (MENTALALIGN("MentalAlign-70k/ratings.parquet"),),
        licence="MIT",
        paper="Badawi et al., MentalBench-Align",
        expected_rows=350_000,
        ratings=read_mentalalign,
        differences=("One value per reply stands for the people", NO_TEXTS),
    ),
    _ratings(
        "dices350",
        "Ratings: DICES-350",
        (JUDGE_BENCH(f"data/dices/dices_350_{kind}.json") for kind in ("crowdsourced", "expert")),
        licence="CC BY 4.0",
        paper="Aroyo et al. 2023, DICES; files of JUDGE-BENCH",
        ratings=read_dices,
        differences=("Who gave which of the 123 ratings is not stated", "Unsure is a word of the scale"),
    ),
    _ratings(
        "xdial_empathetic_zh",
        "Ratings: xDial-Eval, EmpatheticDialogues in Chinese",
        (XDIAL("data/turn/empathetic-grade.csv"),),
        licence="GPL-3.0 for the repository",
        paper="xDial-Eval, data/turn/empathetic-grade.csv",
        languages=("zh",),
        ratings=read_xdial,
        differences=("People rated the English texts; those of the Chinese columns are translations",),
    ),
    *(
        _ratings(
            f"duo_{language}",
            f"Ratings: DUO, {title}",
            pinned_list(f"duo_{language}", DUO),
            licence="CC BY-NC 4.0",
            paper="DUO, ed",
            languages=languages,
            ratings=partial(read_duo, language=next(iter(languages), None)),
            differences=("Third parties' ratings have no identity", *differences),
        )
        for language, title, languages, differences in (
            ("en", "English", ("en",), ()),
            ("ja", "Japanese", (), ("No judge is asked in Japanese, so that texts are left out",)),
        )
    ),
)
"""Entries of the catalogue."""
