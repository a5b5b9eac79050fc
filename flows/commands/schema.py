"""`moodflow schema`: the JSON schemas of the documents that `--json` prints."""

from typing import Annotated

import typer

from flows.commands.console import print_json
from schemas.documents.document import DOCUMENTS, json_schema

Name = Annotated[str | None, typer.Argument(metavar="[NAME]", help="a document, such as 'runs list'")]

app = typer.Typer(add_completion=False)


@app.command()
def schema(name: Name = None) -> None:
    """Print the JSON schemas of the documents that --json prints.

    With a name, that schema is printed; without one, the names of all documents.
    """
    print_json(json_schema(name) if name else {"documents": sorted(DOCUMENTS)})
