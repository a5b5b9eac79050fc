"""Why a prompt is not built again: what stands in the way differs between settings."""

from hashlib import sha256

import pytest

from tasks.solvers.prompt_check import check_prompt

ABOUT_CONTEXTS = "prompts about long contexts contain retrieved texts or earlier turns; shown as stored"


@pytest.mark.parametrize(
    ("setting", "question_type", "why"),
    [
        ("rag", "long_qa", ABOUT_CONTEXTS),
        ("base", "emotion_expression", ABOUT_CONTEXTS),
        *(
            (setting, "role_play", f"setting {setting} words its own prompts, which may repeat earlier turns; shown as")
            for setting in ("role_play", "annotate", "no_longer_installed")
        ),
    ],
)
def test_only_context_prompts_hold_retrieved_text(setting: str, question_type: str, why: str) -> None:
    sent = {"messages": "[]", "messages_sha256": sha256(b"[]").hexdigest(), "call_key": "k", "setting": setting, "turn": 0}
    found = check_prompt({"question_type": question_type}, sent, {}, None, {})
    assert (found.hash_holds, found.rebuilt, found.journal) == (True, "not rebuilt", "no journal")
    assert (found.why or "").startswith(why)
