"""Build the messages that ask an item.

One user message and no system message: context, question with lettered options, instruction. The context comes first because
items that share one then share a prefix, which model servers keep in their cache. Texts live in `data/prompts`, one file per
question type; a change of a text bumps the file's version, and the hash of all of them is part of every fingerprint.
"""

import json
import re
from collections.abc import Collection, Mapping
from functools import cache
from itertools import product
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, Self, TypeVar, cast

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from schemas.base import Frozen
from schemas.chat import ChatMessage, ModelEntry
from schemas.dataset import DatasetSpec
from schemas.errors import UsageError, summarize
from schemas.folders import DATA_FOLDER
from schemas.item import Item, option_letters
from schemas.json_yaml import read_text, read_yaml
from schemas.question_types import QUESTION_TYPES, QuestionType, answered_by
from schemas.vocabulary import LANGUAGES, Language
from tasks.lake.partitions import hash_settings

PROMPTS = DATA_FOLDER / "prompts"

MOST_LOGPROBS = 20
"""Most tokens an OpenAI-compatible server names at one place."""

PLACEHOLDER = re.compile(r"\{\s*(?:[a-z_]|\d+[.\[!])[^{}\"':,]*\}", re.IGNORECASE)
"""What looks like a field: a name in braces, or what is reached from one. Braces of JSON and LaTeX seldom do."""

BRACES = re.compile(r"\{\{|\}\}|\{[^{}]*\}|[{}]")
OwnPrompts = Mapping[str, Any]
"""The content of a blueprint's own prompt files, by path in its folder without suffix."""


def _undouble(text: str) -> str:
    """Return a text without fields as it is sent: if all its braces are doubled, as texts with fields need it, they are not."""
    try:
        return text.format()
    except (ValueError, LookupError):  # of single braces, which such a text may hold
        return text


Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
Plain = Annotated[Text, AfterValidator(_undouble)]


class PromptTemplate(Frozen):
    """The blocks of a prompt in one language; a blank line stands between them."""

    context: Text = Field(description="contains {context}; omitted for items without one")
    question: Text = Field(description="contains {question} and, if there are options, {options}")
    instruction: Plain = Field(description="the form of the reply; contains no field")
    instruction_alone: Plain | None = Field(default=None, description="the same for items without context; null = as instruction")


def prompted_types() -> tuple[QuestionType, ...]:
    """Return the question types with a prompt file here; for the others a solver has prompts of its own."""
    return tuple(name for name, row in QUESTION_TYPES.items() if row.has_prompt)


TemplateT = TypeVar("TemplateT", bound=Frozen)


class PromptFile(Frozen, Generic[TemplateT]):
    """The contents of one prompt file: how one type of question, or one helper, is asked."""

    version: str = Field(min_length=1, description="increased with every change of a text")
    max_tokens: int = Field(ge=1, description="longest reply of the embedded model, in its tokens")
    en: TemplateT
    zh: TemplateT

    def template(self, language: Language) -> TemplateT:
        """Return the template in a language."""
        return self.en if language == "en" else self.zh


class Template(Frozen):
    """Blocks of text in one language; what follows `Text` in the type of a block is the fields it holds, in order."""

    @model_validator(mode="after")
    def _each_block_has_its_fields(self) -> Self:
        for name, block in type(self).model_fields.items():
            if isinstance(text := getattr(self, name), str):
                require_fields(name, text, [field for field in block.metadata if isinstance(field, str)])
        return self


class PromptFolder(Frozen):
    """The prompt files of a folder; a subclass has a field of type PromptFile for each of them, by its name.

    One with a field `by_type` has a file for each of the question types that base asks instead.
    """

    folder: ClassVar[Path]

    @classmethod
    def load(cls, own: OwnPrompts | None = None) -> Self:
        """Read the files, once per process; those of a blueprint count in place of ours; raise UsageError if one is broken."""
        return cast("Self", _read(cls, json.dumps(own or {})))

    @classmethod
    def files(cls) -> dict[str, str]:
        """Return the names of its fields by those of the files, as a blueprint names its own."""
        names = prompted_types() if "by_type" in cls.model_fields else tuple(cls.model_fields)
        return {("" if cls.folder == PROMPTS else f"{cls.folder.name}/") + name: name for name in names}

    @classmethod
    def files_for(cls, setting: str, spec: DatasetSpec) -> Collection[str]:  # noqa: ARG003  another folder has some of them for it
        """Return the files that a setting reads for a dataset; as far as is known, all of them."""
        return cls.files().keys() & spec.question_types if "by_type" in cls.model_fields else cls.files()

    @property
    def sha256(self) -> str:
        """Hash of all texts, versions and limits; comments in the files do not count."""
        return hash_settings(self.model_dump(mode="json"))


class Prompts(PromptFolder):
    """The prompts of all question types."""

    folder = PROMPTS

    by_type: dict[QuestionType, PromptFile[PromptTemplate]]

    @model_validator(mode="after")
    def _each_type_has_its_fields(self) -> Self:
        for question_type, prompt in self.by_type.items():
            fields = ["question"] if question_type in answered_by("text") else ["question", "options"]
            blocks = {"context": ["context"], "question": fields, "instruction": [], "instruction_alone": []}
            for language, (block, expected) in product(LANGUAGES, blocks.items()):
                text = getattr(prompt.template(language), block) or ""
                require_fields(f"{question_type}.{language}.{block}", text, expected)
        return self


def require_fields(name: str, text: str, expected: Collection[str]) -> str:
    """Return a text of a prompt; raise ValueError if it does not hold each of these fields once, or holds others.

    A field is a name alone, so that nothing is reached from what is put in its place. A text without any is sent as it stands,
    and may hold single braces. `name`: of the text, for the error.
    """
    pattern = BRACES if expected else PLACEHOLDER
    fields = [field for field in pattern.findall(text) if field not in ("{{", "}}")]
    if sorted(fields) != sorted(f"{{{field}}}" for field in expected):
        rule = "each once, all other braces doubled ({{ and }})" if expected else "since nothing is put into this text"
        raise ValueError(f"{name}: expected the fields {list(expected)}, {rule}, got {', '.join(fields) or 'none'} in {text!r}")
    return text


@cache
def _read(kind: type[PromptFolder], own: str) -> Any:
    names, texts = kind.files(), json.loads(own)
    ours = {name: kind.folder / f"{name}.yaml" for file, name in names.items() if file not in texts}
    try:
        contents = {name: texts[file] for file, name in names.items() if file in texts}
        contents |= {name: read_yaml(read_text(path)) for name, path in ours.items()}
        return kind.model_validate({"by_type": contents} if "by_type" in kind.model_fields else contents)
    except (OSError, ValueError) as error:
        raise UsageError(
            "the prompt files cannot be used",
            where=", ".join(f"{file}.yaml" for file in names if file in texts) or str(kind.folder),
            expected=f"one file each of {', '.join(names.values())}",
            got=summarize(error),
            next_step="correct your own; restore data/prompts from the package where it was edited",
        ) from error


def build_messages(item: Item, prompts: Prompts) -> tuple[ChatMessage, ...]:
    """Return the conversation that asks an item: one user message. An empty context counts as none."""
    template = prompts.by_type[item.question_type].template(item.language)
    options = item.options or ()
    lettered = "\n".join(f"{letter}. {text}" for letter, text in zip(option_letters(len(options)), options, strict=True))
    instruction = template.instruction if item.context else template.instruction_alone or template.instruction
    blocks = [template.question.format(question=item.question, options=lettered), instruction]
    if item.context:
        blocks.insert(0, template.context.format(context=item.context))
    return (ChatMessage(role="user", content="\n\n".join(blocks)),)


def choose_top_logprobs(entry: ModelEntry, item: Item) -> int | None:
    """Return how many of the likeliest first tokens to ask for, so that options can be ranked by their letters; null = none.

    Only for a ranking whose letters the server can all name. The prompt is the same: it asks for the best letter first.
    """
    options = len(item.options or ())
    rankable = item.question_type in answered_by("ranking") and 1 < options <= MOST_LOGPROBS
    return MOST_LOGPROBS if entry.token_probabilities and rankable else None
