"""Options of long contexts that cannot be meant: one message, exit status 2, nothing written."""

import json
from pathlib import Path

import pytest

from tests.flows.command import moodflow
from tests.flows.commands.test_bad_options import SERVER, assert_one_message

LONG = ("run", "longemotion-mini", *SERVER, "--datasets", "long_mini_qa")
RAG = ("--settings", "rag")


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("run", "moodbench-mini", *SERVER, *RAG, "--datasets", "mini_irony_detection"), ("has no long context", "--settings")),
        ((*LONG, "--settings", "rug"), ("where: settings.0", "rug")),
        ((*LONG, *RAG, "--ranking", "best"), ("where: retrieval.ranking", "best")),
        ((*LONG, *RAG, "--preset", "papers"), ("where: retrieval.preset", "papers")),
        ((*LONG, *RAG, "--embedder", "nobody/no-such-model"), ("is not on this machine", "nobody/no-such-model")),
        ((*LONG, "--length", "abc"), ("where: --length", "abc", "--length 10,50,90")),
        ((*LONG, "--depth", "half"), ("where: --depth", "half")),
        ((*LONG, "--depth", "101"), ("where: contexts.depths",)),
        ((*LONG, "--depth", "nan"), ("where: contexts.depths",)),
        ((*LONG, "--length", "0"), ("where: contexts.lengths",)),
        ((*LONG, "--needle-style", "loud"), ("where: contexts.needle_style", "loud")),
        ((*LONG, "--emotion-pairs", "some"), ("where: contexts.emotion_pairs", "some")),
        ((*LONG, "--top-k", "0"), ("where: retrieval.top_k",)),
        ((*LONG, *RAG, "--chunk-tokens", "32"), ("overlap", "32", "50")),
        ((*LONG, "--sage-base-url", "http://localhost:9/v1"), ("a sage is described and none is named", "--sage NAME")),
        ((*LONG, "--critic-provider", "openai"), ("a critic is described and none is named", "--critic NAME")),
        ((*LONG, "--judge-repeat", "0"), ("where: judge_repeat",)),
        (("ablate", "retrieve", *LONG[1:]), ("there is no ablation retrieve", "did you mean retrieval?")),
        (("ablate", "retrieval", *LONG[1:], "--vary", "overlap=1,2"), ("cannot be read", "overlap=1,2")),
        (("ablate", "retrieval", *LONG[1:], "--vary", "top_k="), ("cannot be read", "--vary")),
        (("ablate", "retrieval", *LONG[1:], "--vary", "top_k=1,many"), ("where: retrieval.top_k", "many")),
        (("ablate", "sage", *LONG[1:]), ("is not clear", "sage")),
        (("ablate", "embedder", *LONG[1:], "--vary", "embedder=minilm,nobody/no-such-model"), ("is not on this machine",)),
        (("ablate", "length", *LONG[1:], "--vary", "length=abc"), ("where: contexts.lengths", "abc")),
    ],
    ids=lambda part: " ".join(part[-2:]).replace("/", "-"),
)
def test_an_option_that_cannot_be_meant(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    lake = tmp_path / "lake"
    assert_one_message(moodflow(capsys, *arguments, "--lake", lake), *parts)
    assert not lake.exists() or not any(lake.rglob("*.parquet"))


@pytest.mark.parametrize(
    ("part", "where"),
    [
        ({"retrieval": {"overlap": 5}}, "retrieval.overlap"),
        ({"retrieval": {"overlap_tokens": -1}}, "retrieval.overlap_tokens"),
        ({"retrieval": [1]}, "where: retrieval"),
        ({"contexts": {"depths": ["a"]}}, "contexts.depths"),
        ({"panel": {"name": "m"}}, "where: panel"),
        ({"sage": "m"}, "where: sage"),
        ({"retrieval": {"initial_k": 2, "top_k": 4}, "settings": ["coem"]}, "initial_k"),
    ],
    ids=str,
)
def test_a_configuration_that_cannot_be_meant(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, part: dict[str, object], where: str
) -> None:
    config = tmp_path / "plan.yaml"
    config.write_text(json.dumps(part), encoding="utf-8")
    lake = tmp_path / "lake"
    assert_one_message(moodflow(capsys, *LONG, "--config", config, "--lake", lake), where)
    assert not lake.exists() or not any(lake.rglob("*.parquet"))
