"""What a certificate is of: a judge as it is called, with one rubric, in the version of the prompt that it is asked by."""

from collections.abc import Mapping
from typing import Any

from schemas.certificates import CertificateSubject
from schemas.chat import ModelEntry
from tasks.judging.executor import JUDGEMENTS_VERSION, judge_settings
from tasks.judging.rubrics import Rubric
from tasks.lake.partitions import hash_settings


def subject_of(judge: ModelEntry, rubric: Rubric) -> CertificateSubject:
    """Name a judge of a resolved plan, whose API capabilities are known, with its rubric."""
    settings = {**judge_settings(judge, rubric.sha256), "evaluation_version": JUDGEMENTS_VERSION}
    return subject_of_settings(settings, judge.name, rubric.id)


def subject_of_settings(settings: Mapping[str, Any], judge: str, rubric: str) -> CertificateSubject:
    """Name the judge of a stored partition of judgements by the settings in its footer.

    How often it rates an answer changes nothing. A change of model, server, sampling, rubric or prompt yields another hash.
    """
    identity = hash_settings({name: value for name, value in settings.items() if name != "repetitions"})
    return CertificateSubject(judge=judge, rubric=rubric, rubric_sha256=settings["rubric_sha256"], identity=identity)
