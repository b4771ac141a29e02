"""The walk through drafts: texts above, what the person has to say below; nothing is on disk before they save."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from resit.core.errors import ResitError
from resit.core.printable import one_line
from resit.tui.draft_lines import OPEN, Line, draft_lines, split_checks, split_forms
from resit.tui.figures import count
from resit.tui.looks import MISS
from resit.tui.screens.base import ResitScreen
from resit.tui.screens.confirm import ChoiceScreen, LineScreen
from resit.tui.screens.request import cut
from resit.tui.screens.writing import TextScreen
from resit.tui.widgets.plain import PlainStatic
from resit.tui.widgets.text_view import Part, TextView

if TYPE_CHECKING:
    from resit.core.logs.draft_files import DraftBook, Saved
    from resit.core.logs.drafts import Draft, Fresh, Swap
    from resit.tui.app import ResitApp

ASK = "What is the right answer, computed by you? Several forms: 1428 | 1,428.00"
_EDITED = 40_000
"""Longest prompt that is edited here."""


def open_book(app: ResitApp, name: str) -> None:
    """Open drafts that were saved; says why when they cannot be."""
    from resit.core.logs.draft_files import load_book

    try:
        app.push_screen(DraftingScreen(load_book(name)))
    except ResitError as error:
        app.say(str(error), severity="error")


class DraftingScreen(ResitScreen):
    """One draft at a time, out of a book of them."""

    GROUP: ClassVar[str] = "drafting"

    def __init__(self, book: DraftBook, swaps: Sequence[tuple[Swap, ...]] = (), left_out: Sequence[int] = ()) -> None:
        """Walk through `book`.

        Args:
            book: The drafts.
            swaps: What was taken out of each; none for drafts that were saved, whose redactions are settled.
            left_out: Texts that each request came with and that are in no file of its draft.
        """
        super().__init__()
        self._book = book
        self._swaps = list(swaps) or [() for _ in book.drafts]
        self._left_out = list(left_out) or [0 for _ in book.drafts]
        self._back: list[set[str]] = [set() for _ in book.drafts]
        self._at = 0
        self._changed = bool(swaps)
        self._lines: tuple[Line, ...] = ()

    @classmethod
    def of_requests(cls, fresh: Sequence[Fresh]) -> DraftingScreen:
        """Drafts that were just made."""
        from resit.core.logs.draft_files import DraftBook

        book = DraftBook(title="From my logs", drafts=tuple(each.draft for each in fresh))
        return cls(book, [each.swaps for each in fresh], [each.left_out for each in fresh])

    # -- the frame --------------------------------------------------------------------------------------------------

    def compose_body(self) -> ComposeResult:
        """The texts, the lines, and what is missing."""
        with Container(id="drafting"):
            yield TextView(id="draft-texts")
            with Vertical(id="draft-lines", classes="panel"):
                yield OptionList(id="draft-list", markup=False)
        yield PlainStatic(id="draft-said")

    def on_mount(self) -> None:
        """The first draft, with the cursor on what it needs."""
        self.where("Logs", "Drafts")
        self.query_one(OptionList).focus()
        self.call_after_refresh(self._show, first=True)

    def on_resize(self) -> None:
        """Lines are cut to the width."""
        if self._lines:
            self._show()

    @property
    def draft(self) -> Draft:
        """The one in front."""
        return self._book.drafts[self._at]

    def _show(self, *, first: bool = False) -> None:
        draft, listing = self.draft, self.query_one(OptionList)
        self.status(f"draft {self._at + 1} of {len(self._book.drafts)} · {len(self._book.ready)} ready")
        self.query_one(TextView).show(self._parts(draft))
        self._lines = draft_lines(draft, self._swaps[self._at], self._back[self._at])
        was = listing.highlighted
        width = listing.size.width
        with self.prevent(OptionList.OptionHighlighted):
            listing.clear_options()
            listing.add_options([Option(line.content(width)) for line in self._lines])
            wanted = next((n for n, line in enumerate(self._lines) if line.mark == OPEN), 0)
            listing.highlighted = wanted if first or was is None else min(was, len(self._lines) - 1)
        self.query_one("#draft-lines").border_title = Content(one_line(f"{draft.id} · {draft.kind}", 60))
        self._show_said()

    @on(OptionList.OptionHighlighted, "#draft-list")
    def _show_said(self) -> None:
        """What is missing, and the whole of the line under the cursor."""
        line = self.line
        whole = f" {line.label}: {one_line(line.proposed or line.value, 400)}" if line is not None else ""
        said = self._said(self.draft) + Content("\n") + Content.styled(whole, "$text-muted")
        self.query_one("#draft-said", PlainStatic).update(said)

    def _parts(self, draft: Draft) -> list[Part]:
        parts = [Part("prompt, as it would be asked", cut(draft.prompt))]
        if draft.proposed is not None and draft.proposed.prompt:
            parts.insert(0, Part(f"wording that {draft.proposed.model} proposes", cut(draft.proposed.prompt), "good"))
        parts += [Part(f"data: {file.name}", cut(file.text), "dim") for file in draft.files if file.keep]
        parts.append(Part("what the model said then; it is no answer key", cut(draft.said) or "nothing", "dim"))
        missing = self._left_out[self._at]
        out = f"\n{count(missing, 'text')} that came with it is not among its data" if missing else ""
        return [*parts, Part("from", draft.source + out, "dim")]

    def _said(self, draft: Draft) -> Content:
        problems = draft.problems
        if not problems:
            return Content.styled(" ✓ ready to be asked once it is saved", "$success")
        needs = "needs " if draft.missing else ""
        return Content.styled(
            f" {OPEN if draft.missing else MISS} {needs}{one_line('; '.join(problems), 300)}", "$warning"
        )

    def _set(self, draft: Draft) -> None:
        if draft != self.draft:
            self._book = self._book.with_draft(self._at, draft)
            self._changed = True
        self._show()

    # -- one line ---------------------------------------------------------------------------------------------------

    @property
    def line(self) -> Line | None:
        """The line under the cursor."""
        at = self.query_one(OptionList).highlighted
        return self._lines[at] if at is not None and at < len(self._lines) else None

    @on(OptionList.OptionSelected, "#draft-list")
    def _selected(self) -> None:
        self.action_change()

    def action_change(self) -> None:
        """Write on the line, or turn it round."""
        if (line := self.line) is None or not self.is_current:
            return
        name, _, number = line.key.partition(":")
        draft = self.draft
        match name:
            case "accept":
                self._write(ASK, " | ".join(draft.accept), lambda text: self.draft.replaced(accept=split_forms(text)))
            case "checks":
                title = 'Checks, as a suite writes them: max_words = 20; contains = "Ida"'
                self._write(title, "; ".join(draft.checks), self._with_checks)
            case "about":
                title = "One line on what work it stands for"
                self._write(title, draft.about, lambda text: self.draft.replaced(about=" ".join(text.split())))
            case "kind":
                self._write("The kind of work", draft.kind, self._with_kind)
            case "trap":
                self._write("A wrong answer that tempts, as a reply would give it", draft.trap, self._with_trap)
            case "no_trap":
                none = not draft.no_trap
                self._set(draft.replaced(no_trap=none, trap="" if none else draft.trap))
            case "rule":
                self._choose_rule()
            case "prompt":
                self._edit_prompt()
            case "file":
                self._turn_file(int(number))
            case _:
                self._turn_swap(int(number))

    def _write(self, title: str, value: str, change: Callable[[str], Draft]) -> None:
        """Ask for one line, and keep what `change` makes of it."""

        def written(text: str | None) -> None:
            if text is None:
                return
            try:
                self._set(change(text.strip()))
            except ResitError as error:
                self.say(str(error), severity="error")

        self.app.push_screen(LineScreen(title, value), written)

    def _with_checks(self, text: str) -> Draft:
        from resit.core.logs.drafts import read_check_text

        checks = split_checks(text)
        for check in checks:
            read_check_text(check)
        return self.draft.replaced(checks=checks)

    def _with_kind(self, text: str) -> Draft:
        return self.draft.replaced(kind=" ".join(text.split()) or "general")

    def _with_trap(self, text: str) -> Draft:
        if text:
            title = f"Why does {one_line(text, 40)!r} tempt?"
            self.call_after_refresh(self._write, title, self.draft.why, lambda why: self.draft.replaced(why=why))
        return self.draft.replaced(trap=text, no_trap=self.draft.no_trap and not text)

    def _choose_rule(self) -> None:
        from resit.tui.rule_choices import SAID

        keys = "abcdefghilmnoprtu"
        choices = [(key, name, f"{name}: {said}") for key, (name, said) in zip(keys, SAID.items(), strict=False)]
        own = ("w", "", 'with parameters: { name = "numeric", tolerance = 0.01 }')

        def chosen(name: str | None) -> None:
            if name:
                self._set(self._with_rule(name))
            elif name is not None:
                self._write("The rule, as a suite writes it", self.draft.rule, self._with_rule)

        self.app.push_screen(ChoiceScreen("How is a reply held against the right answer?", [*choices, own]), chosen)

    def _with_rule(self, text: str) -> Draft:
        from resit.core.logs.drafts import read_rule_text

        read_rule_text(text)
        return self.draft.replaced(rule=text)

    def _edit_prompt(self) -> None:
        if len(self.draft.prompt) > _EDITED:
            self.say("This prompt is too long to be edited here: save, then edit the suite's file.", severity="warning")
            return

        def written(text: str | None) -> None:
            if text is not None:
                self._set(self.draft.replaced(prompt=text))

        self.app.push_screen(TextScreen("The prompt, as it is to be asked", self.draft.prompt), written)

    def _turn_file(self, number: int) -> None:
        files = list(self.draft.files)
        files[number] = files[number].replaced(keep=not files[number].keep)
        self._set(self.draft.replaced(files=tuple(files)))

    def _turn_swap(self, number: int) -> None:
        from resit.core.logs.drafts import swapped

        swap, back = self._swaps[self._at][number], self._back[self._at]
        if swap.original in back:
            back.discard(swap.original)
            self._set(swapped(self.draft, swap.original, swap.placeholder))
        else:
            back.add(swap.original)
            self._set(swapped(self.draft, swap.placeholder, swap.original))

    def action_accept(self) -> None:
        """Take over what was proposed for the line."""
        from resit.core.logs.propose import accepted

        if self._proposed_part():
            self._set(accepted(self.draft, self._proposed_part()))

    def action_turn_down(self) -> None:
        """Turn down what was proposed for the line."""
        from resit.core.logs.propose import turned_down

        if self._proposed_part():
            self._set(turned_down(self.draft, self._proposed_part()))

    def _proposed_part(self) -> str:
        if (line := self.line) is not None and line.proposed:
            return line.key
        self.say("No model proposed anything for this line; `resit logs ask` lets one, showing what is sent first.")
        return ""

    # -- all drafts -------------------------------------------------------------------------------------------------

    def action_step(self, by: int) -> None:
        """The draft before or after."""
        if len(self._book.drafts) == 1:
            self.say("There is one draft only.")
            return
        self._at = (self._at + by) % len(self._book.drafts)
        self._show(first=True)

    def action_drop(self) -> None:
        """Drop the draft in front."""
        if len(self._book.drafts) == 1:
            self.say("It is the last draft: esc leaves, and nothing of it is kept unless it was saved.")
            return
        dropped = self.draft.id
        self._book = self._book.without(self._at)
        for told in (self._swaps, self._left_out, self._back):
            del told[self._at]
        self._at = min(self._at, len(self._book.drafts) - 1)
        self._changed = True
        self._show(first=True)
        self.say(f"Dropped {dropped}; it is gone from the suite with the next save.")

    def action_save(self) -> None:
        """Write the suite."""
        saved = self._save()
        if saved is None:
            return
        ready, left = len(saved.book.ready), len(saved.book.drafts) - len(saved.book.ready)
        moved = " under a new name, for you changed the former file" if saved.moved else ""
        self.say(f"Saved: {ready} to be asked, {count(left, 'draft')} left, in {saved.suite_path}{moved}.")

    def _save(self) -> Saved | None:
        from resit.core.logs.draft_files import save_book

        if not self._book.name and not self._changed:
            self._changed = True
        try:
            saved = save_book(self._book)
        except ResitError as error:
            self.say(str(error), severity="error")
            return None
        self._book, self._changed = saved.book, False
        self._show()
        return saved

    def action_go(self) -> None:
        """Save, check, and set up a round."""
        from resit.core.suite_file import load_suite

        if not self._book.ready:
            self.say("No draft is ready: each needs a right answer, and a trap or your word that there is none.")
            return
        if (saved := self._save()) is None:
            return
        try:
            suite = load_suite(saved.suite_path)
        except ResitError as error:
            self.say(str(error), severity="error")
            return
        self.resit.open("setup", suite)

    def action_pane(self) -> None:
        """To the texts and back."""
        texts = self.query_one(TextView)
        (self.query_one(OptionList) if texts.has_focus else texts).focus()

    def may_leave(self) -> bool:
        """False while something is not saved; what shall become of it is asked."""
        if not self._changed:
            return True

        def answered(answer: str | None) -> None:
            if answer == "leave" or (answer == "save" and self._save() is not None):
                self._changed = False
                self.call_after_refresh(self.resit.action_back)

        self.app.push_screen(
            ChoiceScreen(
                "These drafts are not saved.",
                [
                    ("s", "save", "save, then leave"),
                    ("l", "leave", "leave; what was not saved is gone"),
                    ("c", "stay", "stay"),
                ],
            ),
            answered,
        )
        return False
