"""One request out of a log, in full: the prompt, the data that came with it, and the last words of the reply."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import work
from textual.app import ComposeResult

from resit.core.errors import ResitError
from resit.tui.figures import count, money, when
from resit.tui.screens.base import ResitScreen
from resit.tui.widgets.text_view import Part, TextView

if TYPE_CHECKING:
    from resit.core.logs.records import Request, Texts

MOST_SHOWN = 200_000
"""Characters of one text that are laid out; the rest stays in the log."""


class RequestScreen(ResitScreen):
    """Words as they stand in the log, not redacted: they never leave the screen."""

    def __init__(self, request: Request) -> None:
        """Show `request`."""
        super().__init__()
        self._request = request

    def compose_body(self) -> ComposeResult:
        """One long text."""
        yield TextView(id="request-text")

    def on_mount(self) -> None:
        """Say what is known at once; read the words beside the screen."""
        self.where("Logs", "Request")
        view = self.query_one(TextView)
        view.focus()
        view.show([self._facts(), Part("prompt", "Reading the log …", "dim")])
        self._read()

    @work(thread=True, exclusive=True, exit_on_error=False)
    def _read(self) -> None:
        from resit.core.logs.texts import read_texts

        try:
            texts = read_texts(self._request)
        except ResitError as error:
            self.app.call_from_thread(self._show, [Part("prompt", str(error), "bad")])
            return
        self.app.call_from_thread(self._show, text_parts(texts))

    def _show(self, parts: list[Part]) -> None:
        self.query_one(TextView).show([self._facts(), *parts])

    def _facts(self) -> Part:
        each = self._request
        level = each.effort or "no level set"
        cost = money(each.cost_usd, at_least=each.cost_partial and each.cost_usd is not None)
        lines = [
            f"{each.tool}, {when(each.when)}, {each.model or 'model not said'}, {level}",
            f"{count(each.calls, 'call')} · {cost} · tools: {', '.join(each.tools[:8]) or 'none'}",
            f"kind {each.kind}: {each.why}",
            f"in {each.cwd or 'no folder'} · session {each.session}",
        ]
        return Part("request", "\n".join(lines), "dim")


def text_parts(texts: Texts) -> list[Part]:
    """The words of a request, each under its heading."""
    parts = [Part("prompt", cut(texts.prompt))]
    parts += [Part(f"data: {each.name}", cut(each.text), "dim") for each in texts.attached]
    return [*parts, Part("the last words to the person", cut(texts.reply) or "none")]


def cut(text: str) -> str:
    """`text` as far as it is laid out, with what is left."""
    left = len(text) - MOST_SHOWN
    return text if left <= 0 else f"{text[:MOST_SHOWN]}\n… {left:,} more characters in the log"
