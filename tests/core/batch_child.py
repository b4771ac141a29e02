"""A process that asks one round in batches of a server, for the tests that kill it.

python batch_child.py FOLDER URL
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from batch_kit import Desk


def main() -> None:
    folder, url = sys.argv[1:]
    ended = asyncio.run(Desk(Path(folder), url).run())
    sys.stdout.write(f"{ended.reason} {ended.owed}\n")


if __name__ == "__main__":
    main()
