"""Layer `simulation_faults`: what is wrong with the lines of a person whom a model plays in a dialogue."""

import dataframely as dy

from schemas.tables.columns import OfAskedItem
from schemas.vocabulary import FAULT_SEVERITIES


class SimulationFaults(OfAskedItem):
    """One row per fault. Key: that of the answer, found_by, number. Written by score."""

    part = dy.String(primary_key=True, description="which of the item's answers; empty = it has one")
    found_by = dy.String(primary_key=True, min_length=1, description="`rule`, or the judge that named it")
    number = dy.Int64(primary_key=True, min=0, description="among those that it found in the answer")
    speaker = dy.String(nullable=True, description="role that said the line; null = the judge named none of such a role")
    turn = dy.Int64(nullable=True, min=1, description="which of the speaker's lines")
    kind = dy.String(regex=r"^[a-z][a-z0-9_]*$")
    severity = dy.Enum(list(FAULT_SEVERITIES), description="what it did to the model under test")
    evidence = dy.String(min_length=1, description="words of the line, as the judge quotes them where it named the fault")
    refused = dy.String(nullable=True, description="why what a judge named does not count; null = it counts")
