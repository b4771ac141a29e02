from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from mock_openai import ChatServer, Raw
from mock_server import serve_in_thread
from resit.core.calling.local_servers import LocalServer, find_local_servers


@contextmanager
def _nobody() -> Iterator[str]:
    """The address of a port on which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


def _found(listing: Raw, timeout_s: float = 20.0) -> tuple[LocalServer, ...]:
    server = ChatServer()
    server.listing = listing
    with serve_in_thread(server):
        return find_local_servers(timeout_s, {"ollama": server.url})


def _json(data: object) -> Raw:
    return Raw(json.dumps(data).encode(), kind="application/json")


def test_servers_that_run_are_found_with_their_models_under_the_names_they_are_asked_by() -> None:
    one, two = ChatServer(models=("llama3.2:latest", "qwen3:4b")), ChatServer(models=("org/model",))
    with serve_in_thread(one), serve_in_thread(two), _nobody() as nobody:
        urls = {"ollama": one.url, "llama.cpp": nobody, "vllm": two.url}
        ollama, vllm = find_local_servers(20.0, urls)
    assert ollama == LocalServer("ollama", one.url, ("llama3.2:latest", "qwen3:4b"))
    assert [info.id for info in (*ollama.infos, *vllm.infos)] == [
        "ollama/llama3.2:latest", "ollama/qwen3:4b", "vllm/org/model",
    ]  # fmt: skip
    assert {info.provider for info in ollama.infos} == {"openai"}
    assert not one.calls  # listing asks no model anything


def test_where_nobody_listens_there_is_no_server() -> None:
    with _nobody() as nobody:
        assert find_local_servers(20.0, {"ollama": nobody}) == ()


@pytest.mark.parametrize(
    "listing",
    [
        _json({"data": []}),
        _json({"data": None}),
        _json({"data": {"id": "m"}}),
        _json({"models": [{"name": "m"}]}),
        _json(["m"]),
        _json("m"),
        _json({"data": [1, None, {"name": "m"}, {"id": 7}, {"id": ""}, {"id": "a\nb"}, {"id": "\x1b[2J"}]}),
        _json({"data": [{"id": " m"}]}),
        _json({"data": [{"id": "m" * 201}]}),
        _json({"data": [{"id": "nomic-embed-text"}, {"id": "Text-Embedding-3"}]}),
        Raw(b"<html>Jenkins</html>", kind="text/html"),
        Raw(b"[" * 100_000, kind="application/json"),
        Raw(b"\xff\xfe\x00", kind="application/json"),
        Raw(b'{"data": [{"id": "m"}]}', 401, "application/json"),
        Raw(b'{"data": [{"id": "m"}]}', 302, "application/json", {"location": "/v1/models"}),
        Raw(b'{"data": [', kind="application/json", ends="cut"),
        Raw(b" " * 100_000, kind="application/json", ends="endless"),
    ],
    ids=range(17),
)  # fmt: skip
def test_who_lists_no_models_or_speaks_something_else_is_not_one(listing: Raw) -> None:
    assert _found(listing) == ()


def test_a_server_that_never_answers_is_not_waited_for() -> None:
    assert _found(Raw(kind="application/json", ends="hang"), timeout_s=0.5) == ()


def test_one_that_speaks_no_http_is_not_one() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        assert find_local_servers(0.5, {"ollama": url}) == ()


def test_a_name_that_is_listed_twice_is_one_and_no_list_is_endless() -> None:
    (server,) = _found(_json({"data": [{"id": "m"}, {"id": "m"}, *({"id": f"m{n}"} for n in range(1000))]}))
    assert (server.models[:2], len(server.models)) == (("m", "m0"), 200)
