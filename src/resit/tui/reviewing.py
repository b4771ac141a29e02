"""Reading a miss and mending it: the actions that the results, the full-screen miss and the live screen share."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from textual.content import Content

from resit.core.errors import ResitError
from resit.core.printable import one_line
from resit.core.records import VerdictWord
from resit.core.suite import Edit
from resit.tui import figures
from resit.tui.edit_words import edit_said, flipped_said, preview_text
from resit.tui.messages import SuiteChanged
from resit.tui.miss_text import reply_text
from resit.tui.rule_choices import form_to_accept, rule_said, sensible_rules
from resit.tui.screens.base import ResitScreen
from resit.tui.screens.confirm import ChoiceScreen, LineScreen, PreviewScreen

if TYPE_CHECKING:
    from resit.tui.round_view import RoundView

LONGEST_FORM = 2_000
"""A reply longer than this is no accepted answer; a rule is what has to change."""

_VERDICTS = [
    ("m", "model", "model: it was wrong"),
    ("g", "grader", "grader: the rule is wrong, the reply is not"),
    ("q", "question", "question: it is unclear or mistaken; left out for every setting"),
    ("s", "setup", "setup: it never had a fair chance; left out, and can be asked again"),
    ("0", "none", "no verdict: take it back"),
]
_GRADER = [
    ("a", "accept", "accept this reply"),
    ("u", "rule", "change the rule"),
    ("w", "reason", "nothing: write down why the rule stays as it is"),
]
_GRADER_ABOUT = "The verdict is written down, but it closes nothing until one of these is done."
_AGAIN = [("r", "again", "ask it again now"), ("l", "later", "later: R in the results asks it again")]


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
        self.say(f"Written to {view.edits_file().name}. {flipped_said(flips)} z takes it back.")
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
            self.say(f"Taken back: {edit_said(edit)}. {flipped_said(flips)}")
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
            if answer is not None:
                self._judge(view, key, None if answer == "none" else cast(VerdictWord, answer))

        row = view.row(key)
        title = f"Whose miss is {row.question}, {figures.short_setting(row.setting)}, run {row.run}?"
        self.resit.push_screen(ChoiceScreen(title, _VERDICTS), chosen)

    def _judge(self, view: RoundView, key: str, verdict: VerdictWord | None) -> None:
        """Write the verdict down, and go on with what it asks for."""
        review = view.reviews.get(key)
        if not self._settle(view, key, verdict, review.note if review else ""):
            return
        if verdict == "grader" and view.waits_for_grader(key):
            self.renew()
            self._ask_what_changes(view, key)
            return
        self._go_on(view, key, verdict)
        if verdict == "setup":
            self._offer_again(view, key)
        elif verdict == "question":
            self.say(f"{view.row(key).question} is left out for every setting; 0 takes it back.")

    def _go_on(self, view: RoundView, key: str, verdict: VerdictWord | None) -> None:
        onward = view.next_open(key) or view.after(key, 1)
        if verdict is not None and onward is not None:
            self.show_key(onward)
        self.renew()

    def _ask_what_changes(self, view: RoundView, key: str) -> None:
        """A miss of the grader is closed by a changed rule or by a reason, and by nothing else."""

        def chosen(answer: str | None) -> None:
            match answer:
                case "accept":
                    self.action_accept()
                case "rule":
                    self.action_rule()
                case "reason":
                    self._ask_reason(view, key)
                case _:
                    self.say("It stays open: a rule must change, or a reason be written.", severity="warning")

        title = f"The grader's fault: what changes for {view.row(key).question}?"
        self.resit.push_screen(ChoiceScreen(title, _GRADER, about=_GRADER_ABOUT), chosen)

    def _ask_reason(self, view: RoundView, key: str) -> None:
        def written(note: str | None) -> None:
            if note is None or not note.strip():
                self.say("It stays open: a rule must change, or a reason be written.", severity="warning")
            elif self._settle(view, key, "grader", note.strip()):
                self._go_on(view, key, "grader")

        self.resit.push_screen(LineScreen("Why does the rule stay as it is?"), written)

    def _offer_again(self, view: RoundView, key: str) -> None:
        """A run that never had a fair chance is left out; it can have its chance now."""
        row = view.row(key)
        name = f"{row.question}, {figures.short_setting(row.setting)}, run {row.run}"
        if self.resit.session.running:
            self.say(f"{name} is left out. Ask it again when the round has ended: R in the results.")
            return

        def chosen(answer: str | None) -> None:
            if answer == "again":
                self.ask_again(view, key)

        self.resit.push_screen(ChoiceScreen(f"{name} is left out of the score.", _AGAIN), chosen)

    def ask_again(self, view: RoundView, key: str) -> None:
        """Ask a run again, after saying what that calls; its reply so far is kept as an earlier attempt."""
        from resit.core.rounds.session import prepare_round
        from resit.tui.starting import clients_for, start

        suite, row = view.current or view.asked, view.row(key)
        try:
            prepared = prepare_round(
                suite,
                round=str(view.store.path),
                again=(key,),
                only=(row.question,),
                clients=clients_for(view.settings.values()),
            )
        except ResitError as error:
            self.say(str(error), severity="error")
            return

        def answered(yes: bool | None) -> None:
            if yes:
                start(self.resit, prepared, suite)

        lines = [figures.count(len(prepared.plan.jobs), "call"), *prepared.notes]
        body = Content("\n".join(one_line(line, 200) for line in lines))
        keys = "enter asks · esc cancels"
        self.resit.push_screen(PreviewScreen(f"Ask {row.question} again?", body, keys=keys), answered)

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
        self.say("Written down." + (f" {view.grader_said}." if verdict == "grader" else ""))
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

    def action_next_open(self) -> None:
        """The next run that waits for a person, from the first again after the last."""
        if self.view is None:
            return
        key = self.view.next_open(self.key)
        if key is None:
            self.say("Every miss is read.")
        elif key == self.key:
            self.say("This is the only one left to read.")
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
