"""The results as one HTML page: tables, figures, what the paper says and whether it holds, and how it was computed."""

import html
from collections.abc import Sequence
from pathlib import Path

from softbin.paper.claims import LEVEL, Claim
from softbin.paper.results import Results
from softbin.paper.tables import TextTable, as_html
from softbin.reports.page import Section, html_table, inline_svg, make_page

SIMULATED = "Simulated events, made by softbin to resemble UCI HIGGS and SUSY. These are not UCI numbers."


def paper_page(
    results: Results,
    tables: Sequence[TextTable],
    figures: Sequence[Path],
    claims: Sequence[Claim],
    notes: Sequence[str],
) -> str:
    """The page."""
    lines = [SIMULATED] if any(sample.simulated for sample in results.samples.values()) else []
    introduction = "".join(f"<p>{html.escape(line)}</p>" for line in (*lines, *notes))
    pictures = [inline_svg(path.read_text(encoding="utf-8"), path.stem) for path in figures]
    sections = [Section(f"Table {number}", as_html(table)) for number, table in enumerate(tables, start=1)]
    sections.append(Section("Figures", "\n".join(pictures)))
    sections.append(Section("What the paper says", _claims(claims)))
    sections.append(Section("Data and versions", _data(results)))
    return make_page("An Empirical Study on Feature Discretization, computed again", introduction, sections)


def claims_markdown(claims: Sequence[Claim]) -> str:
    """The claims as text."""
    lines = [f"Intervals of a claim cover together with {LEVEL:.0%}; differences are AUC x 100.", ""]
    for claim in claims:
        lines += [f"## {claim.verdict}: “{claim.words}”", "", claim.test, ""]
        lines += [f"- {part.where}: **{part.verdict}**. {part.finding}" for part in claim.parts] or ["- not measured"]
        lines.append("")
    return "\n".join(lines)


def _claims(claims: Sequence[Claim]) -> str:
    shown = [f"<p>Intervals of a claim cover together with {LEVEL:.0%}; differences are AUC x 100.</p>"]
    for claim in claims:
        verdict = f'<b class="{claim.verdict}">{claim.verdict}</b>'
        rows = "\n".join(
            f'<tr><td>{html.escape(part.where)}</td><td class="{part.verdict}">{part.verdict}</td>'
            f'<td class="text">{html.escape(part.finding)}</td></tr>'
            for part in claim.parts
        )
        shown.append(
            f"<p>{verdict}: “{html.escape(claim.words)}”<br>{html.escape(claim.test)}</p><details><summary>"
            f"{len(claim.parts)} comparisons</summary><table>{rows}</table></details>"
        )
    return "\n".join(shown)


def _data(results: Results) -> str:
    rows = [
        [sample.name, "simulated" if sample.simulated else "from a file", f"{sample.n_train:,}", f"{sample.n_test:,}",
         sample.hash[:16]]
        for sample in results.samples.values()
    ]  # fmt: skip
    versions = {
        f"{name} {version}"
        for key in results.by_key
        for report in results.reports(key)
        for name, version in report["versions"].items()
    }
    table = html_table(["data", "from", "training rows", "test rows", "SHA-256"], rows)
    return f"{table}<p>{html.escape(', '.join(sorted(versions)))}</p>"
