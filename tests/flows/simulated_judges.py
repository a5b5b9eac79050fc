"""Sixty replies and dialogues with a known quality, three people who rate them, and judges that are right or wrong in one way.

Each reply says in fixed words how good it is in both dimensions and what it is about. People rate that, and err now and then. A
judge reads the same words from what it is shown. So what each judge gets is known from the way in which it is wrong.
"""

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple
from unicodedata import normalize

from schemas.folders import DATA_FOLDER
from schemas.json_yaml import read_text, read_yaml

Messages = list[dict[str, str]]
Ratings = dict[str, int]

SOURCE, SEEKER, SUPPORTER = "simulated", "seeker", "supporter"
LOWEST, MIDDLE, HIGHEST = 1, 3, 5
BOTH = ("en", "zh")
RUBRIC: dict[str, Any] = {
    "id": "support",
    "version": "1",
    "texts": ["SOURCE"],
    "instruction": {"en": "Rate what is said to the person.", "zh": "请评价对这个人所说的话。"},
    "bands": [{"lowest": 1, "highest": 5, "meaning": {"en": "the more the better", "zh": "越高越好"}}],
    "dimensions": [
        {"name": "empathy", "definition": {"en": "Is it warm?", "zh": "是否温暖？"}},
        {"name": "relevance", "definition": {"en": "Is it about what was told?", "zh": "是否切题？"}},
    ],
}
DIMENSIONS = ("empathy", "relevance")
PREFERRED = "preferred"
"""What is asked of two answers."""

TOPICS = {
    "en": ("office", "garden", "school", "sister", "mother", "father", "doctor", "winter", "violin", "ticket"),
    "zh": ("考试", "搬家", "工作", "失眠", "朋友", "妈妈", "猫咪", "旅行", "吵架", "面试"),
}
"""One per cluster. Words of each kind are of equal length in a language, so that length says nothing about quality."""

DEGREES = {"en": {2: "scant", 3: "mixed", 4: "solid", 5: "great"}, "zh": {2: "很少", 3: "有些", 4: "许多", 5: "十足"}}
SAID = {
    "en": "{style} I hear you with {empathy} warmth. I speak of the {topic} with {relevance} detail.",
    "zh": "{style}我以{empathy}的温暖听你说。我谈{topic}谈得有{relevance}的细节。",
}
STYLES = {
    "juniper": {"en": "Well then", "zh": "是这样"},
    "maple": {"en": "Dear you,", "zh": "亲爱的"},
    "willow": {"en": "Look here", "zh": "你看看"},
}
"""How replies of a family of models begin."""

FILLER = {"en": " We can take it slowly and look at one thing after the other.", "zh": "我们可以慢慢来，一件一件地看。"}
TOLD = {"en": "Today I must talk about the {topic}.", "zh": "今天我想谈谈{topic}。"}
GOES_ON = {"en": "Go on.", "zh": "请继续。"}

SHORT, LONG, LONG_TO_A_JUDGE = 810, 1800, 1100
"""Characters of all replies of a text. Short ones with half as much again are long to the judge that loves length; with an
injection, a name or doubled spaces they are not; and long ones still are without one of three replies."""

SYSTEMS = ("juniper-small", "juniper-large", "maple-small", "maple-large", "willow-small", "willow-large")
BEST = {"empathy": (1, 2, 3, 5, 6, 7), "relevance": (5, 8, 3, 7, 4, 6)}
"""Of ten texts of each system so many are of quality 5, one of 4, one of 3 and the others of 2: the order of the systems by one
dimension is none by the other."""

JUDGE, OTHER_JUDGES = "maple-judge", ("juniper-judge", "willow-judge")
"""The judge that is certified, by its name a relative of two systems; and two other judges, which are right."""

PEOPLE = ("ann", "bob", "cyd")
ERRS_EVERY = 6
"""Of six ratings by each of the people one is off by a step: up and down in turn, from 5 always down."""

DRAW = 3956
"""Of the random draws 0, 1, 2 ... the first by which length says nothing of a quality that the people's ratings do not (partial
Spearman of a judge's ratings within 0.05 of 0, of all judges but those that love length or are noisy), nor one quality of the
other."""


class Unit(NamedTuple):
    """A text and how good it is."""

    item: str
    system: str
    language: str
    topic: str
    quality: Ratings
    turns: tuple[tuple[str, str], ...]
    """Who says what; a reply has one turn."""

    @property
    def text(self) -> str:
        dialogue = "\n".join(f"{speaker}: {said}" for speaker, said in self.turns)
        return dialogue if len(self.turns) > 1 else self.turns[0][1]


@cache
def units() -> tuple[Unit, ...]:
    """Return 20 items with answers of three systems each; of five items two are replies and three are dialogues."""
    draw = random.Random(DRAW)
    qualities = {
        system: zip(
            *(_shuffled(draw, [5] * best[place] + [4, 3] + [2] * (8 - best[place])) for best in BEST.values()), strict=True
        )
        for place, system in enumerate(SYSTEMS)
    }
    lengths = {system: iter(_shuffled(draw, [SHORT, LONG] * 5)) for system in SYSTEMS}
    made = []
    for number in range(20):
        language = BOTH[number % 2]
        for system in (SYSTEMS[(number + 2 * slot + number // 10) % 6] for slot in range(3)):
            quality = dict(zip(DIMENSIONS, next(qualities[system]), strict=True))
            made.append(_unit(number, language, system, quality, next(lengths[system])))
    return tuple(made)


def _shuffled(draw: random.Random, values: list[int]) -> list[int]:
    draw.shuffle(values)
    return values


def _unit(number: int, language: str, system: str, quality: Ratings, length: int) -> Unit:
    topic = TOPICS[language][number // 2]
    degrees = {name: DEGREES[language][rating] for name, rating in quality.items()}
    said = SAID[language].format(style=STYLES[system.partition("-")[0]][language], topic=topic, **degrees)
    told = TOLD[language].format(topic=topic)
    asked = (told, GOES_ON[language], GOES_ON[language]) if number % 5 < 3 else ()
    reply = (said + FILLER[language] * LONG)[: length // max(1, len(asked)) - 1] + {"en": ".", "zh": "。"}[language]
    turns = [turn for line in asked for turn in ((SEEKER, line), (SUPPORTER, reply))]
    return Unit(f"day-{number:02}", system, language, topic, quality, tuple(turns) or ((SUPPORTER, reply),))


def rows() -> Iterator[dict[str, Any]]:
    """Yield each rating by people and by other judges, with what was rated, as a line of a file has it."""
    for number, unit in enumerate(units()):
        of_unit = {
            "source": SOURCE,
            "unit_id": unit.item,
            "cluster_id": unit.item,
            "system": unit.system,
            "language": unit.language,
            "context": TOLD[unit.language].format(topic=unit.topic),
            "question": "",
            "text": unit.text,
            "dialogue": len(unit.turns) > 1,
            "text_sha256": sha256(unit.text.encode()).hexdigest(),
        }
        for shift, (dimension, quality) in enumerate(unit.quality.items()):
            of_dimension = {**of_unit, "dimension": dimension, "higher_is_better": True, "scale": [1, 2, 3, 4, 5]}
            for place, rater in enumerate(PEOPLE):
                rating = quality + _error(number + 2 * place + shift, quality)
                yield {**of_dimension, "rater": rater, "rater_kind": "expert", "rating": rating}
            for judge in OTHER_JUDGES:
                yield {**of_dimension, "rater": judge, "rater_kind": "judge", "rating": quality}


def _error(turn: int, quality: int) -> int:
    if turn % ERRS_EVERY:
        return 0
    return -1 if quality == HIGHEST or turn // ERRS_EVERY % 2 else 1


def write_source(folder: Path) -> tuple[Path, Path]:
    """Write the ratings and the rubric; returns both files."""
    file, rubric = folder / f"{SOURCE}.jsonl", folder / "support.yaml"
    file.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows()), encoding="utf-8")
    rubric.write_text(json.dumps(RUBRIC), encoding="utf-8")
    return file, rubric


def bare(text: str) -> str:
    """Return what a text says, whatever its spaces, lines and widths of characters."""
    return "".join(normalize("NFKC", text).split()).casefold()


@cache
def bank(name: str) -> tuple[str, ...]:
    """Return the texts of this name in `data/perturbations.yaml`, in both languages, bare: what the checks put into answers."""
    banks = read_yaml(read_text(DATA_FOLDER / "perturbations.yaml"))["texts"]
    texts = (banks[language][name] for language in BOTH)
    return tuple(bare(text) for each in texts for text in (each.values() if isinstance(each, dict) else each))


class Shown(NamedTuple):
    """What a judge is shown: names of dimensions in the order asked, what was told, and the replies of one or two answers."""

    asked: tuple[str, ...]
    told: str
    answers: tuple[tuple[str, ...], ...]

    @staticmethod
    def of(messages: Messages) -> "Shown":
        """Read a call's messages. The example of a reply at the end of the first has the dimensions in the order asked."""
        system, user = (message["content"] for message in messages[:2])
        blocks = {name: text for name, _, text in re.findall(r"<<<(\w+) (\w{12})>>>\n(.*?)\n<<<END \2>>>", user, re.DOTALL)}
        asked = tuple(json.loads(system[system.rindex("{") : system.rindex("}") + 1]))
        turn, first, second = r"^<<<TURN \d+ (\w+) \w{12}>>>\n", "ANSWER 1\n", "\n\nANSWER 2\n"
        if asked == (PREFERRED,):
            return Shown(
                asked, bare(blocks["SOURCE"]), tuple((text,) for text in blocks["ANSWER"].removeprefix(first).split(second))
            )
        _, *turns = re.split(turn, blocks["ANSWER"], flags=re.MULTILINE)
        replies = [text.strip() for speaker, text in zip(turns[::2], turns[1::2], strict=True) if speaker == SUPPORTER]
        return Shown(asked, bare(blocks["SOURCE"]), (tuple(replies) or (blocks["ANSWER"],),))

    @property
    def replies(self) -> list[str]:
        """What the one answer says, bare."""
        return [bare(reply) for reply in self.answers[0]]

    @property
    def characters(self) -> int:
        return sum(map(len, self.answers[0]))

    def has(self, *texts: str) -> bool:
        """Whether a reply holds one of these texts."""
        return any(text in reply for reply in self.replies for text in texts)

    def quality(self, dimension: str) -> int:
        """Return what the answer is worth: the lowest where a reply dismisses, says nothing known or is off the topic."""
        rated = [reply for reply in self.replies if not any(text in reply for text in bank("supportive"))]
        return LOWEST if self.has(*bank("dismissive")) else min(self._worth(dimension, reply) for reply in rated)

    def _worth(self, dimension: str, reply: str) -> int:
        (topic,) = (topic for language in BOTH for topic in TOPICS[language] if topic in self.told)
        if dimension == "relevance" and topic not in reply:
            return LOWEST
        found = (rating for words, rating in WORDS[dimension].items() if words in reply)
        return next(found, LOWEST)


WORDS = {
    dimension: {
        bare(words.format(degree)): rating
        for language, words in zip(BOTH, of_languages, strict=True)
        for rating, degree in DEGREES[language].items()
    }
    for dimension, of_languages in {
        "empathy": ("with {} warmth", "我以{}的温暖"),
        "relevance": ("with {} detail", "谈得有{}的细节"),
    }.items()
}
"""Ratings by dimension and by the words that say them."""


def a_step_more(rating: int) -> int:
    """Return the next rating; what is worth nothing stays so."""
    return rating if rating in (LOWEST, HIGHEST) else rating + 1


Judge = Callable[[Shown], Ratings]
"""Takes one answer."""


def perfect(shown: Shown) -> Ratings:
    return {name: shown.quality(name) for name in shown.asked}


def constant(shown: Shown) -> Ratings:
    return dict.fromkeys(shown.asked, MIDDLE)


def biased(shown: Shown) -> Ratings:
    return {name: a_step_more(rating) for name, rating in perfect(shown).items()}


def halo(shown: Shown) -> Ratings:
    """See in everything what is asked first."""
    return dict.fromkeys(shown.asked, shown.quality(shown.asked[0]))


def length_lover(shown: Shown) -> Ratings:
    return biased(shown) if shown.characters > LONG_TO_A_JUDGE else perfect(shown)


def position_lover(shown: Shown) -> Ratings:
    first = shown.asked[0]
    return {**perfect(shown), first: a_step_more(shown.quality(first))}


def obeys_injections(shown: Shown) -> Ratings:
    return dict.fromkeys(shown.asked, HIGHEST) if shown.has(*bank("injection")) else perfect(shown)


def self_preferring(shown: Shown) -> Ratings:
    """Prefer the family of maple, to which it belongs."""
    return biased(shown) if shown.has(*map(bare, STYLES["maple"].values())) else perfect(shown)


class Noisy:
    """Off by up to two steps, by another draw each time it is asked the same. The order of other calls changes nothing."""

    def __init__(self) -> None:
        self._times, self._lock = Counter[Shown](), Lock()

    def __call__(self, shown: Shown) -> Ratings:
        with self._lock:
            self._times[shown] += 1
            draw = random.Random(f"{self._times[shown]} {shown}")
        return {name: min(HIGHEST, max(LOWEST, rating + draw.randint(-2, 2))) for name, rating in perfect(shown).items()}


def preference(judge: Judge, shown: Shown) -> int:
    """Return which of two answers is better in all dimensions together, 1 or 2; of equal ones the same in either order."""
    if judge in (constant, position_lover):
        return 1
    first, second = ((sum(judge(Shown(DIMENSIONS, shown.told, (answer,))).values()), answer) for answer in shown.answers)
    return 1 if first >= second else 2


def answering(judge: Judge) -> Callable[[Messages], str]:
    """Return what a model server replies that is this judge."""

    def reply(messages: Messages) -> str:
        shown = Shown.of(messages)
        return json.dumps({PREFERRED: preference(judge, shown)} if shown.asked == (PREFERRED,) else judge(shown))

    return reply
