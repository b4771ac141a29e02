"""`resit logs ask`: let a model propose wording, rule and trap for drafts; shows what is sent and its cost first."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from resit.core.calling.client import Client
from resit.core.calling.models import known_models
from resit.core.calling.providers import make_client
from resit.core.config import ModelsFile, load_models_file
from resit.core.errors import UsageError
from resit.core.judging.wording import dollars
from resit.core.logs.draft_files import DraftBook, book_names, load_book, save_book
from resit.core.logs.drafts import make_drafts
from resit.core.logs.propose import Answered, Ask, ask_each, prepare_ask
from resit.core.logs.scan import scan
from resit.core.printable import one_line, printable
from resit.plain.run import parse_settings
from resit.plain.text import note, plural, say

UNANSWERED = 4


def main(argv: Sequence[str]) -> int:
    """Show what would be sent, ask for consent, call, keep what is proposed; 4 when a draft got nothing."""
    args = _parser().parse_args(argv)
    models_file = load_models_file()
    settings = parse_settings([args.model], [], models_file)
    if len(settings) != 1 or settings[0].provider == "command":
        raise UsageError(f"-m {args.model} is not one model that can be asked", hint="name one, as in -m haiku@low")
    book = _book(args.drafts)
    wanted = [number for number, draft in enumerate(book.drafts) if draft.proposed is None and draft.problems]
    if not wanted:
        note("nothing to ask: every draft is ready, or has proposals that wait for your word")
        return 0
    drafts = [book.drafts[number] for number in wanted]
    prepared = prepare_ask(drafts, settings[0], models_file, now=datetime.now(UTC), base_url=args.base_url)
    _show(prepared)
    if not (args.yes or _agrees(len(drafts))):
        note("nothing was sent: --yes sends it")
        return 0
    got, path = asyncio.run(_ask(prepared, book, wanted, models_file))
    note(f"{plural(got, 'proposal')} kept; the drafting screen shows each part for your word: resit, then Logs, then o")
    if path is not None:
        say(one_line(str(path), 1000))
    return 0 if got == len(wanted) else UNANSWERED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="resit logs ask",
        description="Let a model propose wording, rule and trap for drafts. What is sent is shown first with its cost, "
        "and needs your yes. No proposal counts before you accept it.",
    )
    add = parser.add_argument
    add("drafts", metavar="DRAFTS|KEY", nargs="+", help="drafts by their suite's name, or requests by their keys")
    add("-m", "--model", metavar="MODEL[@EFFORT]", required=True, help="who is asked")
    add("--base-url", metavar="URL", help="a compatible server; shown")
    add("--yes", action="store_true", help="send without asking")
    return parser


def _book(names: Sequence[str]) -> DraftBook:
    """The drafts of that name, or new ones out of the requests with these keys."""
    if len(names) == 1 and (Path(names[0]).stem in book_names() or not _is_key(names[0])):
        return load_book(Path(names[0]).stem)
    found = {request.key: request for request in scan().requests}
    absent = [name for name in names if name not in found]
    if absent:
        raise UsageError(f"there is no request {absent[0]!r}", hint="resit logs --json names some under `examples`")
    made, refused = make_drafts([found[name] for name in names])
    for each in refused:
        note(each.why)
    if not made:
        raise UsageError("no draft could be made of these requests", hint="choose others")
    return DraftBook(title="From my logs", drafts=tuple(each.draft for each in made))


def _is_key(name: str) -> bool:
    return len(name) == 16 and all(c in "0123456789abcdef" for c in name)


def _show(prepared: Ask) -> None:
    """All that would leave this machine."""
    say("To be sent, with each:")
    say(_indented(prepared.calls[0].system or ""))
    for number, call in enumerate(prepared.calls, 1):
        say()
        say(f"{number} of {len(prepared.calls)}")
        say(_indented(call.prompt))
    say()
    calls = plural(len(prepared.calls), "call")
    say(one_line(f"to       {prepared.setting.label} at {prepared.endpoint.said}, {calls}", 300))
    if prepared.price is None:
        say(one_line(f"cost     unknown: there is no price for {prepared.setting.model}", 300))
    else:
        say(one_line(f"cost     at most {dollars(prepared.worst_usd)}, by {prepared.price.label}", 300))


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in printable(text, invisible=True).split("\n"))


def _agrees(number: int) -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    sys.stderr.write(f"resit: send {plural(number, 'draft')}? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().casefold() in ("y", "yes")


async def _ask(
    prepared: Ask, book: DraftBook, wanted: Sequence[int], models_file: ModelsFile
) -> tuple[int, Path | None]:
    """Make the calls, keeping each proposal as it comes; how many came, and where the suite is."""
    client: Client = make_client(
        prepared.setting.provider, prepared.endpoint, cwd=Path.cwd(), models=known_models(models_file)
    )
    got, path = 0, None
    places = iter(wanted)
    try:
        drafts = [book.drafts[number] for number in wanted]
        async for answer in ask_each(prepared, drafts, client, now=lambda: datetime.now(UTC)):
            number = next(places)
            _tell(answer)
            if not answer.problem:
                got += 1
                saved = save_book(book.with_draft(number, answer.draft))
                book, path = saved.book, saved.suite_path
    finally:
        await client.close()
    return got, path


def _tell(answer: Answered) -> None:
    parts = answer.draft.proposed.parts if answer.draft.proposed else ()
    cost = f" ({dollars(answer.cost_usd)})"
    note(f"{answer.draft.id}: {answer.problem or 'proposed ' + ', '.join(parts)}{cost}")
