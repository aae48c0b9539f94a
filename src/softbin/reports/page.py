"""An HTML page that stands alone: one file, no scripts, nothing loaded from anywhere; dark where the
reader's system is.

Pictures are SVG inside the page. Their ids are made unique, because all pictures of a page share one name space.
"""

import html
import re
from dataclasses import dataclass

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
table { border-collapse: collapse; font-size: .85rem; display: block; overflow-x: auto; }
caption { text-align: left; padding: .3rem 0; }
th, td { padding: .2rem .6rem; border-bottom: 1px solid #8884; text-align: right; white-space: nowrap; }
th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left; }
td.text { white-space: normal; text-align: left; }
small { opacity: .65; }
svg { width: 100%; height: auto; background: white; border-radius: 4px; }
.holds { color: #2a8a3e; } .fails { color: #c0392b; } .undecided { color: #a07800; }
pre { overflow-x: auto; }
"""


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it, as HTML."""

    title: str
    body: str


def make_page(title: str, introduction: str, sections: list[Section]) -> str:
    """The page. ``introduction`` and bodies are HTML, titles are text."""
    parts = [f"<h2>{html.escape(section.title)}</h2>\n{section.body}" for section in sections]
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>\n'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head>\n'
        f"<body><h1>{html.escape(title)}</h1>\n{introduction}\n" + "\n".join(parts) + "\n</body></html>\n"
    )


def inline_svg(svg: str, prefix: str) -> str:
    """A picture as part of a page."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', svg)
    return re.sub(r'(url\(|xlink:href="|\bhref=")#', rf"\1#{prefix}-", svg)


def html_table(head: list[str], rows: list[list[str]]) -> str:
    """A table of text."""
    heads = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    body = "\n".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{heads}</tr>\n{body}</table>"
