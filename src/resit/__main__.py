"""`python -m resit`."""

from __future__ import annotations

import sys

from resit.cli import main

sys.exit(main())
