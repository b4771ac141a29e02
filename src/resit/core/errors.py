"""Every error resit raises on purpose, as one tree.

    ResitError                 one line, and the mend
    ├── UsageError             a command line that asks for something that is not there
    │   └── Exposed            agents that could read the answers
    ├── ConfigError            models.toml, .env or a setting of the person's that cannot be used
    │   └── KeyMissing         no key where one is needed
    ├── SuiteError             a suite file that cannot be read at all
    │   └── SuiteRefused       a suite that was read and has faults; carries all of them
    ├── EditError              an edit that cannot be kept (unknown question, file changed underneath)
    ├── RoundError             a round that cannot be found, opened or written
    │   ├── RoundBusy          another process runs this round
    │   └── StoreFull          the disk has no room
    └── SpendError
        ├── OverCap            the next call could pass the cap
        └── Unpriced           a model without a price under a cap

The front ends turn these into one line and an exit code; core never prints.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from resit.core.suite import SuiteFault


class ResitError(Exception):
    """Something the person can mend, said in one line."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        """Keep the sentence and its mend apart, so that a screen can set them apart.

        Args:
            message: What is wrong and where.
            hint: What to do about it; may be empty.
        """
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        """The one line: the sentence, then the mend."""
        return f"{self.message}: {self.hint}" if self.hint else self.message


class UsageError(ResitError):
    """The command asks for something that is not there."""


class Exposed(UsageError):
    """Agents could read the answers here, and nobody has agreed to that."""


class ConfigError(ResitError):
    """A setting of the person's cannot be used."""


class KeyMissing(ConfigError):
    """No key where one is needed."""


class SuiteError(ResitError):
    """A suite file cannot be read at all."""


class SuiteRefused(SuiteError):
    """A suite was read and has faults."""

    def __init__(self, path: str, faults: Sequence[SuiteFault]) -> None:
        """Refuse the suite at `path`, for all of `faults` at once."""
        count = f"{len(faults)} fault" + ("" if len(faults) == 1 else "s")
        super().__init__(f"{path}: {count}", hint=f"resit check {path} lists them")
        self.path = path
        self.faults = tuple(faults)


class EditError(ResitError):
    """An edit cannot be kept."""


class RoundError(ResitError):
    """A round cannot be found, opened or written."""


class RoundBusy(RoundError):
    """Another process runs this round."""


class StoreFull(RoundError):
    """The disk has no room for another result; what is kept is whole."""


class SpendError(ResitError):
    """Something about money that must not be guessed."""


class OverCap(SpendError):
    """The next call could pass the cap."""


class Unpriced(SpendError):
    """A model without a price was asked to run under a cap."""
