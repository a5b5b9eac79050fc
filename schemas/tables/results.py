"""Tables that are no layers of the lake: the results that `moodflow export` writes, and those in the folder of a run."""

import dataframely as dy

NOT_SCORED, NOT_ASKED = "not_scored", "not_asked"
"""Status of an answer without a score, and of an item without an answer; all others are those of an item's score."""

_NUMBERS = ("judge_repetition", "rating", "lowest", "highest")
RATING = {"judge": dy.String(), "dimension": dy.String(), **{name: dy.Int64(nullable=True) for name in _NUMBERS}}


class Results(dy.Schema):
    """One row per value that an answer of a run earned; one without a value where an item earned none."""

    run = dy.String(description="name of the run")
    benchmark = dy.String(description="id of the blueprint")
    model = dy.String(description="model under test")
    setting = dy.String(description="how it was asked; base = once, without help")
    ability = dy.String(description="id of the main ability that the dataset counts for")
    ability_title = dy.String(description="its title")
    task = dy.String(description="id of the task that the dataset counts for")
    task_title = dy.String(description="its title")
    dataset = dy.String(description="id of the dataset")
    dataset_title = dy.String(description="its title")
    item_id = dy.String(description="id of the item in its dataset")
    part = dy.String(description="which of the item's answers; empty = it has one, or the value is about all of them")
    repetition = dy.Int64(description="0-based number of the time that the item was asked")
    cluster = dy.String(nullable=True, description="what the item shares with others, to resample by; null = item not in the run")
    language = dy.String(nullable=True, description="of the item; null = item not in the run")
    method = dy.String(nullable=True, description="how the answer was scored, as the blueprint names it; null = not at all")
    metric = dy.String(nullable=True, description="what the value measures; null = the answer was not scored")
    prompt = dy.String(nullable=True, description="last messages sent for the answer; null = several answers, or text withheld")
    reply = dy.String(nullable=True, description="the answer: of a dialogue a line per turn, of several answers a line per part")
    parsed_answer = dy.String(nullable=True, description="what the reply was read as: letters, label, number or text")
    gold = dy.String(nullable=True, description="right answer, each of several on a line of its own; null = there is none")
    value = dy.Float64(nullable=True, description="what the answer earned, in the metric's own bounds; null = missing, not 0")
    status = dy.String(description="scored; unparsed = counts as wrong; any other status has no value")
    reason = dy.String(nullable=True, description="failure behind the status, as far as it is known")
    ratings = dy.List(dy.Struct(RATING), nullable=True, description="by the method's rubric; null = the answer was not rated")


class Partitions(dy.Schema):
    """`partitions.parquet`: one row per file of the lake that a run rests on. Several runs may share a file."""

    run = dy.String(primary_key=True, description="name of the run")
    started_at = dy.String(description="when the run began, as ISO 8601 with its offset")
    benchmark = dy.String(description="id of the blueprint")
    layer = dy.String(description="layer that the file belongs to")
    fingerprint = dy.String(description="hash of what the file was computed from; runs with the same one share its rows")
    path = dy.String(primary_key=True, description="of the file, below the lake")
    rows = dy.Int64(description="in the file")


class BlueprintParts(dy.Schema):
    """`blueprint.parquet`: one row per ability, task and dataset of the blueprint of a run. Kind and id are joined together."""

    run = dy.String(primary_key=True, description="name of the run")
    kind = dy.String(primary_key=True, description="ability (a main one), sub_ability, task or dataset")
    id = dy.String(primary_key=True, description="as in the layers")
    title = dy.String(description="as in reports")
    parent = dy.String(nullable=True, description="id of the ability or task that it counts for; null = a main ability")
    level = dy.String(nullable=True, description="of a task: low, medium or high; null = no task")
    weight = dy.Float64(description="among those that count for the same parent")
