"""The report in a real browser: Debian's chromium, driven by playwright."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from drawing.drawn_results import Resampled, layered
from tamis.report import write_report

pytestmark = pytest.mark.slow

CHROMIUM = "/usr/bin/chromium"
OPTIONS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
HOSTILE = "<script>alert(1)</script>"

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
if not os.path.exists(CHROMIUM):
    pytest.skip(f"there is no browser at {CHROMIUM}", allow_module_level=True)


def garden():
    """season → sprinkler, rain → lawn, with a hostile name at the end of the line."""
    result = layered(
        [["season"], ["sprinkler", "rain"], ["lawn"], [HOSTILE]],
        [
            ("season", "sprinkler"),
            ("season", "rain"),
            ("sprinkler", "lawn"),
            ("rain", "lawn"),
            ("lawn", HOSTILE),
        ],
    )
    *others, last = result.edges
    return replace(result, edges=(*others, replace(last, warrant="none", gain=0.002)))


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=OPTIONS.split())
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def garden_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("garden") / "report.html"
    result = garden()
    shares = {(e.parent, e.child): 0.9 for e in result.edges}
    write_report(result, path, confidence=Resampled(20, shares), command=f"tamis learn {HOSTILE}")
    return path.as_uri()


@pytest.fixture
def open_page(browser):
    """Opens a report; afterwards nothing may have been said, loaded or popped up."""
    contexts, trouble = [], []

    def opened(address, **options):
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", lambda dialog: (trouble.append(dialog.message), dialog.dismiss()))
        page.on(
            "request", lambda request: expected(request.url, address) or trouble.append(request.url)
        )
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not trouble


def expected(url, address):
    """The page itself, places within it, and files that it has made."""
    return url.split("#")[0] == address or url.startswith("blob:")


def node(page, name):
    return page.locator(".node").filter(has_text=name)


def classes(page, name):
    return set(node(page, name).get_attribute("class").split()) - {"node"}


def test_a_click_on_a_node_opens_its_story_and_a_click_beside_closes_it(open_page, garden_file):
    page = open_page(garden_file)
    assert page.locator("#panel").is_hidden()
    node(page, "lawn").click()
    told = page.locator("#panel").inner_text()
    assert "Layer 3 of 4" in told
    assert "sprinkler: gain" in told
    assert "took rain" in told
    assert page.locator(".edges .near").count() == 3
    assert "self" in classes(page, "lawn")
    page.locator("#graph").click(position={"x": 5, "y": 5})
    assert page.locator("#panel").is_hidden()


def test_a_hostile_name_is_only_a_name(open_page, garden_file):
    page = open_page(garden_file)
    page.locator("#find").fill(HOSTILE)
    assert page.locator("#panel h3").inner_text() == HOSTILE
    assert page.locator("script").count() == 2


def test_the_keyboard_walks_the_nodes_opens_one_and_comes_back(open_page, garden_file):
    page = open_page(garden_file)
    page.locator("#graph").focus()
    page.keyboard.press("Tab")
    focused = "document.activeElement.textContent"
    assert "season" in page.evaluate(focused)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert "lawn" in page.evaluate(focused)
    page.keyboard.press("Enter")
    assert page.evaluate(focused) == "lawn"
    assert page.evaluate("document.activeElement.tagName") == "H3"
    page.keyboard.press("Escape")
    assert page.locator("#panel").is_hidden()
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith("lawn")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#graph')") is None


def column(page, number):
    cells = page.locator(f"#edge-table tbody tr:not([hidden]) td:nth-child({number})")
    return cells.all_inner_texts()


def test_the_arrows_are_sorted_by_any_column_both_ways(open_page, garden_file):
    page = open_page(garden_file)
    gains = column(page, 3)
    assert gains == sorted(gains, reverse=True)
    header = page.locator("#edge-table th").nth(2)
    header.get_by_role("button").click()
    assert column(page, 3) == sorted(gains)
    assert header.get_attribute("aria-sort") == "ascending"
    header.get_by_role("button").press("Enter")
    assert column(page, 3) == sorted(gains, reverse=True)
    assert header.get_attribute("aria-sort") == "descending"
    page.locator("#edge-table th").nth(0).get_by_role("button").click()
    assert column(page, 1) == sorted(column(page, 1))
    assert header.get_attribute("aria-sort") is None


def test_without_scripts_everything_is_there_and_links_lead_to_stories(open_page, garden_file):
    page = open_page(garden_file, java_script_enabled=False)
    assert page.locator("#graph").is_visible()
    assert page.locator("#edge-table tbody tr").count() == 5
    assert page.locator("button, input").count() == 0
    node(page, "lawn").click()
    assert page.locator(".story").filter(has_text="took rain").is_visible()


@pytest.mark.parametrize("width", [360, 500])
def test_on_a_phone_nothing_is_wider_than_the_screen(open_page, garden_file, width):
    page = open_page(garden_file, viewport={"width": width, "height": 700}, has_touch=True)
    node(page, "lawn").tap()
    assert page.locator("#panel h3").inner_text() == "lawn"
    page.locator("#statistics > summary").tap()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # Nor is anything cut within a frame of its own: tables have become cards.
    cut = """all => all.filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.id)"""
    assert page.locator(".scroll").evaluate_all(cut) == []
    for cell in page.locator("#edge-table tbody tr").first.locator("td").all():
        box = cell.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
