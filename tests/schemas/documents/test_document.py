"""Each document has a JSON schema that a program can fetch."""

import jsonschema
import pytest

from schemas.documents.document import DOCUMENTS, json_schema
from schemas.errors import UsageError
from tests.flows.command import all_commands


@pytest.mark.parametrize("name", sorted(DOCUMENTS))
def test_schema_is_valid_and_described(name: str) -> None:
    """The schema keeps the rules of JSON Schema 2020-12, and says what the document is."""
    schema = json_schema(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["description"]


def test_every_command_with_json_has_a_document() -> None:
    """No command prints what has no schema, and no schema is of a command that prints none."""
    printing = {" ".join(path) for path, command in all_commands() if any("--json" in param.opts for param in command.params)}
    assert printing == DOCUMENTS.keys()


def test_unknown_document_is_refused() -> None:
    """The error lists what there is."""
    with pytest.raises(UsageError, match="verify"):
        json_schema("horoscope")
