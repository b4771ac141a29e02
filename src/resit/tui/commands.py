"""Every key of every screen, declared once: footers, `?`, the palette and rebinding are all made from this."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from textual.binding import Binding


@dataclass(frozen=True, slots=True)
class Command:
    """One thing a person can ask of a screen."""

    id: str
    """`<group>.<name>`; what `resit.toml` rebinds."""
    keys: str
    """One key, or several with commas; the first is the one shown."""
    action: str
    """Action method of the screen or app, without `action_`."""
    label: str
    """Word or two for the footer; empty keeps it out of the footer."""
    about: str
    """A sentence for `?` and the palette."""
    priority: bool = False
    """Goes before a focused widget's own keys."""


def _group(name: str, *entries: tuple[str, str, str, str]) -> tuple[Command, ...]:
    return tuple(
        Command(f"{name}.{_name(action)}", keys, action, label, about) for keys, action, label, about in entries
    )


def _name(action: str) -> str:
    """`miss(-1)` and `miss(1)` are rebound each by itself, as `miss_before` and `miss_next`."""
    name, step, _ = action.partition("(")
    if not step:
        return name
    return f"{name}_before" if "-" in action else f"{name}_next"


APP: tuple[Command, ...] = (
    Command("app.help", "question_mark", "help", "help", "Show the keys of this screen"),
    Command("app.back", "escape,q", "back", "", "Go back one screen; from the first screen, quit"),
    Command("app.quit", "ctrl+q", "quit", "", "Quit; asks first while a round runs", priority=True),
    Command("app.theme", "ctrl+t", "next_theme", "", "Next theme: dark, light, high contrast, the terminal's own"),
    Command("app.picture", "ctrl+s", "picture", "", "Save a picture of this screen as SVG"),
    Command("app.live", "ctrl+l", "live", "", "Go to the round that runs"),
    Command("app.logs", "ctrl+o", "logs", "", "Go to your own logs: what you ask of which model, and drafts out of it"),
)
"""Everywhere."""

SCREENS: dict[str, tuple[Command, ...]] = {
    "suites": _group(
        "suites",
        ("enter", "setup", "set up", "Set up a round of this suite"),
        ("r", "rounds", "rounds", "Rounds of this suite: open, go on, add settings"),
        ("e", "edit", "edit", "Open the suite file in $EDITOR"),
        ("n", "new", "new", "Write a commented starter suite"),
        ("c", "check", "check", "What is wrong with this suite, and its self-test"),
        ("H", "history", "history", "This suite over its rounds: scores, costs, and what became of its questions"),
        ("dollar_sign", "spend", "spend", "What was spent, by day, model and suite"),
        ("slash", "filter", "filter", "Filter the suites by text"),
        ("L", "logs", "", "Your own logs: what you ask of which model, and drafts of questions out of it"),
        ("tab", "pane", "", "To the questions or faults and back"),
    ),
    "rounds": _group(
        "rounds",
        ("enter", "open", "results", "Open the results of this round"),
        ("r", "resume", "go on", "Ask what this round still owes"),
        ("a", "add", "add settings", "Add models, efforts or runs to this round"),
        ("w", "watch", "watch", "Follow this round while another process runs it"),
        ("space", "mark", "mark", "Mark a round to compare, or take the mark away"),
        ("c", "compare", "compare", "Compare the two marked rounds"),
        ("g", "gates", "gates", "Which setting for which kind of work: the marked rounds, else this one"),
        ("H", "history", "history", "This suite over its rounds: scores, costs, and what became of its questions"),
    ),
    "history": _group(
        "history",
        ("enter", "open", "results", "Open the results of the round under the cursor"),
        ("t", "shape", "questions", "What became of the questions, or settings over the rounds"),
        ("c", "cost", "cost", "Plot what one run of each question cost, or the lowest score"),
        ("s", "sort", "sort", "Sort by the column the cursor is on; again turns it round"),
    ),
    "gates": _group(
        "gates",
        ("w", "write", "write rules", "Write the routing rules into a file; the change is shown first"),
        ("p", "plot", "plot", "The gates, score against cost, or how scores move as questions are added"),
        ("u", "today", "used today", "Say that the setting under the cursor does this kind of work today"),
        ("b", "bar", "bar", "Set the lowest score that is good enough"),
        ("s", "sort", "sort", "Sort by the column the cursor is on; again turns it round"),
    ),
    "compare": _group(
        "compare",
        ("enter", "replies", "replies", "Both replies side by side, in full"),
        ("f", "changes", "changes only", "Show only what is below full marks in a round, or everything"),
        ("s", "sort", "sort", "Sort by the column the cursor is on; again turns it round"),
    ),
    "spend": _group(
        "spend",
        ("d", "by_day", "by day", "A row a day"),
        ("m", "by_model", "by model", "A row a model"),
        ("s", "by_suite", "by suite", "A row a suite"),
    ),
    "logs": _group(
        "logs",
        ("enter", "open", "open", "The requests of this row, or read this request"),
        ("space", "mark", "mark", "Mark a request to draft, or a kind to merge; again takes the mark away"),
        ("d", "draft", "draft", "Draft a suite of the marked requests, redacted"),
        ("v", "next_view", "view", "Next view: kinds, models, levels, days, requests, audit"),
        ("slash", "filter", "filter", "Filter requests by words; kind:, model:, effort:, tool:, day:, is:marked"),
        ("n", "rename", "rename", "Rename this kind; marked kinds become one"),
        ("c", "correct", "correct", "Say which kind this request is, or the marked ones"),
        ("t", "time_range", "time", "Read only a range of time"),
        ("s", "sort", "sort", "Sort by the column the cursor is on; again turns it round"),
        ("o", "drafts", "drafts", "Open drafts that were saved"),
        ("x", "stop", "", "Stop reading; what was read is remembered"),
        ("r", "again", "", "Look through the logs again"),
        ("1", "kinds", "", "By kind of work"),
        ("2", "models", "", "By model"),
        ("3", "levels", "", "By effort level"),
        ("4", "days", "", "By day"),
        ("5", "requests", "", "Every request"),
        ("6", "audit", "", "Which settings were used for which kind, beside what the exam says of them"),
    ),
    "drafting": _group(
        "drafting",
        ("enter", "change", "change", "Write or change what the cursor is on; give a redaction back, leave a file out"),
        ("y", "accept", "accept", "Accept what a model proposed for this line"),
        ("minus", "turn_down", "", "Turn down what a model proposed for this line"),
        ("left_square_bracket", "step(-1)", "", "The draft before this one"),
        ("right_square_bracket", "step(1)", "next", "The next draft"),
        ("s", "save", "save", "Save the suite: what is ready is asked, the rest stays a draft"),
        ("g", "go", "set up", "Save, and set up a round of what is ready"),
        ("X", "drop", "drop", "Drop this draft"),
        ("tab", "pane", "", "To the texts and back"),
    ),
    "setup": _group(
        "setup",
        ("enter", "start", "start", "Start the round"),
        ("space", "pick", "pick", "Pick or leave out what the cursor is on"),
        ("plus,equals_sign", "more", "more runs", "One run more of each question"),
        ("minus", "fewer", "fewer", "One run fewer of each question"),
        ("c", "cap", "cap", "Set the most this round may cost"),
        ("s", "serial", "serial", "One call at a time, for clean timing"),
        ("b", "batch", "batch", "In batches: half the price, within a day; or each call by itself"),
        ("v", "variants", "variants", "The next wording around each prompt, or all of them"),
        ("t", "thinking", "thinking", "Thinking off for the model under the cursor, or as the model has it"),
        ("n", "fresh", "new round", "Start another round, though one with these settings is there"),
        ("tab", "pane", "", "To the plan and back"),
    ),
    "live": _group(
        "live",
        ("p", "pause", "pause", "Pause the round, or go on"),
        ("enter", "read", "read", "Read and mend the chosen miss while the rest runs"),
        ("x", "stop", "stop", "Stop the round; what is finished is saved, the rest can be asked later"),
        ("g", "results", "results", "Go to the results"),
        ("a", "all", "all runs", "Show only misses, every run, or what is in flight with its state and age"),
        ("w", "watch", "watch", "Watch one reply as it streams in; again stays on it, again closes"),
        ("f", "follow", "follow", "Follow the newest line, or stay where you are"),
        ("r", "again", "", "After the end: ask again what has no fair answer"),
    ),
    "results": _group(
        "results",
        ("enter", "open", "read", "Read this run full screen"),
        ("m", "next_open", "next", "The next miss that is left to read"),
        ("a", "accept", "accept", "Accept this reply: shows what will be written and what else flips first"),
        ("u", "rule", "rule", "Change this question's rule, with the same preview"),
        ("v", "verdict", "verdict", "Say whose miss it is: model, grader, question or setup"),
        ("n", "note", "note", "Write a note on this run"),
        ("z", "undo", "undo", "Take the last edit of this suite back"),
        ("f", "misses", "misses", "Show only what is below full marks, or everything"),
        ("w", "write_note", "write", "Write this round's result as a note into its folder, your own words kept"),
        ("c", "compare", "compare", "Compare this round with the last round of the suite before it"),
        ("C", "compare_settings", "", "Compare the setting in front with another one of this round"),
        ("g", "gates", "gates", "Which setting for which kind of work, gate by gate"),
        ("t", "shape", "shape", "One row a run, or questions by settings"),
        ("s", "sort", "sort", "Sort by the column the cursor is on; again turns it round"),
        ("slash", "filter", "filter", "Filter by words; `model:haiku`, `kind:dates`, `>2s` and such combine"),
        ("y", "copy", "copy", "Copy the reply to the clipboard, over ssh too"),
        ("left_square_bracket", "miss(-1)", "", "The miss before this one"),
        ("right_square_bracket", "miss(1)", "", "The next miss"),
        ("H", "history", "", "This suite over its rounds: scores, costs, and what became of its questions"),
        ("r", "owed", "", "Ask what this round still owes: runs without a fair answer, and new ones"),
        ("R", "again", "", "Ask the run in front again; its reply so far is kept as an earlier attempt"),
        ("tab", "pane", "", "To the miss pane and back; opens it where the window is narrow"),
        ("comma", "sibling(-1)", "", "The run before, of the same question"),
        ("full_stop", "sibling(1)", "", "The next run of the same question"),
    ),
    "miss": _group(
        "miss",
        ("left_square_bracket", "miss(-1)", "previous", "The miss before this one"),
        ("right_square_bracket", "miss(1)", "next", "The next miss"),
        ("m", "next_open", "unread", "The next miss that is left to read"),
        ("a", "accept", "accept", "Accept this reply: shows what will be written and what else flips first"),
        ("u", "rule", "rule", "Change this question's rule, with the same preview"),
        ("v", "verdict", "verdict", "Say whose miss it is: model, grader, question or setup"),
        ("n", "note", "note", "Write a note on this run"),
        ("z", "undo", "undo", "Take the last edit of this suite back"),
        ("y", "copy", "copy", "Copy the reply to the clipboard, over ssh too"),
        ("i", "invisible", "invisible", "Show zero-width and other invisible characters"),
        ("comma", "sibling(-1)", "", "The run before, of the same question"),
        ("full_stop", "sibling(1)", "", "The next run of the same question"),
    ),
}
"""By screen, in the order of the footer: what is needed most first, as a narrow window has no room for the rest."""


def bindings(commands: Iterable[Command]) -> list[Binding | tuple[str, str] | tuple[str, str, str]]:
    """`commands` as Textual wants them."""
    return [
        Binding(c.keys, c.action, c.label or c.about, show=bool(c.label), id=c.id, priority=c.priority, tooltip=c.about)
        for c in commands
    ]


_SIGNS = {
    "question_mark": "?",
    "slash": "/",
    "plus": "+",
    "minus": "-",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "comma": ",",
    "full_stop": ".",
    "escape": "esc",
    "equals_sign": "=",
    "dollar_sign": "$",
}


def sign(key: str) -> str:
    """The key as it stands on a keyboard: `slash` is `/`."""
    return _SIGNS.get(key, key)
