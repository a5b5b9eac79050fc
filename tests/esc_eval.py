"""A blueprint with ESC-Eval's abilities, in a file of its own."""

from pathlib import Path

BLUEPRINT = """
name: esc-eval
title: ESC-Eval
version: "1"
source: ESC-Eval, Table 2
level_rules: [{weights: {high: 1}}]
abilities:
  - {id: english, title: English, tasks: [{id: in_english, title: In English, level: high, datasets: [esc_eval_en]}]}
  - {id: chinese, title: Chinese, tasks: [{id: in_chinese, title: In Chinese, level: high, datasets: [esc_eval_zh]}]}
datasets:
  esc_eval_en: {title: English, methods: &rated [{id: judge, judged: true, rubric: esc_eval, metrics: [{metric: judged_rating}]}]}
  esc_eval_zh: {title: Chinese, methods: *rated}
"""


def write_blueprint(folder: Path) -> Path:
    """Write it and return the file."""
    file = folder / "esc-eval.yaml"
    file.write_text(BLUEPRINT, encoding="utf-8")
    return file
