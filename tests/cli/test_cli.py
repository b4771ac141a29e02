"""The command line itself: what is imported, what is refused, and how errors are said."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import resit
from resit.cli import COMMANDS, main
from resit.core.paths import config_dir


def fresh(code: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.strip()


LOADED = """
import sys
from resit.cli import main
code = main({argv!r})
heavy = [n for n in ("textual", "rich", "anthropic", "genai_prices", "pydantic") if n in sys.modules]
print(code, heavy)
"""


@pytest.mark.parametrize("argv", [["--version"], ["--help"], ["run", "--help"]])
def test_version_and_help_import_nothing_heavy(argv: list[str]) -> None:
    assert fresh(LOADED.format(argv=argv)).splitlines()[-1] == "0 []"


@pytest.mark.parametrize("argv", [["check", "sample:short-answers"], ["spend"], ["models"]])
def test_text_commands_import_neither_textual_nor_the_sdk(argv: list[str]) -> None:
    heavy = fresh(LOADED.format(argv=argv)).splitlines()[-1]
    assert heavy.startswith("0 ")
    assert not {"textual", "rich", "anthropic"} & set(heavy.replace("'", " ").replace(",", " ").split())


def test_the_version_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"resit {resit.__version__}\n"


def test_help_names_every_command_and_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert re.findall(r"^    (\S+)", shown, re.MULTILINE) == list(COMMANDS)


@pytest.mark.parametrize("argv", [[], ["--"], ["."]])
def test_off_a_terminal_the_app_says_so_in_one_line(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "needs a terminal" in err


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["rnu", "x.toml"], "did you mean `resit run`?"),
        (["nosuch.toml"], "no command or file 'nosuch.toml'"),
        (["--nosuch"], "resit --help"),
        (["run"], "SUITE"),
        (["run", "x.toml", "-n", "0"], "'0' is not a whole number"),
        (["run", "x.toml", "--cap", "lots"], "'lots' is not an amount"),
        (["run", "x.toml", "--cap", "nan"], "is not an amount"),
        (["run", "x.toml", "--fail-under", "101"], "neither a share"),
        (["run", "x.toml", "--serial", "--concurrency", "2"], "not allowed with"),
        (["run", "nosuch.toml", "-m", "haiku"], "'nosuch.toml' is not there"),
        (["run", "sample:nosuch", "-m", "haiku"], "no sample suite"),
        (["run", "sample:short-answers", "-m", "haiku@huge"], "no effort 'huge'"),
        (["run", "sample:short-answers", "-m", "@low"], "names no model"),
        (["run", "sample:short-answers", "--variant", "x"], "--variant needs a model"),
        (["run", "sample:short-answers", "-m", "haiku", "--variant", "x"], "no variant 'x'"),
        (["run", "sample:short-answers", "-m", "haiku", "--only", "x"], "no question or kind 'x'"),
        (["run", "sample:short-answers"], "no model is named"),
        (["run", "sample:short-answers", "-m", "haiku"], "ANTHROPIC_API_KEY"),
        (["show", "last"], "no round yet"),
        (["grade", "nosuch"], "no round 'nosuch'"),
        (["watch", "last"], "no round yet"),
        (["score", "nosuch.json", "sample:short-answers"], "nosuch.json cannot be read"),
    ],
)
def test_what_cannot_be_done_is_one_line_with_its_mend_and_exit_2(
    argv: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.startswith("resit: ")
    assert err.count("\n") == 1


def test_a_hostile_argument_cannot_move_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "\x1b[2J[red]"]) == 2
    err = capsys.readouterr().err
    assert "\x1b" not in err
    assert "[2J[red]" in err


@pytest.mark.parametrize("name", ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "MY_OWN_KEY"])
def test_a_defect_is_two_lines_and_a_log_without_the_key(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    key = "planted-0123456789"
    monkeypatch.setenv(name, key)
    config_dir().mkdir(parents=True, exist_ok=True)
    (config_dir() / "models.toml").write_text('[models."m"]\nprovider = "openai"\nkey = "MY_OWN_KEY"\n')

    def fail(args: object) -> int:
        held = key
        raise RuntimeError(f"boom {held}")

    monkeypatch.setattr("resit.plain.spend.main", fail)
    assert main(["spend"]) == 70
    err = capsys.readouterr().err
    assert err.count("\n") == 2
    assert "RuntimeError" in err
    log = Path(err.split("is in ")[1].split(";")[0]).read_text()
    assert "boom" in log
    assert key not in log + err


def test_an_interrupt_is_exit_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(args: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("resit.plain.spend.main", interrupt)
    assert main(["spend"]) == 130
    assert capsys.readouterr().err == "resit: interrupted\n"


@pytest.mark.parametrize(("argv", "code"), [(["check", "sample:ledger"], 0), (["show", "zz"], 2), ([], 2)])
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_stream_that_is_closed_from_the_start_is_no_defect(argv: list[str], code: int, closed: str) -> None:
    command = shlex.join([sys.executable, "-m", "resit", *argv])
    done = subprocess.run(f"{command} {closed}", shell=True, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code
    assert "defect" not in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_leaves_is_no_error() -> None:
    command = f"{sys.executable} -m resit models --json | head -c 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    assert done.returncode == 0
