"""What a terminal says of a run that is verified: no more than was checked."""

import pytest

from flows.commands.verify import verify_view
from schemas.verification import CheckedFiles, CheckedLayer, Verification


def layer(name: str, *, recomputed: bool) -> CheckedLayer:
    return CheckedLayer(layer=name, partitions=1, rows=1, recomputed=recomputed, differs=0)


@pytest.mark.parametrize(
    ("hashed", "recomputed", "said"),
    [
        (5, True, "5 files hashed, every layer after responses recomputed to the same content."),
        (0, True, "0 files hashed, every layer after responses recomputed to the same content; the notes say what could not"),
        (5, False, "5 files hashed, every layer after responses but ablations recomputed to the same content; the notes say"),
    ],
)
def test_the_verdict_claims_what_was_checked(hashed: int, recomputed: bool, said: str) -> None:
    found = Verification(
        run="r",
        verified=True,
        files=CheckedFiles(checked=hashed, differ=()),
        layers=(
            layer("items", recomputed=False),
            layer("responses", recomputed=False),
            layer("totals", recomputed=True),
            layer("ablations", recomputed=recomputed),
        ),
        differences=(),
        would_differ=(),
        notes=(),
    )
    assert f"Run r is verified: {said}" in str(verify_view(found)[-1])
