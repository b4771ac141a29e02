"""The demo: a sample suite with replies that two small real models gave, recorded once and played back."""

from __future__ import annotations

from pathlib import Path

from resit.core.calling.recorded_client import RecordedClient, RecordedFile
from resit.core.records import Setting
from resit.core.suite_file import find_suite

SUITE = "sample:easy-questions"
NAME = "demo"
"""Of the recording: its endpoint reads `recorded:demo`."""

_REPLIES = Path(__file__).with_name("replies.json")


def demo_suite_path() -> Path:
    """The suite that the recorded replies answer."""
    return find_suite(SUITE)


def demo_recording() -> RecordedFile:
    """The replies, with model, date and settings of each."""
    return RecordedFile.load(_REPLIES)


def demo_settings(recording: RecordedFile | None = None) -> tuple[Setting, ...]:
    """The settings that were recorded."""
    return (recording or demo_recording()).settings


def demo_client(pace: float = 0.0) -> RecordedClient:
    """A client that plays the replies.

    Args:
        pace: Share of the recorded seconds that each reply takes; 0 answers at once.
    """
    return RecordedClient(demo_recording(), NAME, pace=pace)


def demo_label(recording: RecordedFile | None = None) -> str:
    """One line that says what these replies are: recorded, of which models, when, under which settings."""
    recording = recording or demo_recording()
    models = ", ".join(dict.fromkeys(reply.model for reply in recording.replies))
    when = recording.last_recorded_at
    server = next((str(r.settings["server"]) for r in recording.replies if r.settings.get("server")), "")
    limits = sorted({limit for r in recording.replies if isinstance(limit := r.settings.get("max_tokens"), int)})
    parts = [
        f"recorded replies of {models}",
        f"{when.day} {when:%b %Y}" if when else "",
        f"max_tokens {'/'.join(map(str, limits))}" if limits else "",
        server,
    ]
    return ", ".join(part for part in parts if part)
