"""Single choice asked by letter: the prompt as MoodFlow sends it, the reply compared to the letter of the right option.

Inspect reads this file in an environment of its own, where alone its modules are.
"""

from inspect_ai import Task, task
from inspect_ai.dataset import FieldSpec, json_dataset
from inspect_ai.scorer import match
from inspect_ai.solver import generate


@task  # type: ignore[untyped-decorator]
def letters() -> Task:
    """Of items.jsonl in the folder the command runs in; one object a line: prompt, letter."""
    dataset = json_dataset("items.jsonl", FieldSpec(input="prompt", target="letter"))
    return Task(dataset=dataset, solver=generate(), scorer=match(location="exact"))
