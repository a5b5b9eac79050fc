"""Pages as tests read them."""

import re
from html.parser import HTMLParser

from schemas.chart import Chart
from tasks.lake.seal import REPORT
from tasks.reporting.content.system_charts import chart_systems
from tasks.reporting.figures.pictures import draw_panels
from tasks.reporting.page import render_pages, show_report
from tasks.reporting.report import build_report
from tasks.runs.run_tables import ReportData

VOID = {"meta", "link", "br", "hr", "img", "input"}
ATTACK = "<script>alert(1)</script><img src=x onerror=alert(1)>"


class Page(HTMLParser):
    """Elements, attributes and text of a page; fails on tags that do not match."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text.append(data)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.text).split())

    def values(self, name: str) -> list[str]:
        return [value for _, attributes in self.tags for key, value in attributes.items() if key == name and value is not None]


def render_html(data: ReportData) -> str:
    """The page of the run."""
    report = build_report(data)
    shown = show_report(report)
    return dict(render_pages(report, shown, chart_systems(shown, data.blueprint)))[REPORT]


def draw_chart(chart: Chart) -> str:
    """A figure as it stands in a page."""
    return "".join(draw_panels(chart))


def section(html: str, anchor: str) -> str:
    """The words of a section, with plain spaces."""
    return Page(re.findall(rf'<section id="{anchor}">.*?</section>', html, re.DOTALL)[0]).words.replace("\u00a0", " ")
