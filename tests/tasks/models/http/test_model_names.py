"""Names that mean the same model, and names that do not."""

import pytest

from tasks.models.http.model_names import is_same_model

SAME = [
    ("gpt-4o", "gpt-4o"),
    ("Qwen2.5-7B-Instruct", "qwen2.5-7b-instruct"),
    ("gpt-4o", "gpt-4o-2024-08-06"),
    ("gpt-4", "gpt-4-0613"),
    ("gemini-1.5-pro", "gemini-1.5-pro-002"),
    ("doubao-pro-32k", "doubao-pro-32k-240615"),
    ("mistral-large-latest", "mistral-large-2411"),
    ("claude-sonnet-4-latest", "claude-sonnet-4-20250514"),
    ("claude-sonnet-4", "claude-sonnet-4@20250514"),
    ("gemini-2.5-pro", "gemini-2.5-pro-preview-05-06"),
    ("deepseek-v3", "deepseek-v3-0324"),
    ("Mistral-7B-Instruct", "Mistral-7B-Instruct-v0.3"),
    ("openai/gpt-4o", "gpt-4o"),
    ("gpt-4o", "openai/gpt-4o-2024-08-06"),
    ("gemini-2.5-flash", "models/gemini-2.5-flash"),
    ("Qwen/Qwen3-8B", "/data/models/Qwen/Qwen3-8B/"),
    ("smollm2-q4", "/models/smollm2-q4.gguf"),
    ("smollm2-q4", "C:\\models\\SmolLM2-Q4.gguf"),
    ("big", "/models/big-00001-of-00003.gguf"),
    ("llama3", "llama3:latest"),
    ("deepseek/deepseek-r1:free", "deepseek/deepseek-r1"),
    ("ep-20240615123456-abcde", "doubao-pro-32k-240615"),
]
OTHER = [
    ("gpt-4o", "gpt-4o-mini"),
    ("gpt-4", "gpt-4o"),
    ("gpt-4o-2024-05-13", "gpt-4o-2024-08-06"),
    ("mistral-large-2407", "mistral-large-2411"),
    ("deepseek-v3", "deepseek-v3.1"),
    ("deepseek-chat", "deepseek-reasoner"),
    ("gemini-1.5-pro", "gemini-1.5-flash-002"),
    ("qwen/qwen3-8b", "unsloth/qwen3-8b"),
    ("llama3:8b", "llama3:70b"),
    ("llama3", "llama3:70b"),
    ("Qwen3-8B", "Qwen3-80B"),
    ("llama-3", "llama-3-8b"),
    ("openrouter/auto", "openai/gpt-4o"),
    ("smollm2-q4", "smollm2-q8.gguf"),
    ("gpt-4o", "/"),
]


@pytest.mark.parametrize(("asked", "named"), SAME)
def test_these_are_one_model(asked: str, named: str) -> None:
    assert is_same_model(asked, named)


@pytest.mark.parametrize(("asked", "named"), OTHER)
def test_these_are_two_models(asked: str, named: str) -> None:
    assert not is_same_model(asked, named)


@pytest.mark.parametrize(("asked", "named"), [pair for pair in (*SAME, *OTHER) if not pair[0].startswith("ep-")])
def test_which_of_two_names_was_asked_does_not_matter(asked: str, named: str) -> None:
    assert is_same_model(named, asked) == is_same_model(asked, named)
