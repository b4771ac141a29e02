"""Words and ranges of the Logs screen: what a scan found, what a row could mean, which time is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from resit.tui.figures import count
from resit.tui.logs_models import View

if TYPE_CHECKING:
    from resit.core.logs.records import LogIndex, ScanProgress, Sum, Summary


@dataclass(frozen=True, slots=True)
class Range:
    """The time that is looked at, as the person wrote it."""

    text: str = ""
    since: datetime | None = None
    until: datetime | None = None


def parse_range(text: str, now: datetime) -> Range:
    """A range as a person writes it: `30d`, `2026-11-01`, `2026-11-01 .. 2026-11-15`.

    Raises:
        UsageError: A part of it is no time.
    """
    from resit.core.logs.when import end_of, start_of

    first, dots, last = (part.strip() for part in text.partition(".."))
    if not text.strip():
        return Range()
    since = start_of(first, now) if first else None
    return Range(text.strip(), since, end_of(last, now) if dots and last else None)


def head_said(index: LogIndex, summary: Summary) -> str:
    """What must be known of all figures."""
    if not index.requests:
        where = ", ".join(index.sources[:3]) or "the usual folders"
        return f"No request was found in {where}. t widens the time; `resit logs PATH` reads other folders."
    share = summary.no_effort_share or 0.0
    parts = [f"{share:.0%} set no level"]
    if summary.total.unpriced:
        parts.append(f"no price for {', '.join(summary.total.unpriced[:3])}")
    parts += [f"prices: {index.price_notes[0]}"] if index.price_notes else []
    left_out = index.damaged_lines + index.long_lines + sum(index.unknown_lines.values())
    parts += [f"{count(left_out, 'line')} not understood"] if left_out else []
    parts += [f"{count(len(index.unread), 'file')} not readable"] if index.unread else []
    return " · ".join(parts)


def sum_said(each: Sum, summary: Summary, view: View) -> str:
    """Why a row is there, and what it could mean."""
    models = ", ".join(f"{name.removeprefix('claude-')} {number:,}×" for name, number in each.models[:4])
    levels = ", ".join(f"{name} {number:,}×" for name, number in each.efforts[:4])
    parts = [each.why] if each.why else []
    parts += [models] if view != "model" else []
    parts += [levels] if view != "effort" else []
    found = next((candidate for candidate in summary.candidates if candidate.kind == each.name), None)
    if view == "kind" and found is not None:
        parts.append(f"{found.count:,} went to {found.model}, the dearest: would a cheaper one do?")
    return " · ".join(parts)


def progress_said(progress: ScanProgress) -> str:
    """How far a scan is."""
    share = progress.bytes / progress.bytes_total if progress.bytes_total else 1.0
    files = f"{progress.files:,} of {count(progress.files_total, 'file')}"
    return f"Reading logs: {share:.0%} · {files} · {count(progress.requests, 'request')} · x stops"
