"""Evaluate: the same run as refresh, of one model, described by a short form."""

from typing import Any

from pydantic import Field, ValidationError

from flows.refresh import refresh
from flows.runtime.prefect_flows import moodflow_flow
from schemas.addresses import FORM_VARIABLE
from schemas.base import Frozen
from schemas.chat import EMBEDDED_MODEL, FORM_ADDRESS
from schemas.folders import DEFAULT_LAKE, LakeAddress
from schemas.plan import Plan, refused
from schemas.printing import printable
from schemas.roles import JUDGE
from tasks.scoring.blueprints import list_blueprints


class Evaluation(Frozen):
    """One model and one benchmark. What is left out is empty, not null, for which the form has one plain field."""

    benchmark: str = Field(
        description="What to evaluate. The names that end in -mini are small samples that come with MoodFlow.",
        json_schema_extra={"enum": [*list_blueprints()]},
    )
    model: str = Field(
        default=EMBEDDED_MODEL,
        min_length=1,
        description=f"The name that its server knows it by. {EMBEDDED_MODEL} is a small model that comes with MoodFlow.",
    )
    base_url: str = Field(
        default="",
        title="Address",
        description=f"Where the model is served, such as http://localhost:8000/v1. Leave it empty for {EMBEDDED_MODEL} only.",
        json_schema_extra={"pattern": FORM_ADDRESS},
    )
    api_key_env: str = Field(
        default="",
        title="Key variable",
        description="The name of the environment variable that holds the key, never the key itself. It must be allowed for this "
        "address: in prefect.yaml, or in MOODFLOW_KEY_ADDRESSES. Empty: no key.",
        json_schema_extra={"pattern": FORM_VARIABLE.replace("^", "^$|^")},
    )
    judge: str = Field(
        default="",
        description="The model that rates free-text answers, asked at the same address with the same key. Empty: what needs a "
        "judge gets no score.",
    )
    sample: int = Field(
        default=0,
        ge=0,
        title="Items per dataset",
        description="How many items of each dataset to ask. 0: as many as the benchmark says, else 300.",
    )
    lake: LakeAddress = Field(default=DEFAULT_LAKE, description="The folder that keeps replies, scores and reports.")

    @property
    def plan(self) -> Plan:
        """The same as a plan; UsageError: what is stated fits no model."""
        server = {"base_url": self.base_url or None, "api_key_env": self.api_key_env or None}
        judge = {"name": self.judge, **({} if self.judge == EMBEDDED_MODEL else server)}
        stated = {
            "benchmark": self.benchmark,
            "models": [{"name": self.model, **server}],
            "roles": {JUDGE: judge} if self.judge else {},
            "sample": self.sample or None,
            "lake": self.lake,
        }
        try:
            return Plan.model_validate(stated)
        except ValidationError as error:
            raise refused(error) from error

    @property
    def title(self) -> str:
        """Return the name of the run in the Prefect UI."""
        return printable(f"{self.model} on {self.benchmark}")


@moodflow_flow("evaluate", "evaluate {evaluation.title}")
async def evaluate(evaluation: Evaluation) -> Any:
    """Evaluate a model: state which one, where it is served, and the benchmark.

    It is a run like those of refresh, of which everything can be stated: replies that are in the lake already are not asked
    again, and the state is that of the report.

    Args:
        evaluation: One model and one benchmark; everything else is as usual.
    """
    return await refresh.fn(evaluation.plan)
