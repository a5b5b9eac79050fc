"""Reference pages of the documents that commands print with --json: one each, with its JSON schema as a file."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from docs.generate.markdown import bullets, joined, table, toctree, write_page
from docs.generate.reference_schema import describe_schema
from docs.generate.reference_text import code, link, sentence
from schemas.documents.document import DOCUMENTS, json_schema

HEAD = """# Documents

Every command below prints one JSON document with `--json`, and nothing else on standard output. `moodflow schema NAME` prints the
JSON schema (draft 2020-12) of a document, `moodflow schema` the names of all. Further keys may be added in later versions."""

schema_of = cache(json_schema)


def page_of(name: str) -> str:
    """Return the name of a document's page, without suffix."""
    return name.replace(" ", "-")


def document_page(name: str) -> str:
    """Return the page of a document."""
    forms = forms_of(name)
    prints = f"What {code(f'moodflow {name} --json')} prints"
    said = [*forms.values(), f"{prints}."]
    if len(forms) > 1:
        lines = (f"{link(form, title=form)}: {says}" for form, says in forms.items())
        said = [f"{prints}, in one of {len(forms)} forms: {', '.join(forms)}.", bullets(lines)]
    file = f'JSON schema: <a href="{page_of(name)}.json">{page_of(name)}.json</a>.'
    return joined(f"# {code(name)}", *said, file, describe_schema(schema_of(name), name))


def write(folder: Path) -> None:
    """Write the pages of all documents into a folder of their own, and their schemas where the pages will lie."""
    schemas = folder.parents[1] / "_extra" / "reference" / folder.name
    schemas.mkdir(parents=True, exist_ok=True)
    names = sorted(DOCUMENTS)
    for name in names:
        write_page(folder / f"{page_of(name)}.md", document_page(name))
        schema = json.dumps(schema_of(name), ensure_ascii=False, indent=2)
        (schemas / f"{page_of(name)}.json").write_text(f"{schema}\n", encoding="utf-8")
    rows = [(f"[{code(name)}]({page_of(name)}.md)", " Or: ".join(forms_of(name).values())) for name in names]
    index = joined(HEAD, table(("Command", "Document"), rows), toctree(map(page_of, names)))
    write_page(folder / "index.md", index)


def forms_of(name: str) -> dict[str, str]:
    """Return what is said of a document by the name of its type; of one in several forms, of each."""
    schema: dict[str, Any] = schema_of(name)
    names = [each["$ref"].rpartition("/")[2] for each in schema.get("anyOf", ())]
    kinds = {kind: schema["$defs"][kind] for kind in names} or {name: schema}
    return {kind: sentence(str(form["description"]).split("\n\n", maxsplit=1)[0]) for kind, form in kinds.items()}
