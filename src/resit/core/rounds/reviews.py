"""A person's words on runs: `reviews.toml`, which survives every regrade."""

from __future__ import annotations

import tomllib
from datetime import datetime

from pydantic import Field, ValidationError

from resit.core.errors import RoundError
from resit.core.records import Frozen, VerdictWord
from resit.core.rounds.store import RoundStore
from resit.core.rounds.written import to_toml

REVIEWS = "reviews.toml"


class Review(Frozen):
    """What a person said of one run."""

    verdict: VerdictWord | None = None
    note: str = ""
    at: datetime


class ReviewFile(Frozen):
    """All of a round's reviews, by run key."""

    reviews: dict[str, Review] = Field(default_factory=dict)


def read_reviews(store: RoundStore) -> dict[str, Review]:
    """The reviews of a round, by run key.

    Raises:
        RoundError: The file is there and cannot be read; a person's words are never thrown away.
    """
    path = store.path / REVIEWS
    try:
        return dict(ReviewFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))).reviews)
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, ValidationError) as error:
        raise RoundError(f"{path} cannot be read", hint="mend it by hand, or move it away") from error


def set_review(
    store: RoundStore, key: str, at: datetime, verdict: VerdictWord | None = None, note: str = ""
) -> dict[str, Review]:
    """Write down a verdict and a note, in place of what was said of this run before; nothing at all takes it back.

    The file is written before this returns.

    Raises:
        RoundError: It could not be written; what was said before is unchanged.
    """
    reviews = read_reviews(store)
    reviews.pop(key, None)
    if verdict is not None or note:
        reviews[key] = Review(verdict=verdict, note=note, at=at)
    store.write_file(REVIEWS, to_toml(ReviewFile(reviews=reviews).model_dump(exclude_none=True)))
    return reviews


def standing(review: Review | None, sent_at: datetime | None) -> VerdictWord | None:
    """The verdict that stands: what was said of a reply says nothing of one that was asked for later.

    Args:
        review: What a person said of the run.
        sent_at: When the attempt that counts was sent.
    """
    if review is None or (sent_at is not None and sent_at > review.at):
        return None
    return review.verdict


def settled_keys(reviews: dict[str, Review]) -> frozenset[str]:
    """Runs that a verdict has settled: they are not asked again. `setup` says that the run has to be repeated."""
    return frozenset(key for key, review in reviews.items() if review.verdict not in (None, "setup"))
