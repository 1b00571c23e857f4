"""Take the pictures of the report and of a notebook that docs/ shows, in a real browser.

    python scripts/screenshots.py FOLDER [PAGE]

Needs the dev extra and Chromium; writes page.png, page-wide.png and notebook.png into FOLDER, which
is docs/images for good, and report.png if PAGE is the page that the tutorial writes, survey.html.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import tamis

CHROMIUM = "/usr/bin/chromium"
OPTIONS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
SIZE = {"width": 1280, "height": 800}
CELLS = (
    "import tamis\n\nmodel = tamis.TAM().fit('examples/sprinkler.csv')\nmodel",
    "model.bootstrap(20, seed=1)",
)


def main(folder: Path, survey: Path | None = None) -> None:
    """Make the pages and take their pictures."""
    with tempfile.TemporaryDirectory() as place, _browser() as browser:
        pages = Path(place)
        known = tamis.TAM(knowledge={"tiers": [["season"], ["rain", "sprinkler"]]})
        known.fit("examples/sprinkler.csv").report(pages / "page.html")
        _take(browser, pages / "page.html", folder / "page.png", "#picture", "light")
        tamis.TAM().fit(wide_table()).report(pages / "wide.html")
        _take(browser, pages / "wide.html", folder / "page-wide.png", "#picture", "dark")
        (pages / "notebook.html").write_text(_notebook(), encoding="utf-8")
        _take(browser, pages / "notebook.html", folder / "notebook.png", "body", "light")
        if survey is not None:
            _take(browser, survey.resolve(), folder / "report.png", "body", "light")


def wide_table(d: int = 200, n: int = 1500, alone: int = 50) -> dict[str, list[str]]:
    """Columns of yes and no: some alone, each of the others with up to two parents before it."""
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 2, (n, d))
    for k in range(alone + 2, d):
        parents = rng.choice(np.arange(alone, k), size=2, replace=False)
        slopes = rng.uniform(0.8, 1.6, 2) * rng.choice([-1, 1], 2)
        odds = (2 * rows[:, parents] - 1) @ slopes
        rows[:, k] = rng.random(n) < 1 / (1 + np.exp(-odds))
    return {f"question {k + 1}": np.where(rows[:, k], "yes", "no").tolist() for k in range(d)}


def _notebook() -> str:
    """A notebook that has been run, as a page."""
    from nbclient import NotebookClient
    from nbconvert.exporters import HTMLExporter
    from nbformat.v4 import new_code_cell, new_notebook

    notebook = new_notebook(cells=[new_code_cell(cell) for cell in CELLS])
    NotebookClient(notebook, timeout=600).execute()
    page, _ = HTMLExporter().from_notebook_node(notebook)
    return str(page)


@contextmanager
def _browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=OPTIONS.split())
        yield browser
        browser.close()


def _take(browser: Any, page: Path, picture: Path, at: str, colours: str) -> None:  # noqa: ANN401
    # Nothing may be loaded: a page of nbconvert asks for fonts and formulas from elsewhere.
    context = browser.new_context(viewport=SIZE, color_scheme=colours, offline=True)
    opened = context.new_page()
    opened.goto(page.as_uri(), wait_until="commit")
    opened.wait_for_selector(at)
    opened.wait_for_timeout(1500)
    opened.evaluate("at => document.querySelector(at).scrollIntoView()", at)
    opened.wait_for_timeout(300)
    opened.screenshot(path=str(picture))
    context.close()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
