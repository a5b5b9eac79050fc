"""`moodflow schema`: the JSON schemas of the documents that `--json` prints."""

from typing import Annotated

import typer

from flows.commands.console import print_json
from schemas.documents.document import DOCUMENTS, json_schema

Name = Annotated[str | None, typer.Argument(metavar="[NAME]", help="of a document, such as 'runs list'; without it, the names")]

app = typer.Typer(add_completion=False)


@app.command()
def schema(name: Name = None) -> None:
    """JSON schemas of the documents that `--json` prints.

    With a name it is printed, without one the names of all documents are.
    """
    print_json(json_schema(name) if name else {"documents": sorted(DOCUMENTS)})
