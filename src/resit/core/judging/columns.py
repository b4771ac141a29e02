"""The columns in which a note and a page show the figures of a setting: one place, so that the two never differ."""

from __future__ import annotations

from typing import Final

from resit.core.judging.evidence import Evidence
from resit.core.judging.figures import Figures
from resit.core.judging.gates import Gated
from resit.core.judging.wording import counted, dollars, interval_said, percent, seconds
from resit.core.records import Reason, Row
from resit.core.scoring.grid import Cell
from resit.core.spend.prices import Price

COST_HEAD: Final = ("cost", "one run of each", "input", "output", "thinking", "median", "95% within")
KIND_HEAD: Final = (
    "full marks", "lowest score", "mean", "runs", "misses", "unsettled", "one run of each", "median",
    "what may be said",
)  # fmt: skip
PRICE_HEAD: Final = ("input price", "output price", "price from")
_REASONS: Final[dict[Reason, str]] = {"wrong": "wrong", "trap": "trap", "format": "wording"}


def score_head(second: bool) -> tuple[str, ...]:
    """Names of the columns of `score_cells`."""
    beside = ("second rule",) if second else ()
    return (
        "full marks",
        "lowest score",
        "95% interval",
        "mean",
        "runs",
        "spread",
        *beside,
        "misses",
        "graded",
        "unsettled",
    )


def score_cells(figure: Figures, second: bool) -> tuple[str, ...]:
    """What a setting got.

    Args:
        figure: The setting.
        second: Whether a question of the round has a second rule, shown beside the first.
    """
    summary = figure.summary
    return (
        f"{summary.lowest_full}/{summary.of}",
        percent(figure.lowest.share),
        interval_said(figure.interval),
        percent(summary.mean),
        _runs_said(figure),
        percent(figure.spread),
        *([f"{summary.second_lowest_full}/{summary.of}"] if second else []),
        _misses_said(figure),
        f"{summary.graded}/{summary.planned}",
        str(summary.unsettled),
    )


def _runs_said(figure: Figures) -> str:
    """`2`, or `1 to 2`: scored runs of the question that has fewest and of the one that has most."""
    least, most = figure.runs_least, figure.runs_most
    return str(least) if least == most else f"{least} to {most}"


def _misses_said(figure: Figures) -> str:
    """`2 wrong, 1 trap, 3 wording`: runs below full marks by their reason."""
    counts = figure.summary.misses_by_reason
    return ", ".join(f"{counts[reason]} {word}" for reason, word in _REASONS.items() if counts.get(reason)) or "0"


def cost_cells(figure: Figures) -> tuple[str, ...]:
    """What a setting cost and how long it took, under `COST_HEAD`."""
    summary = figure.summary
    inputs = (summary.input_tokens, summary.cache_write_tokens, summary.cache_read_tokens)
    known = [count for count in inputs if count is not None]
    return (
        dollars(summary.cost_usd, at_least=summary.cost_at_least),
        dollars(figure.cost_each_usd),
        _tokens(sum(known) if known else None),
        _tokens(summary.output_tokens),
        _tokens(summary.thinking_tokens),
        seconds(summary.seconds_median),
        seconds(figure.seconds_95),
    )


def _tokens(count: int | None) -> str:
    return "–" if count is None else f"{count:,}"


def kind_cells(gated: Gated) -> tuple[str, ...]:
    """A setting on one kind of work, under `KIND_HEAD`."""
    figure, summary = gated.figures, gated.figures.summary
    return (
        f"{summary.lowest_full}/{summary.of}",
        percent(figure.lowest.share),
        percent(summary.mean),
        _runs_said(figure),
        _misses_said(figure),
        str(summary.unsettled),
        dollars(figure.cost_each_usd),
        seconds(summary.seconds_median),
        gated.said,
    )


def price_cells(price: Price | None) -> tuple[str, ...]:
    """What a million tokens cost and who says so, under `PRICE_HEAD`."""
    if price is None:
        return "unknown", "unknown", "nobody says"
    tiers = f", {counted(len(price.tiers), 'dearer tier')} for long prompts" if price.tiers else ""
    return f"${price.input.normalize():f}", f"${price.output.normalize():f}", f"{price.label}{tiers}"


def left_out(row: Row, evidence: Evidence) -> str:
    """Whether a verdict takes this run out of the score, in words."""
    if row.question in evidence.questions_out:
        return ", so the question is left out"
    return ", so the run is left out" if row.verdict == "setup" else ""


def cell_said(cell: Cell | None) -> str:
    """One question under one setting: its lowest score, and how many of its runs have full marks."""
    if cell is None:
        return "not asked"
    unsettled = f"{cell.unsettled} unsettled" if cell.unsettled else ""
    if cell.lowest is None:
        return unsettled or "left out"
    full = sum(row.score == 1.0 for row in cell.runs)
    # 0.996 is not full marks and must not read so.
    lowest = f"{min(cell.lowest, 0.99):.2f}" if 0 < cell.lowest < 1 else f"{cell.lowest:.0f}"
    return " · ".join(part for part in (lowest, f"{full}/{len(cell.runs)}", unsettled) if part)
