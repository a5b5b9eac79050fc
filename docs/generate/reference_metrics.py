"""Reference pages of what replies are scored by: metrics, question types, rubrics and profiles."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from docs.generate.markdown import block, joined, table, write_page
from docs.generate.reference_text import code, codes, doc_of, facts, link, prose, row_name, text_below
from schemas import metrics, question_types, vocabulary
from schemas.benchmark import files_by_name
from schemas.folders import DATA_FOLDER
from schemas.item import Item, Record
from schemas.json_yaml import read_json, read_text
from schemas.metrics import METRICS, CentredNormalisation, MetricRow, Normalisation
from schemas.question_types import QUESTION_TYPES, QuestionTypeRow, suited_metrics, suited_types
from schemas.vocabulary import CORRECTED
from tasks.datasets.own_items import adapt_item_record
from tasks.judging.rubrics import RUBRICS, YES_NO, Rubric, load_rubric
from tasks.metrics.answer_forms import FORMS
from tasks.metrics.metric import PROFILES, Metric
from tasks.scoring.blueprints import list_blueprints, load_blueprint
from tasks.solvers.prompts import Prompts, build_messages
from tasks.solvers.registry import SOLVERS

METRICS_HEAD = """# Metrics

A metric turns the answers to a dataset into a raw score in its own unit, which its normalisation puts on 0 to 100. A method of a
[blueprint](files/blueprint.md) names it. [Methodology](../methodology.md#raw_scores) has formulas and sources, and
[Your own metric](../how-to/own-metric.md) shows how to add one."""

TYPES_HEAD = """# Question types

The question type of an item decides how it is asked, how a reply is read, and which metrics can score it."""

RUBRICS_HEAD = """# Rubrics

What a judge is told to look at. These ship with MoodFlow or an installed benchmark; a method of a
[blueprint](files/blueprint.md) names one. [Rubric](files/rubric.md) has the fields of such a file, and
[Your own judge](../how-to/own-judge.md) shows how to write one."""

PROFILES_HEAD = """# Profiles

A profile says how replies are read and what counts as right: `--set profile=NAME`, or `profile` of a method.
[Methodology](../methodology.md#profiles) says what differs."""


def normalisation_words(row: Normalisation) -> str:
    """Return how a raw score is put on 0 to 100: the formula, and the values in it."""
    values = ", ".join(f"{name} = {value:g}" for name, value in row.model_dump(exclude={"type"}).items())
    return f"{prose(str(type(row).__doc__))} {f'Here {values}.' if values else ''}".strip()


def direction(row: MetricRow) -> str:
    """Return which raw scores are good."""
    best = row.normalisation.best if isinstance(row.normalisation, CentredNormalisation) else None
    return "higher is better" if best is None else f"{best:g} is best"


def measure(row: MetricRow) -> str:
    """Return what is said of the function that measures a judge's ratings."""
    return prose(doc_of(row.ratings)) if isinstance(row, Metric) and row.ratings else ""


@cache
def benchmarks_by_metric() -> Mapping[str, tuple[str, ...]]:
    """Return the blueprints that ship with MoodFlow and name each metric, leaving out small copies."""
    names: dict[str, dict[str, None]] = {}
    for blueprint in (name for name in list_blueprints() if not name.endswith("-mini")):
        for dataset in load_blueprint(blueprint).datasets.values():
            for spec in (spec for method in dataset.methods for spec in method.metrics):
                names.setdefault(spec.metric, {})[blueprint] = None
    return {metric: tuple(blueprints) for metric, blueprints in names.items()}


def metric_section(row: MetricRow) -> str:
    """Return what is to be known of a metric."""
    return joined(
        f"## {code(row.name)}",
        prose(row.words),
        facts(
            ("Bounds", bounds_words(row)),
            ("On 0 to 100", normalisation_words(row.normalisation)),
            ("Dataset's score", f"[{code(row.reduction)}](#reductions)"),
            ("Question types", ", ".join(link(name, "question-types.md") for name in suited_types(row.name))),
            ("Of a rating", code(row.rating or "")),
            ("Measured by", measure(row)),
            ("Needs", "`k`, a cut-off" if row.has_cut_off else ""),
            ("Used in", codes(benchmarks_by_metric().get(row.name, ()))),
            ("Constant answers", f"[{code(row.baseline)}](#constant-answers)" if row.baseline else ""),
        ),
    )


def metric_row(row: MetricRow) -> tuple[str, str, str]:
    """Return the row of a metric in the list at the top of the page."""
    return link(row.name), prose(row.words), bounds_words(row)


def bounds_words(row: MetricRow) -> str:
    """Return the bounds of a metric, and which raw scores are good."""
    low, high = row.bounds
    return f"{low:g} to {high:g}, {direction(row)}"


def metrics_page() -> str:
    """Return the page of metrics."""
    return joined(
        METRICS_HEAD,
        table(("Metric", "What it is", "Bounds"), map(metric_row, METRICS.values())),
        *map(metric_section, METRICS.values()),
        "## Reductions",
        text_below(metrics, "Reduction"),
        "## Constant answers",
        text_below(metrics, "Baseline"),
    )


@cache
def bundled_items() -> dict[str, Item]:
    """Return the first bundled item of each question type that base asks."""
    items: dict[str, Item] = {}
    for file in sorted((DATA_FOLDER / "bundled").glob("*.jsonl")):
        fields = read_json(file.read_text(encoding="utf-8").splitlines()[0])
        if fields.get("question_type") in Prompts.load().by_type and fields.keys() - {"canary"} <= Item.model_fields.keys():
            record = Record({name: value for name, value in fields.items() if name != "canary"}, file.name, 0)
            items.setdefault(fields["question_type"], adapt_item_record(record))
    return items


def prompt_example(name: str) -> str:
    """Return the prompt that a bundled item of a type is asked with; nothing if base does not ask such items."""
    if name not in bundled_items():
        return ""
    return joined(
        "A bundled item as it is asked:", block("text", build_messages(bundled_items()[name], Prompts.load())[0].content)
    )


def asked_in(name: str) -> str:
    """Return links to the settings that ask items of a type."""
    with_context = [setting for setting, solver in SOLVERS.items() if solver.by_task or solver.retrieves]
    asking = [setting for setting, solver in SOLVERS.items() if solver.asks(name, None)]
    return ", ".join(link(setting, "settings.md") for setting in asking or with_context)


def type_section(row: QuestionTypeRow) -> str:
    """Return what is to be known of a question type."""
    reader = FORMS[row.answer].read
    references = "required" if row.has_references else ""
    return joined(
        f"## {code(row.name)}",
        facts(
            ("Answer", f"[{code(row.answer)}](#forms-of-an-answer)"),
            ("References", f"{references}, of {codes(row.reference_names)}" if row.reference_names else references),
            ("Prompt", code(f"data/prompts/{row.name}.yaml") if row.has_prompt else "of its setting"),
            ("Settings", asked_in(row.name)),
            ("Read by", prose(doc_of(reader)) if reader else "the text as it is, without reasoning"),
            ("Metrics", ", ".join(link(metric, "metrics.md") for metric in suited_metrics(row.name))),
        ),
        prompt_example(row.name),
    )


def types_page() -> str:
    """Return the page of question types."""
    forms = text_below(question_types, "AnswerForm")
    return joined(TYPES_HEAD, *map(type_section, QUESTION_TYPES.values()), "## Forms of an answer", forms)


def scale_words(rubric: Rubric) -> str:
    """Return the scale of a rubric."""
    return f"{rubric.scale.lowest} to {rubric.scale.highest}"


def dimension_rows(rubric: Rubric) -> Iterator[tuple[str, str, str]]:
    """Yield a row per dimension: its name, its scale where it is its own, its definition in English."""
    for dimension in rubric.dimensions:
        own = dimension.scale
        scale = "" if own is None else "yes or no" if own == YES_NO else f"{own.lowest} to {own.highest}"
        yield row_name(dimension.name, rubric.id), scale, prose(dimension.definition["en"])


def rubric_section(name: str, file: Path) -> str:
    """Return what is to be known of a rubric."""
    rubric = load_rubric(name)
    first = read_text(file).partition("\n")[0]
    faults = [(row_name(fault, name, "fault"), prose(texts["en"])) for fault, texts in rubric.faults.items()]
    return joined(
        f"## {code(name)}",
        prose(first.removeprefix("# ")) if first.startswith("# ") else "",
        facts(
            ("Version", code(rubric.version)),
            ("Scale", scale_words(rubric)),
            ("Shown with the answer", codes(rubric.texts)),
            ("Asked", code(rubric.ask)),
            ("Reply", f"{code(rubric.reply)}{', with a reason' if rubric.rationale else ''}"),
        ),
        table(("Dimension", "Own scale", "Question"), dimension_rows(rubric)),
        table(("Fault", "What it is"), faults),
    )


def rubrics_page() -> str:
    """Return the page of the rubrics that ship."""
    files = files_by_name("rubrics", RUBRICS)
    return joined(RUBRICS_HEAD, *(rubric_section(name, files[name]) for name in sorted(files)))


def profiles_page() -> str:
    """Return the page of profiles."""
    sections = (
        joined(f"## {code(row.name)}", prose(doc_of(row.score)), facts(("Version", code(row.version))))
        for row in PROFILES.values()
    )
    return joined(PROFILES_HEAD, f"## {code(CORRECTED)}", prose(text_below(vocabulary, "CORRECTED")), *sections)


def write(folder: Path) -> None:
    """Write the four pages."""
    texts = {"metrics": metrics_page(), "question-types": types_page(), "rubrics": rubrics_page(), "profiles": profiles_page()}
    for name, text in texts.items():
        write_page(folder / f"{name}.md", text)
