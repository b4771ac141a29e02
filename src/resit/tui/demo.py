"""The demo in the app: a recorded round, played at a pace one can follow."""

from __future__ import annotations

from resit.core import paths
from resit.core.rounds.session import NEW, Prepared, prepare_round
from resit.core.suite_file import load_suite
from resit.demo import demo_client, demo_recording, demo_settings, demo_suite_path

LASTS_S = 20.0
"""About how long the demo plays: long enough to watch, short enough to wait for."""
CONCURRENCY = 2
REPEATS = 2


def prepare_demo() -> Prepared:
    """A new round of the demo's suite with its recorded replies.

    The suite is copied into the data folder, so that edits made in the demo lie beside a copy of one's own.

    Raises:
        ResitError: The suite cannot be copied or read.
    """
    recording = demo_recording()
    settings = demo_settings(recording)
    taken_s = sum(reply.reply.seconds or 0.0 for reply in recording.replies)
    pace = min(1.0, LASTS_S * CONCURRENCY / taken_s) if taken_s else 0.0
    source = demo_suite_path()
    copy = paths.data_dir() / "demo" / source.name
    data = source.read_bytes()
    if not copy.exists() or copy.read_bytes() != data:
        paths.atomic_write(copy, data, sync=False)
    client = demo_client(pace)
    return prepare_round(
        load_suite(copy),
        settings,
        REPEATS,
        concurrency=CONCURRENCY,
        round=NEW,
        clients={setting.provider: client for setting in settings},
    )
