"""A process that runs one round against a server, for the tests that kill it.

python crash_child.py FOLDER URL QUESTIONS REPEATS CONCURRENCY [CAP]
"""

from __future__ import annotations

import asyncio
import sys
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from round_kit import PRICES, A, B, make_suite

from resit.core.rounds.session import prepare_round
from resit.core.spend.ledger import Ledger


def main() -> None:
    folder, url, questions, repeats, concurrency, *cap = sys.argv[1:]
    prepared = prepare_round(
        make_suite(int(questions)),
        (A, B),
        int(repeats),
        concurrency=int(concurrency),
        cap_usd=Decimal(cap[0]) if cap else None,
        base_url=url,
        models_file=PRICES,
        rounds_dir=Path(folder) / "rounds",
        ledger=Ledger(Path(folder) / "ledger.jsonl"),
        environ={"ANTHROPIC_API_KEY": "key"},
    )
    ended = asyncio.run(prepared.start(lambda event: None).run())
    sys.stdout.write(f"{ended.reason} {ended.owed}\n")


if __name__ == "__main__":
    main()
