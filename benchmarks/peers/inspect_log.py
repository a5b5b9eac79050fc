"""Write a log of so many samples, with questions and replies of some 300 characters, by Inspect itself, in its environment.

Usage: inspect_log.py FILE SAMPLES
"""

import random
import sys

from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelOutput
from inspect_ai.scorer import Score

WORDS = "the and she felt that when friend morning could not sleep because work had been heavy all week at lake"


def text(chance: random.Random) -> str:
    """Return a text of some 300 characters."""
    return " ".join(chance.choices(WORDS.split(), k=60))


def sample(number: int, chance: random.Random) -> EvalSample:
    """Return a question, its reply and score."""
    question, reply = text(chance), text(chance) + (" quixotic" if number % 50_000 == 49_999 else "")
    return EvalSample(
        id=f"sample-{number:07}",
        epoch=1,
        input=question,
        target="A",
        messages=[ChatMessageUser(content=question), ChatMessageAssistant(content=reply)],
        output=ModelOutput.from_content("mock/model", reply),
        scores={"match": Score(value="C" if number % 3 else "I", answer="A")},
    )


def main() -> None:
    """Write the log."""
    file, samples = sys.argv[1], int(sys.argv[2])
    chance = random.Random(0)
    dataset = EvalDataset(name="many", samples=samples)
    spec = EvalSpec(created="2026-01-01T00:00:00+00:00", task="many", dataset=dataset, model="mock/model", config=EvalConfig())
    log = EvalLog(status="success", eval=spec, samples=[sample(number, chance) for number in range(samples)])
    write_eval_log(log, file)


if __name__ == "__main__":
    main()
