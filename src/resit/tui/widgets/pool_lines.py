"""The quota pools on the Spend screen: a line each, below what was spent."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from textual.content import Content

from resit.core.errors import ResitError
from resit.core.printable import one_line

if TYPE_CHECKING:
    from resit.core.spend.ledger import LedgerEntry


def pool_lines(calls: Sequence[LedgerEntry], now: datetime | None = None) -> Content:
    """Each pool of `models.toml` on a line of its own, begun by a line end; empty where there is none."""
    from resit.core.config import load_models_file
    from resit.core.spend.pool_words import pool_said
    from resit.core.spend.pools import pool_uses

    try:
        uses = pool_uses(load_models_file(), calls, now or datetime.now(UTC))
    except ResitError as error:
        return Content.styled(f"\n {one_line(str(error), 300)}", "$warning")
    lines = [Content.styled(f"\n {one_line(pool_said(use), 300)}", "$warning" if use.used_up else "") for use in uses]
    return Content("").join(lines)
