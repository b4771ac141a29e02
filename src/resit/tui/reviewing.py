"""Reading a miss and mending it: the actions that the results, the full-screen miss and the live screen share."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from textual.content import Content

from resit.core.edits import EditStore
from resit.core.errors import ResitError
from resit.core.printable import one_line, printable
from resit.core.records import Row, VerdictWord
from resit.core.suite import Edit
from resit.tui import figures
from resit.tui.looks import mark, mark_style
from resit.tui.messages import SuiteChanged
from resit.tui.miss_text import reply_text
from resit.tui.rule_choices import form_to_accept, rule_said, sensible_rules
from resit.tui.screens.base import ResitScreen
from resit.tui.screens.confirm import ChoiceScreen, LineScreen, PreviewScreen

if TYPE_CHECKING:
    from resit.core.rounds.regrade import Flip, Preview
    from resit.tui.round_view import RoundView

LONGEST_FORM = 2_000
"""A reply longer than this is no accepted answer; a rule is what has to change."""
_SHOWN_FLIPS = 40

_VERDICTS = [
    ("m", "model", "model: it was wrong"),
    ("g", "grader", "grader: the rule is wrong, the reply is not"),
    ("q", "question", "question: it is unclear or mistaken"),
    ("s", "setup", "setup: it never had a fair chance; ask again"),
    ("0", "none", "no verdict: take it back"),
]


class Reviewing(ResitScreen):
    """A screen that has a run in front of it."""

    @property
    def view(self) -> RoundView | None:
        """The round that is read."""
        raise NotImplementedError

    @property
    def key(self) -> str | None:
        """The run in front."""
        raise NotImplementedError

    def show_key(self, key: str) -> None:
        """Put another run in front."""
        raise NotImplementedError

    def renew(self) -> None:
        """Show the round again: grades, verdicts or rules are others."""
        raise NotImplementedError

    def _ready(self) -> tuple[RoundView, str] | None:
        if self.view is None or self.key is None:
            self.say("No run is chosen.")
            return None
        return self.view, self.key

    # -- accept and rule --------------------------------------------------------------------------------------------

    def action_accept(self) -> None:
        """Accept the reply in front, after showing what that changes."""
        ready = self._ready()
        if ready is None:
            return
        view, key = ready
        miss = view.miss(key)
        reply = reply_text(miss)
        if problem := self._why_not_accept(view, reply, bool(miss.question.accept)):
            self.say(problem, severity="warning")
            return
        assert reply is not None
        form = form_to_accept(miss, reply)
        edit = Edit(at=_now(), question=miss.question.id, what="accept", accept=form, run=key)
        self._propose(view, key, edit, f"Accept this reply for {miss.question.id}?")

    def _why_not_accept(self, view: RoundView, reply: str | None, has_forms: bool) -> str:
        if view.editable:
            return view.editable
        if reply is None or not reply.strip():
            return "There is no reply to accept."
        if not has_forms:
            return "Checks decide this question, so no reply can be accepted: v says whose miss it is."
        if len(reply) > LONGEST_FORM:
            return f"A reply of {len(reply):,} characters is no accepted answer: u changes the rule instead."
        return ""

    def action_rule(self) -> None:
        """Change the rule of the question in front, after showing what that changes."""
        ready = self._ready()
        if ready is None:
            return
        view, key = ready
        question = view.miss(key).question
        if view.editable:
            self.say(view.editable, severity="warning")
            return
        rules = sensible_rules(question) if question.accept else []
        if not rules:
            self.say("No other rule can decide this question.", severity="warning")
            return
        edits = [Edit(at=_now(), question=question.id, what="rule", rule=rule, run=key) for rule in rules]
        choices = [
            (str(at), str(at - 1), f"{rule_said(edit.rule)}  ·  {self._effect(view, edit)}")
            for at, edit in enumerate(edits, 1)
            if edit.rule is not None
        ]

        def chosen(answer: str | None) -> None:
            if answer is not None:
                self._propose(view, key, edits[int(answer)], f"Change the rule of {question.id}?")

        about = f"Now {rule_said(question.rule)}"
        self.resit.push_screen(ChoiceScreen(f"Rule of {question.id}", choices, about=about), chosen)

    def _effect(self, view: RoundView, edit: Edit) -> str:
        try:
            flips = len(view.preview(edit).flips)
        except ResitError as error:
            return error.message
        return f"{flips} mark flips" if flips == 1 else f"{flips or 'no'} marks flip"

    def _propose(self, view: RoundView, key: str, edit: Edit, title: str) -> None:
        try:
            preview = view.preview(edit)
        except ResitError as error:
            self.say(str(error), severity="error")
            return
        body = preview_text(edit, preview, str(view.edits_file()), view.row(key))

        def answered(yes: bool | None) -> None:
            if yes:
                self._keep(view, key, edit)

        self.resit.push_screen(PreviewScreen(title, body), answered)

    def _keep(self, view: RoundView, key: str, edit: Edit) -> None:
        onward = view.after(key, 1)
        try:
            flips = view.keep(edit)
        except (ResitError, OSError) as error:
            self.say(f"Not kept: {error}", severity="error")
            return
        self.say(f"Written to {view.edits_file().name}. {_flipped(flips)} z takes it back.")
        # The next miss stands where this one was, unless this one is still a miss.
        if key not in view.misses and onward is not None and onward != key:
            self.show_key(onward)
        self._changed(view)

    def action_undo(self) -> None:
        """Take the suite's last edit back."""
        view = self.view
        if view is None:
            return
        edits = view.current.edits if view.current is not None else ()
        if not edits:
            self.say("There is no edit of this suite to take back.")
            return

        def answered(yes: bool | None) -> None:
            if not yes:
                return
            try:
                edit, flips = view.undo()
            except (ResitError, OSError) as error:
                self.say(f"Not taken back: {error}", severity="error")
                return
            self.say(f"Taken back: {edit_said(edit)}. {_flipped(flips)}")
            self._changed(view)

        body = Content(f"{edit_said(edits[-1])}\nmade {figures.when(edits[-1].at)}")
        keys = "enter takes it back · esc cancels"
        self.resit.push_screen(PreviewScreen("Take the last edit back?", body, keys=keys), answered)

    def _changed(self, view: RoundView) -> None:
        self.renew()
        path = str(view.current.path) if view.current is not None else ""
        for screen in self.resit.screen_stack:
            if screen is not self:
                screen.post_message(SuiteChanged(path))

    # -- verdict and note -------------------------------------------------------------------------------------------

    def action_verdict(self) -> None:
        """Say whose miss it is."""
        ready = self._ready()
        if ready is None:
            return
        view, key = ready

        def chosen(answer: str | None) -> None:
            if answer is None:
                return
            verdict = None if answer == "none" else cast(VerdictWord, answer)
            review = view.reviews.get(key)
            if self._settle(view, key, verdict, review.note if review else ""):
                onward = view.after(key, 1)
                if verdict is not None and onward is not None:
                    self.show_key(onward)
                self.renew()

        row = view.row(key)
        title = f"Whose miss is {row.question}, {figures.short_setting(row.setting)}, run {row.run}?"
        self.resit.push_screen(ChoiceScreen(title, _VERDICTS), chosen)

    def action_note(self) -> None:
        """Write a note on the run in front."""
        ready = self._ready()
        if ready is None:
            return
        view, key = ready
        review = view.reviews.get(key)

        def written(note: str | None) -> None:
            if note is not None and self._settle(view, key, review.verdict if review else None, note.strip()):
                self.renew()

        title = f"Note on {view.row(key).question}, run {view.row(key).run}"
        self.resit.push_screen(LineScreen(title, review.note if review else ""), written)

    def _settle(self, view: RoundView, key: str, verdict: VerdictWord | None, note: str) -> bool:
        try:
            view.settle(key, verdict, note)
        except (ResitError, OSError) as error:
            said = " – ".join(part for part in (verdict or "", note) if part)
            self.say(f"Not written down ({said}): {error}", severity="error")
            return False
        self.say("Written down.")
        return True

    # -- looking ----------------------------------------------------------------------------------------------------

    def action_miss(self, step: int) -> None:
        """The miss before or after."""
        if self.view is None:
            return
        key = self.view.after(self.key, step)
        if key is None:
            self.say("No misses: every run has full marks.")
        elif key == self.key:
            self.say("This is the last miss." if step > 0 else "This is the first miss.")
        else:
            self.show_key(key)

    def action_sibling(self, step: int) -> None:
        """The run before or after, of the same question."""
        ready = self._ready()
        if ready is None:
            return
        view, key = ready
        keys = view.of_question(view.row(key).question)
        self.show_key(keys[(keys.index(key) + step) % len(keys)])

    def action_copy(self) -> None:
        """Copy the reply, untouched."""
        ready = self._ready()
        if ready is None:
            return
        reply = reply_text(ready[0].miss(ready[1]))
        if reply is None:
            self.say("There is no reply to copy.")
        else:
            self.resit.copy(reply, figures.count(len(reply), "character"))


def _now() -> datetime:
    """To the second, as the file keeps it."""
    return datetime.now(UTC)


def _flipped(flips: tuple[Flip, ...]) -> str:
    return f"{figures.count(len(flips), 'mark')} of this round changed." if flips else "No mark of this round changed."


def edit_said(edit: Edit) -> str:
    """An edit in one line."""
    match edit.what:
        case "accept":
            what = f"accept {one_line(edit.accept or '', 80)!r}"
        case "rule" | "second_rule":
            what = f"{edit.what.replace('_', ' ')} {rule_said(edit.rule) if edit.rule else ''}"
        case "trap":
            what = f"trap {one_line(edit.trap.reply if edit.trap else '', 80)!r}"
        case "weight":
            what = f"weight {edit.weight}"
    return f"{one_line(edit.question, 60)}: {what}"


def preview_text(edit: Edit, preview: Preview, path: str, front: Row) -> Content:
    """What will be written, and every mark it turns in saved rounds."""
    lines = [
        Content.styled(f"Written to {one_line(path, 200)}", "$text-muted"),
        Content.styled(printable(EditStore.text_of(edit).strip(), 1_000), "$primary"),
        Content(""),
        Content.styled(preview.said, "bold"),
    ]
    if not any(_same_run(flip.after, front) for flip in preview.flips):
        lines.append(Content.styled("The run in front keeps its mark under this edit.", "$warning"))
    for flip in preview.flips[:_SHOWN_FLIPS]:
        lines.append(_flip_line(flip))
    if len(preview.flips) > _SHOWN_FLIPS:
        lines.append(Content.styled(f"and {len(preview.flips) - _SHOWN_FLIPS} more", "$text-muted"))
    return Content("\n").join(lines)


def _same_run(one: Row, other: Row) -> bool:
    return (one.question, one.setting, one.run) == (other.question, other.setting, other.run)


def _flip_line(flip: Flip) -> Content:
    before, after = mark(flip.before.score), mark(flip.after.score)
    return Content.assemble(
        (f"{before} ", mark_style(before)),
        "→ ",
        (f"{after} ", mark_style(after)),
        f"{one_line(figures.short_setting(flip.after.setting), 28)} r{flip.after.run}  ",
        (one_line(flip.round_id, 30), "$text-muted"),
        f"  {one_line(flip.after.reply or '', 60)}",
    )
