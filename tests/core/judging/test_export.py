from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest
from sheet_kit import LOW, PAGE_ATTACKS, SUITE, hostile_replies, opened, sheet, store_round

from resit.core.judging.columns import score_cells
from resit.core.judging.export import COLUMNS, inert, rows_csv, rows_jsonl
from resit.core.judging.export_html import page
from resit.core.judging.note import note_text
from resit.core.judging.sheet import Sheet, make_sheet
from resit.core.printable import printable
from resit.core.records import Setting
from resit.core.rounds.memory import rows_json
from resit.core.rounds.shelf import open_round
from resit.core.suite import Question

KEYS = [
    "question", "kind", "setting", "model", "effort", "variant", "run", "outcome", "score", "second_score", "reason",
    "failed", "reply", "seconds", "attempts", "input_tokens", "cache_write_tokens", "cache_read_tokens",
    "output_tokens", "thinking_tokens", "cost_usd", "turns", "verdict", "rule", "doubt",
]  # fmt: skip


# --- rows


def test_json_lines_hold_one_row_a_run_with_the_keys_of_every_row(tmp_path: Path) -> None:
    rows = opened(tmp_path).rows
    lines = [json.loads(line) for line in rows_jsonl(rows).splitlines()]
    assert lines == rows_json(rows)
    assert len(lines) == 20
    assert all(list(line) == KEYS for line in lines)
    assert {type(line["cost_usd"]) for line in lines} == {str, type(None)}


def test_csv_holds_the_same_rows_and_an_empty_cell_for_what_is_unknown(tmp_path: Path) -> None:
    rows = opened(tmp_path).rows
    text = rows_csv(rows)
    read = list(csv.DictReader(io.StringIO(text, newline="")))
    assert list(read[0]) == list(COLUMNS) == KEYS
    assert len(read) == len(rows)
    for line, row in zip(read, rows, strict=True):
        assert line["reply"].removeprefix("'") == (row.reply or "")
        assert line["score"] == ("" if row.score is None else str(row.score))
        assert line["cost_usd"] == ("" if row.cost_usd is None else f"{row.cost_usd:f}")
        assert line["failed"] == "; ".join(row.failed)
    assert all(line.endswith("\r") for line in text.split("\n")[:1])


@pytest.mark.parametrize("text", ["=1+1", "+1", "-2+3", "@SUM(A1)", " =1", "\t=1", "＝1", "'=1", "-5"])
def test_a_cell_that_looks_like_a_formula_starts_with_an_apostrophe(text: str) -> None:
    assert inert(text).startswith("'")
    assert inert(text)[1:] == printable(text)


@pytest.mark.parametrize("text", ["", "210", "a=b", "x - y", "it's"])
def test_any_other_cell_stays_as_it_is(text: str) -> None:
    assert inert(text) == text


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Sheet:
    """A round in which every text that can be foreign is."""
    replies = hostile_replies()
    texts = [text.encode(errors="replace").decode() for text in replies]
    suite = SUITE.replaced(
        title=PAGE_ATTACKS[0],
        questions=tuple(
            Question(id=f"q{at} {text[:40]}", kind=text[:40] or "none", prompt=text, accept=("no",))
            for at, text in enumerate(texts)
        ),
    )
    setting = Setting(model='<b onclick="alert(1)">')
    answers = {(suite.questions[at].id, s): [text] for at, text in enumerate(replies) for s in (LOW, setting)}
    verdicts = {(suite.questions[1].id, LOW, 1): ("model", "<script>alert('note')</script>")}
    store = store_round(tmp_path_factory.mktemp("hostile"), suite, answers, verdicts, repeats=1)  # type: ignore[arg-type]
    return make_sheet(open_round(store.path, suite=suite))


def test_hostile_rows_can_be_read_back_and_compute_nothing(hostile: Sheet) -> None:
    rows = hostile.rows
    text = rows_csv(rows)
    assert text.encode().decode() == text
    read = list(csv.reader(io.StringIO(text, newline="")))
    assert len(read) == len(rows) + 1
    assert {len(line) for line in read} == {len(KEYS)}
    assert max(len(cell) for line in read for cell in line) < 32_767
    assert not any(cell.lstrip().startswith(("=", "+", "-", "@")) for line in read for cell in line)
    assert [json.loads(line)["reply"] for line in rows_jsonl(rows).splitlines()] == [row.reply for row in rows]


# --- the page


class Reader(HTMLParser):
    """What a browser would see: elements, attributes and text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text: list[str] = []
        self.blocks: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in ("meta", "rect", "path", "polygon"):
            self.open.append(tag)
        if tag == "pre":
            self.blocks.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)
        if self.open and self.open[-1] == "pre":
            self.blocks[-1] += data


def read_page(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


OURS = {
    "html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "p", "bdi", "code", "ul", "li", "div", "table",
    "tr", "th", "td", "a", "s", "pre", "details", "summary", "svg", "rect", "path", "text", "polygon",
}  # fmt: skip
ATTRIBUTES = {
    "lang", "charset", "http-equiv", "content", "name", "class", "href", "id", "open", "role", "aria-label", "viewbox",
    "x", "y", "width", "height", "d", "text-anchor", "points", "stroke-dasharray",
}  # fmt: skip


def test_nothing_in_a_hostile_round_becomes_an_element_or_attribute_of_the_page(hostile: Sheet) -> None:
    found = read_page(page(hostile))
    assert set(found.tags) <= OURS
    assert {name for _, name, _ in found.attributes} <= ATTRIBUTES
    assert all(re.fullmatch(r"#m\d+", value) for _, name, value in found.attributes if name == "href")
    allowed = {"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'", "no-referrer",
               "width=device-width, initial-scale=1"}  # fmt: skip
    assert {value for _, name, value in found.attributes if name == "content"} == allowed


def test_no_style_of_the_page_loads_anything(hostile: Sheet) -> None:
    text = page(hostile)
    style = text[text.index("<style>") : text.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    assert text.count("<style>") == text.count("</style>") == 1


def test_every_reply_stands_in_the_page_as_it_may_be_drawn(hostile: Sheet) -> None:
    made = hostile
    blocks = set(read_page(page(made)).blocks)
    for miss in made.misses:
        shown = printable(miss.reply or "", 4_000, invisible=True)
        assert {f"\n{shown}", f"\n{shown}".replace("\x00", "\ufffd")} & blocks, miss.question.id


def test_control_characters_are_visible_and_none_is_left(hostile: Sheet) -> None:
    text = page(hostile)
    assert "␛[2J" in text
    assert "&lt;U+202E&gt;" in text
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text)
    text.encode()


def test_the_page_and_the_note_show_the_same_figures(tmp_path: Path) -> None:
    made = sheet(tmp_path)
    shown, noted = "".join(read_page(page(made)).text), note_text(made)
    for figure in made.figures:
        for cell in score_cells(figure, made.has_second):
            assert cell in shown
            assert cell in noted
    for said in made.untested:
        assert said in shown
    assert made.asked_said in shown
    assert made.asked_said in noted
    assert made.misses_said in shown
    assert made.misses_said in noted


def test_the_grid_links_each_cell_below_full_marks_to_its_first_miss(tmp_path: Path) -> None:
    text = page(sheet(tmp_path))
    links = set(re.findall(r'href="#(m\d+)"', text))
    places = re.findall(r'id="(m\d+)"', text)
    assert links <= set(places)
    assert len(places) == len(set(places)) == len(sheet(tmp_path / "again").misses)
    assert '<td class="miss"><a href="#m1">0 · 1/2</a></td>' in text
    assert "<s><code>river</code></s>" in text


def test_the_persons_decision_stands_in_the_page_as_they_wrote_it(tmp_path: Path) -> None:
    found = read_page(page(sheet(tmp_path), "Facts move.\n<b>At once</b>"))
    assert "\nFacts move.\n<b>At once</b>" in found.blocks
    assert "Decision" not in read_page(page(sheet(tmp_path / "again"))).text


def test_a_page_of_a_round_without_an_answer_is_a_page(tmp_path: Path) -> None:
    store = store_round(tmp_path, answers={("capital", LOW): []}, verdicts={})
    found = read_page(page(make_sheet(open_round(store.path, suite=SUITE))))
    assert "not asked" in found.text


# --- in a real browser

CHROMIUM = shutil.which("chromium", path="/usr/bin")
in_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium from Debian's packages at /usr/bin/chromium")


class Proxy(BaseHTTPRequestHandler):
    """All that a browser could reach: it writes down what it is asked for, and has nothing."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_error(404)

    do_POST = do_CONNECT = do_GET

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name it has in the base class
        pass


@pytest.fixture
def proxy() -> Iterator[str]:
    Proxy.asked.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def browse(folder: Path, text: str, proxy: str) -> str:
    """The page as Chromium holds it once it is loaded."""
    assert CHROMIUM is not None
    (folder / "page.html").write_text(text, encoding="utf-8")
    command = [
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
        "--disable-component-update", f"--user-data-dir={folder}/profile", f"--proxy-server={proxy}", "--dump-dom",
        "--virtual-time-budget=3000", f"file://{folder}/page.html",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, timeout=120, check=True)
    return done.stdout.decode(errors="replace")


@in_chromium
def test_a_real_browser_runs_no_script_and_sends_no_request_for_a_hostile_page(
    hostile: Sheet, tmp_path: Path, proxy: str
) -> None:
    shown = browse(tmp_path, page(hostile), proxy)
    assert "What was not tested" in shown
    assert "<script" not in shown
    assert not [asked for asked in Proxy.asked if "evil" in asked]


@in_chromium
@pytest.mark.parametrize("policy", [True, False])
def test_the_policy_of_the_page_stops_what_escaping_would_let_through(
    hostile: Sheet, tmp_path: Path, proxy: str, policy: bool
) -> None:
    attack = "<script>document.title='RAN'</script><img src=http://evil.example/x.png></body>"
    text = page(hostile).replace("</body>", attack)
    shown = browse(tmp_path, text if policy else re.sub("<meta http-equiv.*?>", "", text), proxy)
    ran, asked = "<title>RAN" in shown, any("evil.example" in asked for asked in Proxy.asked)
    # Without the policy both happen, so with it both were stopped by it and not by this test.
    assert (ran, asked) == (not policy, not policy)
