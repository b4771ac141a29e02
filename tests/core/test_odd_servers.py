"""A table of chat-completions servers as they are: what each sends, and what is made of it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mock_openai import EVENTS, ChatServer, Raw
from resit.core.calling.openai_client import OpenAIClient
from resit.core.config import Secret
from resit.core.endpoints import Endpoint
from resit.core.records import Fault, Reply, Request

KEY = "sk-proj-planted-0123456789abcdef"
ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in (Path(__file__).parents[1] / "data" / "odd_servers.jsonl").read_text().splitlines()
]


async def _ask(row: dict[str, Any]) -> Reply | Fault:
    body = row["body"].encode(errors="surrogatepass") + b"[" * row.get("then_brackets", 0)
    plan = Raw(body, row.get("status", 200), row.get("kind", EVENTS), row.get("headers", {}), row.get("ends", "whole"))
    async with ChatServer() as server:
        server.next(plan, plan)
        # Not as a local server: that one would be warmed up first.
        endpoint = Endpoint(server.url, "--base-url", "SOME_KEY")
        client = OpenAIClient(endpoint, Secret(KEY, "environment"), warm=False, clock=lambda: datetime.now(UTC))
        try:
            answer = await client.ask(Request("openai", "m", "1+1?", None, 200, None, "default", ""))
        finally:
            await client.close()
        assert len(server.calls) == 1
        return answer


@pytest.mark.parametrize("row", [row for row in ROWS if "reply" in row], ids=lambda row: row["server"])
async def test_a_reply_is_read_from_any_server_that_gives_one(row: dict[str, Any]) -> None:
    reply = await _ask(row)
    assert isinstance(reply, Reply), reply
    found = json.loads(reply.model_dump_json())
    found["usage"] = reply.usage.model_dump(exclude_none=True)
    assert {name: found[name] for name in row["reply"]} == row["reply"]


@pytest.mark.parametrize("row", [row for row in ROWS if "fault" in row], ids=lambda row: row["server"])
async def test_what_is_no_reply_is_told_in_one_line_and_never_raises(row: dict[str, Any]) -> None:
    fault = await _ask(row)
    assert isinstance(fault, Fault), fault
    expected = dict(row["fault"])
    assert expected.pop("said") in fault.said
    assert {name: getattr(fault, name) for name in expected} == expected
    assert "\n" not in fault.said
    assert "<" not in fault.said
    assert "planted" not in fault.said
    assert fault.seconds is not None
