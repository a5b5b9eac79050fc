"""The prompts of the role play: `data/prompts/role_play/seeker.yaml`, what the seeker is told."""

from collections.abc import Mapping
from typing import Annotated, Literal

from tasks.solvers.prompts import PROMPTS, PromptFile, PromptFolder, Template, Text

Variant = Literal["zero_shot", "cot", "icl", "cot_icl"]
"""What the seeker is told besides its part and its card: a plan for its messages (CoT), an example of a talk (ICL)."""

BLOCKS: Mapping[Variant, tuple[str, ...]] = {
    "zero_shot": ("role", "card"),
    "cot": ("role", "plan", "card"),
    "icl": ("role", "example", "card"),
    "cot_icl": ("role", "plan", "example", "card"),
}
"""In this order: what all cards share comes first, so that a server has it in its cache."""


class SeekerTemplate(Template):
    """Blocks of the instruction, and the greeting that it is met with."""

    role: Text
    plan: Annotated[Text, "turns"]
    example: Text
    card: Annotated[Text, "card"]
    greeting: Text

    def instruction(self, variant: Variant, card: str, turns: int) -> str:
        """Return the instruction; a blank line stands between its blocks."""
        filled = {"plan": self.plan.format(turns=turns), "card": self.card.format(card=card)}
        return "\n\n".join(filled.get(name) or getattr(self, name) for name in BLOCKS[variant])


class RolePlayPrompts(PromptFolder):
    """All texts that the role play asks with."""

    folder = PROMPTS / "role_play"

    seeker: PromptFile[SeekerTemplate]
