"""Reference pages of the documents that commands print with --json: one each, with its JSON schema as a file."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from docs.generate.markdown import joined, table, toctree, write_page
from docs.generate.reference_schema import describe_schema
from docs.generate.reference_text import code, sentence
from schemas.documents.document import DOCUMENTS, json_schema

HEAD = """# Documents

Every command below prints one JSON document with `--json`, and nothing else on standard output. `moodflow schema NAME` prints the
JSON schema (draft 2020-12) of a document, `moodflow schema` the names of all. Further keys may be added in later versions."""

schema_of = cache(json_schema)


def page_of(name: str) -> str:
    """Return the name of a document's page, without suffix."""
    return name.replace(" ", "-")


def first_with(kind: str) -> str:
    """Return the first command, by name, that prints documents of a type: its page has their fields."""
    return next(name for name in sorted(DOCUMENTS) if DOCUMENTS[name] == kind)


def document_page(name: str) -> str:
    """Return the page of a document."""
    schema, first = schema_of(name), first_with(DOCUMENTS[name])
    file = f"{{download}}`{page_of(name)}.json <{page_of(name)}.json>`"
    about = f"What {code(f'moodflow {name} --json')} prints. JSON schema: {file}."
    if first != name:
        return joined(f"# {code(name)}", about, f"It is the same as [the document of {code(first)}]({page_of(first)}.md).")
    return joined(f"# {code(name)}", says(name), about, describe_schema(schema, name))


def write(folder: Path) -> None:
    """Write the pages and schemas of all documents into a folder of their own."""
    names = sorted(DOCUMENTS)
    for name in names:
        write_page(folder / f"{page_of(name)}.md", document_page(name))
        schema = json.dumps(schema_of(name), ensure_ascii=False, indent=2)
        (folder / f"{page_of(name)}.json").write_text(f"{schema}\n", encoding="utf-8")
    rows = [(f"[{code(name)}]({page_of(name)}.md)", says(name)) for name in names]
    index = joined(HEAD, table(("Command", "Document"), rows), toctree(map(page_of, names)))
    write_page(folder / "index.md", index)


def says(name: str) -> str:
    """Return what is said of a document; of one in several forms what is said of each."""
    schema: dict[str, Any] = schema_of(name)
    kinds = [schema["$defs"][each["$ref"].rpartition("/")[2]] for each in schema.get("anyOf", ())]
    texts = (str(kind["description"]).split("\n\n", maxsplit=1)[0] for kind in kinds or [schema])
    return " Or: ".join(map(sentence, texts))
