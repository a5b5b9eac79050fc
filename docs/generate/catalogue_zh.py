"""The page of benchmarks in Chinese: what each measures, how to run it, how to read its total."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from docs.generate.markdown import bullets, joined
from schemas.json_yaml import read_text, read_yaml

ZH_PAGE = "zh/benchmarks.md"
HEADS = {"measures": "测量什么", "run": "怎样运行", "total": "怎样读总分"}


@cache
def zh_texts() -> Mapping[str, Mapping[str, str]]:
    """Return the texts of zh.yaml, by benchmark."""
    return dict(read_yaml(read_text(Path(__file__).parent / "zh.yaml")))


def zh_text() -> str:
    """Return the page."""
    sections = (
        joined(
            f"## {name}",
            bullets(f"**{head}**：{text[key]}" for key, head in HEADS.items()),
            f"[English](../benchmarks/{name}.md)",
        )
        for name, text in zh_texts().items()
    )
    return joined("# 基准", "每个基准测量什么、怎样运行、怎样读总分。", *sections)
