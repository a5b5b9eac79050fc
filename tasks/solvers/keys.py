"""What a `responses` partition is made of."""

from schemas.chat import ModelEntry
from schemas.lineage import PartitionKey, PartitionRef
from schemas.vocabulary import TooLong
from tasks.lake.fingerprint import partition_key
from tasks.solvers.option_order import Epochs
from tasks.solvers.truncation import SHORTENING_VERSION

RESPONSES_VERSION = "3"
"""Bumped when solvers ask or record calls differently; prompt texts carry their own hash."""


def responses_key(
    items: PartitionRef,
    entry: ModelEntry,
    setting: str,
    prompts_sha256: str,
    rounds: Epochs,
    too_long: TooLong = "missing",
) -> PartitionKey:
    """Key of one model's replies to one dataset's items under one setting.

    Token probabilities count only where they are asked for, the policy for too long items only where it cuts.
    """
    settings = {
        "model": entry.name,
        **entry.meaning,
        "prompts_sha256": prompts_sha256,
        **rounds.settings,
        **({"token_probabilities": True} if entry.token_probabilities else {}),
        **({"too_long": {"policy": too_long, "version": SHORTENING_VERSION}} if too_long != "missing" else {}),
    }
    keys = {"dataset": items.key("dataset"), "model": entry.name, "setting": setting}
    return partition_key("responses", keys, settings, parents=[items.identity], version=RESPONSES_VERSION)
