"""Names of runs."""

import re
from datetime import datetime
from pathlib import Path

from schemas.plan import Plan, fields_of
from tasks.lake.fingerprint import hash_settings

MAX_MODELS_LENGTH = 40


def name_run(plan: Plan, started: datetime) -> str:
    """Start time, benchmark, models and six digits of the plan's hash: sorts by time and is safe as a folder name."""
    models = re.sub(r"[^A-Za-z0-9.]+", "-", "+".join(model.name for model in plan.models))[:MAX_MODELS_LENGTH].strip("-")
    digest = hash_settings(plan.model_dump(mode="json", exclude=set(fields_of("place"))))[:6]
    return f"{started:%Y%m%dT%H%M%S%fZ}-{Path(plan.benchmark).stem}-{models}-{digest}"
