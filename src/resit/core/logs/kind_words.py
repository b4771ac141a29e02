"""Which kind of work a request is: decided by words anyone can look up here, never by a model.

In this order: a delegation to an agent of a special type is that type's work; else the first word of the table below
that the prompt's opening holds decides, an opening verb before all; else the tools that were used; else it is `other`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

OTHER = "other"
OPENING = 400
"""Characters of a prompt that are looked at: what is wanted stands at its start, data follows."""
_WORDS_KEPT = 3

WORDS: dict[str, tuple[str, ...]] = {
    "review": ("review", "reviews", "critique", "audit", "proofread", "feedback", "assess"),
    "fix": (
        "fix", "fixes", "fixing", "debug", "bug", "bugs", "broken", "error", "errors", "crash", "crashes", "failing",
        "fails", "repair", "traceback", "regression",
    ),
    "test": ("test", "tests", "testing", "coverage", "pytest", "unittest"),
    "check": ("check", "checks", "verify", "validate", "confirm", "ensure"),
    "change code": (
        "refactor", "rename", "simplify", "restructure", "clean", "migrate", "replace", "update", "upgrade", "change",
        "remove", "move", "edit", "modify", "rewrite", "convert", "optimise", "optimize",
    ),
    "build": ("implement", "build", "create", "add", "make", "code", "generate", "develop", "scaffold"),
    "write text": (
        "write", "draft", "email", "letter", "blog", "article", "document", "docs", "readme", "changelog", "reply",
        "rephrase", "reword",
    ),
    "explain": ("explain", "describe", "understand", "clarify", "teach", "why", "how", "walk"),
    "find": ("find", "search", "locate", "where", "grep", "look", "list", "explore", "investigate", "research"),
    "summarise": ("summarise", "summarize", "summary", "tldr", "condense", "digest", "recap"),
    "translate": ("translate", "translation"),
    "extract": ("extract", "parse", "classify", "label", "categorise", "categorize", "tag", "sort"),
    "calculate": ("calculate", "compute", "count", "sum", "total", "average", "estimate", "convert"),
    "compare": ("compare", "difference", "diff", "versus", "vs"),
    "plan": ("plan", "design", "propose", "outline", "brainstorm", "suggest", "ideas", "recommend", "architecture"),
    "run": ("run", "execute", "install", "deploy", "start", "restart", "set", "configure"),
    "commit": ("commit", "push", "merge", "rebase", "pr"),
    "question": ("what", "which", "who", "when", "is", "are", "does", "do", "should", "would"),
}  # fmt: skip
"""Words by the kind they stand for. A word that two kinds hold counts for the first."""

_KIND_OF = {word: kind for kind, words in reversed(WORDS.items()) for word in words}

_WEAK = frozenset(WORDS["question"]) | {"how", "why", "set", "do", "make", "look", "code", "sort", "start", "change"}
"""Words that decide only where they open the request: everywhere else they are mere grammar."""
_POLITE = frozenset({
    "please", "can", "could", "would", "you", "will", "i", "we", "want", "need", "to", "like", "let's", "lets",
    "us", "me", "now", "then", "next", "also", "ok", "okay", "hi", "hello", "hey", "the", "a", "an", "just",
    "kindly", "go", "ahead", "and", "help", "is", "it", "possible", "id", "i'd", "so", "first", "your", "task",
    "job",
})  # fmt: skip
_MARKUP = re.compile(r"<[^<>]{1,200}>|`[^`]{0,200}`")
"""Tags and code: their words say nothing about what is wanted, as those of paths and addresses do not."""
_COMMAND = re.compile(r"\s*/([\w:-]+)(?!\S)")
"""A command of the person's own: its name says what is wanted."""
_AROUND = ".,;:!?()[]{}<>\"'“”‘’…*#_-–—=+|~^&%$@"
_PAIRS = {
    ("look", "for"): "find", ("look", "up"): "find", ("look", "over"): "review", ("look", "through"): "review",
    ("set", "up"): "build", ("add", "up"): "sum", ("add", "together"): "sum",
}  # fmt: skip
"""What two words mean together."""
_SUMMED = frozenset({"numbers", "amounts", "figures", "totals"})
"""What is added up, not added to something, where it follows: `add the numbers`."""

_GENERAL = frozenset({"", "general-purpose", "general", "default", "task", "agent", "worker"})
"""Agent types that say nothing about the work."""
_BY_TOOLS: tuple[tuple[str, frozenset[str]], ...] = (
    ("change files", frozenset({"edit", "write", "multiedit", "notebookedit", "apply_patch", "replace", "write_file"})),
    ("search the web", frozenset({"websearch", "webfetch", "web_search", "google_web_search", "web_fetch", "browser"})),
    (
        "look into files",
        frozenset({"read", "grep", "glob", "ls", "read_file", "search_file_content", "list_directory"}),
    ),
    ("run commands", frozenset({"bash", "shell", "exec_command", "run_shell_command", "local_shell", "python"})),
)
"""Kinds by the tools used, where no word tells: the first line with a tool that was used decides."""


def asked_for(prompt: str) -> tuple[str, ...]:
    """The telling words of a prompt's opening, the deciding one first; at most three, none where there is none."""
    words = _words(prompt[:OPENING])
    opening = next((word for word in words if word not in _POLITE), "")
    found = [opening] if opening in _KIND_OF else []
    found += [word for word in words if word in _KIND_OF and word not in _WEAK]
    if not found and any(word in _KIND_OF for word in words[:1]):
        found = words[:1]
    return tuple(dict.fromkeys(found))[:_WORDS_KEPT]


def _words(text: str) -> list[str]:
    """The words of a text, small; those of paths, addresses, tags and code left out, and pairs put together."""
    command = _COMMAND.match(text)
    if command is not None:
        text = f"{command[1]} {text[command.end() :]}"
    if "<" in text or "`" in text:
        text = _MARKUP.sub(" ", text)
    plain = [word for word in text.lower().split() if "/" not in word and "\\" not in word]
    words = [bare for word in plain if (bare := word if word.isalpha() else word.strip(_AROUND))]
    for at, pair in enumerate(pairwise(words)):
        if pair[0] in _PAIRED:
            words[at] = _PAIRS.get(pair, "sum" if pair[0] == "add" and _SUMMED & set(words[at : at + 4]) else pair[0])
    return words


_PAIRED = frozenset(first for first, _ in _PAIRS)


def group_of(asked: Sequence[str], tools: Sequence[str], agent_type: str | None) -> tuple[str, str]:
    """The kind of work, and why it is that.

    Args:
        asked: What `asked_for` found.
        tools: Names of the tools used, most used first.
        agent_type: Type of the agent it was given to; None for a request of a person.
    """
    if agent_type is not None and agent_type.lower() not in _GENERAL:
        return agent_type.lower(), _why(f"given to the agent {agent_type}", tools)
    kind = next((_KIND_OF[word] for word in asked if word in _KIND_OF), None)
    if kind is not None:
        return kind, _why(f"asked to {asked[0]}" if _is_verb(asked[0]) else f"asked with “{asked[0]}”", tools)
    lowered = {tool.lower() for tool in tools}
    for kind, names in _BY_TOOLS:
        if lowered & names:
            return kind, _why("no telling word", tools)
    return OTHER, _why("no telling word", tools)


def _why(reason: str, tools: Sequence[str]) -> str:
    return f"{reason}; tools {', '.join(tools[:3])}" if tools else f"{reason}; no tools"


_NO_VERBS = frozenset({
    "bug", "bugs", "broken", "error", "errors", "crash", "crashes", "failing", "fails", "traceback",
    "regression", "tests", "testing", "coverage", "pytest", "unittest", "reviews", "feedback", "fixes",
    "fixing", "checks", "email", "letter", "blog", "article", "docs", "readme", "changelog", "why", "how",
    "where", "summary", "tldr", "translation", "total", "average", "difference", "versus", "vs", "ideas",
    "architecture", "pr", "what", "which", "who", "when", "is", "are", "does", "do", "should", "would", "recap",
})  # fmt: skip


def _is_verb(word: str) -> bool:
    return word not in _NO_VERBS
