"""The report in a real browser: Debian's chromium, driven by playwright."""

from __future__ import annotations

import os
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from drawing.drawn_results import Resampled, layered
from tamis.drawing.looks import labels_of
from tamis.report import write_report
from tamis.result import LOOKS

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


def wide(d=200, layers=10):
    """d nodes over several layers, with about two edges a node."""
    names = [f"column {k}" for k in range(d)]
    size = d // layers
    split = [names[j * size : (j + 1) * size] for j in range(layers)]
    edges = {
        (names[k * 7 % (j * size)], names[j * size + k % size])
        for j in range(1, layers)
        for k in range(j * 13, j * 13 + size * 5 // 2)
    }
    return layered(split, sorted(edges))


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


@pytest.fixture(scope="module")
def wide_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("wide") / "report.html"
    write_report(wide(), path)
    return path.as_uri()


@pytest.fixture(scope="module")
def tray_file(tmp_path_factory):
    """a → b → c, the second arrow open, and two columns without arrows."""
    result = layered([["a", "alone", HOSTILE], ["b"], ["c"]], [("a", "b"), ("b", "c")])
    first, second = result.edges
    edges = (first, replace(second, warrant="none"))
    path = tmp_path_factory.mktemp("tray") / "report.html"
    write_report(replace(result, edges=edges, read_from="data/my table.csv"), path)
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


def view(page):
    """The part of the drawing that is seen, once it has been drawn."""
    page.evaluate("() => new Promise(requestAnimationFrame)")
    return [float(x) for x in page.locator("#graph").get_attribute("viewBox").split()]


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


def test_the_keyboard_zooms_moves_and_fits(open_page, garden_file):
    page = open_page(garden_file)
    page.locator("#graph").focus()
    fitted = view(page)
    page.keyboard.press("+")
    near = view(page)
    assert near[2] == pytest.approx(fitted[2] / 1.25)
    page.keyboard.press("ArrowRight")
    assert view(page)[0] == pytest.approx(near[0] + 0.1 * near[2])
    page.keyboard.press("-")
    page.keyboard.press("-")
    assert view(page)[2] == pytest.approx(fitted[2] * 1.25)
    page.keyboard.press("0")
    assert view(page) == pytest.approx(fitted)


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


def test_dragging_moves_and_does_not_open(open_page, garden_file):
    page = open_page(garden_file)
    before = view(page)
    box = node(page, "lawn").locator("rect").bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] - 95, box["y"] + 5, steps=4)
    page.mouse.up()
    assert view(page)[0] > before[0] + 20
    assert page.locator("#panel").is_hidden()
    dropped = view(page)
    page.mouse.move(box["x"], box["y"])
    assert view(page) == dropped


def test_the_wheel_is_the_pages_until_the_graph_is_chosen(open_page, garden_file):
    page = open_page(garden_file)
    before = view(page)
    box = page.locator("#graph").bounding_box()
    page.mouse.move(box["x"] + 50, box["y"] + 50)
    page.mouse.wheel(0, -100)
    assert view(page) == before
    page.locator("#graph").focus()
    page.mouse.wheel(0, -100)
    page.wait_for_function(
        "w => document.getElementById('graph').viewBox.baseVal.width < w", arg=before[2]
    )


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


def test_the_arrows_are_filtered_by_name(open_page, garden_file):
    page = open_page(garden_file)
    page.locator("#filter").fill("RAIN")
    assert column(page, 2) == ["lawn", "rain"]
    assert page.locator("#left").inner_text() == "2 of 5 arrows"
    page.locator("#filter").fill("no such column")
    assert page.locator("#left").inner_text() == "0 of 5 arrows"


def test_the_legend_hides_and_shows_arrows_by_what_they_rest_on_in_graph_and_table(
    open_page, garden_file
):
    page = open_page(garden_file)
    in_legend = page.locator(".keys input")
    at_table = page.locator("#edges .tools input[type=checkbox]")
    assert in_legend.evaluate_all("all => all.map(one => one.value)") == ["equivalence", "none"]
    seen = page.locator(".edges .edge:visible")
    assert seen.count() == 5
    in_legend.nth(0).uncheck()
    assert seen.count() == 1
    assert column(page, 2) == [HOSTILE]
    assert page.locator("#left").inner_text() == "1 of 5 arrows"
    assert not at_table.nth(0).is_checked()
    at_table.nth(1).press("Space")
    assert seen.count() == 0
    assert not in_legend.nth(1).is_checked()
    at_table.nth(0).check()
    assert seen.count() == 4
    page.locator("#filter").fill("season")
    assert page.locator("#left").inner_text() == "2 of 5 arrows"
    in_legend.nth(0).uncheck()
    assert page.locator("#left").inner_text() == "0 of 5 arrows"


def saved(page, folder):
    with page.expect_download() as waiting:
        page.locator("#save-svg").click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def test_the_picture_is_saved_as_svg_with_tray_and_legend_and_without_what_is_hidden(
    open_page, tray_file, tmp_path
):
    page = open_page(tray_file)
    path = saved(page, tmp_path)
    assert path.name == "my-table.svg"
    root = ElementTree.parse(path).getroot()
    kind = "{http://www.w3.org/2000/svg}"
    assert root.tag == f"{kind}svg"
    texts = [one.text for one in root.iter(f"{kind}text")]
    for text in ("a", "b", "alone", labels_of([HOSTILE])[HOSTILE], "layer 1", "No arrows"):
        assert text in texts
    assert {f"direction {LOOKS[one].label}" for one in ("equivalence", "none")} <= set(texts)
    assert len(list(root.iter(f"{kind}path"))) == 2 * (2 + 2)
    for one in root.iter():
        assert not {"class", "id", "style", "href", "data-node"} & one.attrib.keys()
        if one.tag in (f"{kind}path", f"{kind}rect", f"{kind}text"):
            assert "var(" not in one.attrib["fill"]
            assert one.attrib["fill"] != "currentColor"
    page.locator(".keys input").first.uncheck()
    root = ElementTree.parse(saved(page, tmp_path)).getroot()
    assert len(list(root.iter(f"{kind}path"))) == 2 * (1 + 2)
    assert page.locator("svg#graph").count() == 1


def test_columns_without_arrows_are_opened_from_the_tray_by_pointer_and_by_keyboard(
    open_page, tray_file
):
    page = open_page(tray_file)
    chip = page.locator("#tray .node").filter(has_text="alone")
    chip.click()
    assert page.locator("#panel h3").inner_text() == "alone"
    assert "self" in classes(page, "alone")
    page.keyboard.press("Escape")
    page.locator("#panel button").click()
    assert page.locator("#panel").is_hidden()
    chip.press("Enter")
    assert page.evaluate("document.activeElement.tagName") == "H3"
    page.keyboard.press("Escape")
    assert page.locator("#panel").is_hidden()
    assert page.evaluate("document.activeElement.textContent") == "alone"
    page.locator("#find").fill(HOSTILE)
    assert page.locator("#panel h3").inner_text() == HOSTILE


def test_the_statistics_are_folded_and_links_into_them_open_them(open_page, garden_file):
    page = open_page(garden_file)
    assert page.locator("#number-table").is_hidden()
    assert page.locator("#edge-table").is_visible()
    page.locator("#statistics > summary").press("Enter")
    assert page.locator("#number-table").is_visible()
    page.locator("#statistics > summary").click()
    assert page.locator("#number-table").is_hidden()
    page.locator("nav a", has_text="Reproduce").click()
    assert page.locator("#reproduce").is_visible()
    header = page.locator("#number-table th").nth(2)
    header.get_by_role("button").click()
    assert header.get_attribute("aria-sort") == "ascending"


def test_a_graph_without_arrows_is_a_tray(open_page, tmp_path):
    path = tmp_path / "report.html"
    write_report(layered([["a", "b"]], []), path)
    page = open_page(path.as_uri())
    assert page.locator("#graph").is_hidden()
    assert page.locator("#save-svg").count() == 0
    page.locator("#tray .node").filter(has_text="b").click()
    assert page.locator("#panel h3").inner_text() == "b"


def test_a_name_in_the_table_opens_beside_the_graph(open_page, garden_file):
    page = open_page(garden_file)
    page.locator("#edge-table a").filter(has_text="sprinkler").first.click()
    assert page.locator("#panel h3").inner_text() == "sprinkler"
    assert page.locator("#panel").is_visible()


def test_dark_follows_the_system_and_the_button_turns_it(open_page, garden_file):
    paper = "getComputedStyle(document.body).backgroundColor"
    light = open_page(garden_file, color_scheme="light").evaluate(paper)
    page = open_page(garden_file, color_scheme="dark")
    dark = page.evaluate(paper)
    assert dark != light
    page.locator("#theme").click()
    assert page.evaluate(paper) == light
    page.locator("#theme").click()
    assert page.evaluate(paper) == dark
    page.emulate_media(media="print")
    assert page.evaluate(paper) == light
    assert page.locator("#graph-tools").is_hidden()
    assert page.locator("#graph").is_visible()


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


def test_two_hundred_columns_are_drawn_and_found(open_page, wide_file):
    page = open_page(wide_file)
    assert page.locator(".node").count() == 200
    assert page.locator(".edges .edge").count() == 380
    page.locator("#find").fill("column 137")
    assert page.locator("#panel h3").inner_text() == "column 137"
    box = node(page, "column 137").locator("rect").bounding_box()
    frame = page.locator("#graph").bounding_box()
    assert frame["x"] < box["x"] < frame["x"] + frame["width"]
    assert frame["y"] < box["y"] < frame["y"] + frame["height"]


def letters(page):
    """The height of labels in pixels."""
    units = view(page)[2] / page.locator("#graph").bounding_box()["width"]
    return 12 / units


def test_two_hundred_columns_can_be_read_at_first_sight(open_page, wide_file):
    page = open_page(wide_file, viewport={"width": 1280, "height": 800})
    start = view(page)
    assert letters(page) >= 9 - 1e-6
    assert start[0] <= 0
    frame = page.locator("#graph").bounding_box()
    inside = [
        box
        for box in (one.bounding_box() for one in page.locator(".node rect").all())
        if frame["x"] <= box["x"] < frame["x"] + frame["width"] - box["width"]
        and frame["y"] <= box["y"] < frame["y"] + frame["height"] - box["height"]
    ]
    assert len(inside) > 30
    page.locator("#whole").click()
    whole = view(page)
    assert whole[2] > 1.5 * start[2]
    page.locator("#fit").click()
    assert view(page) == pytest.approx(start)
    page.locator("#graph").focus()
    page.keyboard.press("9")
    assert view(page) == pytest.approx(whole)
    page.keyboard.press("0")
    assert view(page) == pytest.approx(start)


def test_the_numbers_of_the_layers_stay_in_sight_and_have_their_place_in_a_saved_picture(
    open_page, wide_file, tmp_path
):
    page = open_page(wide_file, viewport={"width": 1280, "height": 800})
    _, y, _, height = view(page)
    first = page.locator(".headings text").first
    assert y > 100
    assert y < float(first.get_attribute("y")) < y + 0.1 * height
    root = ElementTree.parse(saved(page, tmp_path)).getroot()
    titles = [one for one in root.iter() if (one.text or "").startswith("layer ")]
    assert {one.attrib["y"] for one in titles} == {"18"}
    page.locator("#whole").click()
    view(page)
    assert first.get_attribute("y") == "18"


def test_one_finger_moves_and_a_second_one_does_nothing(open_page, garden_file):
    page = open_page(garden_file, viewport={"width": 400, "height": 800}, has_touch=True)
    page.locator("#graph").scroll_into_view_if_needed()
    box = page.locator("#graph").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    fingers = page.context.new_cdp_session(page)

    def touch(kind, *places):
        points = [{"x": at, "y": y, "id": i} for i, at in enumerate(places)]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    before = view(page)
    touch("touchStart", x)
    touch("touchMove", x - 20)
    touch("touchMove", x - 40)
    touch("touchEnd")
    moved = view(page)
    assert moved[0] > before[0]
    assert moved[2] == pytest.approx(before[2])
    touch("touchStart", x, x + 60)
    touch("touchMove", x, x + 120)
    touch("touchEnd")
    assert view(page) == pytest.approx(moved)
    assert page.locator("#panel").is_hidden()


def test_a_small_graph_has_no_second_way_to_fit(open_page, garden_file):
    page = open_page(garden_file)
    assert page.locator("#whole").is_hidden()
    assert page.locator("#fit").is_visible()
