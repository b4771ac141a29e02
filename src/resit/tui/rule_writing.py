"""Routing rules into a file of the person's: as Markdown, as TOML or as a marked block, the change shown first."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, cast

from textual.content import Content

from resit.core.errors import ResitError, UsageError
from resit.core.judging.marked import BlockEdit, plan_block, plan_file
from resit.core.judging.routing import Routing
from resit.core.judging.routing_text import routing_markdown, routing_toml
from resit.core.printable import printable
from resit.tui.screens.base import ResitScreen
from resit.tui.screens.confirm import ChoiceScreen, LineScreen, PreviewScreen

Form = Literal["block", "markdown", "toml"]
_CHOICES = [
    ("b", "block", "a marked block in a file: an agent's instructions, say; nothing else in it is touched"),
    ("m", "markdown", "a Markdown file of its own"),
    ("t", "toml", "a TOML file for programs"),
]
_USUAL: dict[Form, str] = {"block": "AGENTS.md", "markdown": "routing.md", "toml": "routing.toml"}
_MOST_LINES = 400


class RuleWriting(ResitScreen):
    """A screen that has routing rules."""

    @property
    def routing(self) -> Routing | None:
        """The rules."""
        raise NotImplementedError

    def action_write(self) -> None:
        """Ask for form and file, show the change, write it."""
        routing = self.routing
        if routing is None:
            self.say("The rounds are not graded yet.")
            return

        def chosen(form: str | None) -> None:
            if form is not None:
                self._ask_file(routing, cast(Form, form))

        self.resit.push_screen(ChoiceScreen("Write the routing rules as", _CHOICES), chosen)

    def _ask_file(self, routing: Routing, form: Form) -> None:
        def named(text: str | None) -> None:
            if text is not None and text.strip():
                self._propose(routing, form, Path(text.strip()).expanduser())

        title = f"File, from {Path.cwd()}" if form != "block" else f"File that gets the block, from {Path.cwd()}"
        self.resit.push_screen(LineScreen(title, _USUAL[form]), named)

    def _propose(self, routing: Routing, form: Form, path: Path) -> None:
        try:
            edit = _planned(routing, form, path)
            shown = diff_text(edit)
        except ResitError as error:
            self.say(str(error), severity="error")
            return
        if not edit.changes:
            self.say(f"{path} holds these rules already.")
            return

        def answered(yes: bool | None) -> None:
            if yes:
                self._write(edit)

        self.resit.push_screen(PreviewScreen(f"Write this into {path}?", shown), answered)

    def _write(self, edit: BlockEdit) -> None:
        try:
            edit.write()
        except ResitError as error:
            self.say(f"Not written: {error}", severity="error")
            return
        self.say(f"Written into {edit.path}.")


def _planned(routing: Routing, form: Form, path: Path) -> BlockEdit:
    if path.is_dir():
        raise UsageError(f"{path} is a folder", hint="name a file")
    match form:
        case "block":
            return plan_block(path, routing_markdown(routing))
        case "markdown":
            return plan_file(path, routing_markdown(routing))
        case "toml":
            return plan_file(path, routing_toml(routing))


def diff_text(edit: BlockEdit) -> Content:
    """The change, line by line: a sign stands before every line, a colour beside it."""
    lines = edit.diff.splitlines()
    shown = [Content.styled(printable(line, 400), _style(line)) for line in lines[:_MOST_LINES]]
    if len(lines) > _MOST_LINES:
        shown.append(Content.styled(f"and {len(lines) - _MOST_LINES:,} lines more", "$text-muted"))
    return Content("\n").join(shown)


def _style(line: str) -> str:
    if line.startswith(("+++", "---", "@@")):
        return "$text-muted"
    return {"+": "$success", "-": "$error"}.get(line[:1], "")
