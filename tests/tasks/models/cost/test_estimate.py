"""Estimates of tokens: documented guesses first, then what replies have shown."""

from dataclasses import replace

import pytest

from schemas.api_capabilities import Sampling
from schemas.chat import ChatMessage, ChatReply
from tasks.models.cost.estimate import Estimator, guess_tokens, measure_call
from tests.tasks.models.making_calls import request

LATIN = replace(request("x" * 400), sampling=Sampling(max_tokens=200))
CHINESE = replace(LATIN, messages=(ChatMessage(role="user", content="心" * 100),))


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("abcdefgh", 2), ("心情", 2), ("心情。abcd", 4), ("カナ한글", 4), ("𠀀", 1)]
)
def test_guesses_by_script(text: str, tokens: float) -> None:
    # 4 characters of other scripts are a token, and so is 1 of Chinese, Japanese or Korean.
    assert guess_tokens(text) == tokens


def test_before_any_reply_there_are_guesses() -> None:
    # 400 / 4 + 4 for the message; 100 + 4; a quarter of 200.
    expected = [Estimator().expect(call)[:2] for call in (LATIN, CHINESE)]
    assert expected == [(104, 50), (104, 50)]


def test_replies_correct_the_guesses_of_their_model_and_script_only() -> None:
    estimator = Estimator()
    estimator.learn(measure_call(LATIN), 52, 10)
    estimator.learn(measure_call(LATIN), 104, 20)
    # 156 counted tokens where 208 were guessed: 0.75; mean reply 15.
    assert estimator.expect(LATIN)[:2] == (78, 15)
    # Nothing is known of Chinese prompts yet, but replies have their mean.
    assert estimator.expect(CHINESE)[:2] == (104, 15)
    assert estimator.expect(replace(LATIN, model="other"))[:2] == (104, 50)


def test_a_judge_has_replies_of_its_own() -> None:
    estimator = Estimator()
    estimator.learn(measure_call(LATIN), 104, 2)
    judging = replace(LATIN, json_schema="{}")
    assert estimator.expect(judging)[:2] == (104, 50)
    estimator.learn(measure_call(judging), 104, 40)
    assert [estimator.expect(call).completion_tokens for call in (LATIN, judging)] == [2, 40]
    assert (estimator.seen("listener", judged=False), estimator.seen("listener", judged=True)) == (1, 1)


def test_what_a_call_has_used() -> None:
    estimator = Estimator()
    expected = estimator.expect(LATIN)
    counted = ChatReply(text="x" * 80, prompt_tokens=90, completion_tokens=3)
    assert estimator.count(expected, counted) == (90, 3, True)
    # Empty content was billed all the same.
    assert estimator.count(expected, replace(counted, text=None, failure="empty_content")) == (90, 3, True)
    assert estimator.count(expected, ChatReply(failure="http_5xx")) == (0, 0, True)
    # Without the server's counts: the estimated prompt, and 80 + 40 characters of reply and reasoning.
    assert estimator.count(expected, ChatReply(text="x" * 80, reasoning="x" * 40)) == (104, 30, False)
