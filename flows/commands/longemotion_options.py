"""Options of benchmarks with long contexts: helpers, how contexts are built, how chunks are retrieved."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, get_args

import typer

from schemas.context import NeedleStyle
from schemas.errors import UsageError
from schemas.vocabulary import Preset, Ranking


def _words(kind: Any) -> str:
    return ", ".join(get_args(kind))


Panel = Annotated[list[str] | None, typer.Option("--panel", help="further judge at the judge's server; repeatable")]
JudgeRepeat = Annotated[int | None, typer.Option(help="times each judge rates an answer; the mean counts [default: 1]")]
Sage = Annotated[str | None, typer.Option(help="CoEM: model that enriches chunks [default: the one under test]")]
SageProvider = Annotated[str | None, typer.Option(help="provider of the Sage, instead of --sage-base-url")]
SageBaseUrl = Annotated[str | None, typer.Option(help="server of the Sage")]
SageKeyEnv = Annotated[str | None, typer.Option(help="environment variable that holds the Sage's API key")]
Critic = Annotated[str | None, typer.Option(help="Self-RAG: model that criticises chunks [default: the one under test]")]
CriticProvider = Annotated[str | None, typer.Option(help="provider of the critic, instead of --critic-base-url")]
CriticBaseUrl = Annotated[str | None, typer.Option(help="server of the critic")]
CriticKeyEnv = Annotated[str | None, typer.Option(help="environment variable that holds the critic's API key")]
PresetName = Annotated[
    str | None, typer.Option("--preset", help=f"parameters of the settings: {_words(Preset)} [default: paper]")
]
RankingName = Annotated[str | None, typer.Option("--ranking", help=f"how chunks are ranked: {_words(Ranking)} [default: dense]")]
Embedder = Annotated[
    str | None, typer.Option(help="sentence-transformers model or folder [default: BAAI/bge-m3 if it is here, else minilm]")
]
ChunkTokens = Annotated[int | None, typer.Option(help="longest chunk in tokens [default: the preset's]")]
TopK = Annotated[int | None, typer.Option(help="chunks shown to the model [default: the preset's]")]
Lengths = Annotated[str | None, typer.Option("--length", help="tokens of emotion classification's contexts; several = a grid")]
Depths = Annotated[str | None, typer.Option("--depth", help="depth of the needle in percent; several, by commas = a grid")]
NeedleStyleName = Annotated[
    str | None, typer.Option("--needle-style", help=f"layout of needle and book: {_words(NeedleStyle)} [default: matched]")
]
EmotionPairs = Annotated[str | None, typer.Option(help="emotion detection: published or balanced [default: published]")]
NoLengthDemand = Annotated[
    bool, typer.Option("--no-length-demand", help="emotion expression does not ask for more than 3,000 tokens per stage")
]


def _numbers(read: Callable[[str], float], option: str) -> Callable[[str], tuple[float, ...]]:
    def read_all(text: str) -> tuple[float, ...]:
        try:
            return tuple(read(part.strip()) for part in text.split(",") if part.strip())
        except ValueError as error:
            raise UsageError(
                "a list of numbers cannot be read",
                where=option,
                expected="numbers separated by commas",
                got=text,
                next_step=f"for example {option} 10,50,90",
            ) from error

    return read_all


NESTED: Mapping[str, tuple[str, str, Callable[[Any], Any]]] = {
    "lengths": ("contexts", "lengths", _numbers(int, "--length")),
    "depths": ("contexts", "depths", _numbers(float, "--depth")),
    "needle_style": ("contexts", "needle_style", str),
    "emotion_pairs": ("contexts", "emotion_pairs", str),
    "no_length_demand": ("contexts", "length_demand", lambda _given: False),
    "preset": ("retrieval", "preset", str),
    "ranking": ("retrieval", "ranking", str),
    "embedder": ("retrieval", "embedder", str),
    "chunk_tokens": ("retrieval", "chunk_tokens", int),
    "top_k": ("retrieval", "top_k", int),
}
"""Options by parameter of the command: the part of the plan they belong to, their field there, how they are read."""


def complete_nested(values: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a plan whose parts `contexts` and `retrieval` have what the options say; options win.

    Args:
        values: fields of Plan, from a configuration file.
        given: every option by its parameter; None or False means not given.

    Raises:
        UsageError: if a list of numbers cannot be read.
    """
    completed = dict(values)
    for option, (part, name, read) in NESTED.items():
        value = given.get(option)
        if value is None or value is False:
            continue
        before = completed.get(part)
        if before is None or isinstance(before, Mapping):  # else the plan says what is wrong with it
            completed[part] = {**(before or {}), name: read(value)}
    return completed


def read_settings(text: str | None) -> tuple[str, ...] | None:
    """Names of settings separated by commas; a hyphen may stand for the underscore. None stays None."""
    return None if text is None else tuple(name.strip().replace("-", "_") for name in text.split(",") if name.strip())
