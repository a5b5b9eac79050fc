"""A page of the documentation that comes with the install."""

from pydantic import Field

from schemas.documents.document import Document


class DocumentationPage(Document):
    """Where a page of the documentation is."""

    page: str = Field(description="its place on the site, without suffix")
    file: str = Field(description="the page as HTML; its Markdown lies next to it")
    pages: tuple[str, ...] = Field(description="all pages that can be named")
