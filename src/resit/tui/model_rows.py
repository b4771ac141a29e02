"""The models that can be asked, each with its price and whether it can start: rows for the set-up screen."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from resit.core.errors import ResitError
from resit.core.records import Setting
from resit.tui.widgets.model_grid import ModelRow

if TYPE_CHECKING:
    from resit.core.calling.models import ModelInfo
    from resit.core.config import ModelsFile
    from resit.core.spend.prices import Price


def known_rows(cwd: Path | None = None, now: datetime | None = None) -> tuple[ModelRow, ...]:
    """Every known model and those of the servers that run on this machine, those that can start first.

    Blocks while the usual ports are asked, so it is for a thread beside the screen.

    Raises:
        ConfigError: `models.toml` cannot be used.
    """
    from resit.core.agents.installed import agent_infos
    from resit.core.calling.local_servers import find_local_servers
    from resit.core.calling.models import known_models
    from resit.core.config import load_models_file

    with ThreadPoolExecutor(1) as beside:
        finding = beside.submit(find_local_servers)
        models_file = load_models_file()
        known = known_models(models_file) | {info.id: info for info in agent_infos(models_file)}
        place, time = cwd or Path.cwd(), now or datetime.now(UTC)
        rows = [_row(info, models_file, place, time) for info in known.values()]
        local = [info for server in finding.result() for info in server.infos if info.id not in known]
    rows += [replace(_row(info, models_file, place, time), note="✓ running") for info in local]
    return tuple(sorted(rows, key=lambda row: bool(row.problem)))


def recorded_rows() -> tuple[ModelRow, ...]:
    """The models of the demo's recording: they answer from a file, and cost nothing."""
    from resit.demo import demo_recording, demo_settings

    recording = demo_recording()
    when = recording.last_recorded_at
    date = f" {when:%-d %b %Y}" if when else ""
    models = dict.fromkeys(setting.model for setting in demo_settings(recording))
    return tuple(
        ModelRow(
            model=model,
            provider="recorded",
            efforts=tuple(s.effort for s in demo_settings(recording) if s.model == model),
            price="$0",
            note="recorded",
            detail=f"{model}: real replies recorded{date}, played back from a file; no call is made, nothing is spent.",
        )
        for model in models
    )


def _row(info: ModelInfo, models_file: ModelsFile, cwd: Path, now: datetime) -> ModelRow:
    from resit.core.spend.prices import price_for

    setting = Setting(model=info.id, provider=info.provider)
    price = price_for(setting, models_file, now)
    note, problem, where = _start(setting, models_file, cwd)
    efforts = f"efforts from {info.source}" if info.efforts else ""
    facts = [info.id, _price_said(info.id, price, now), where, efforts]
    if info.retires_on:
        facts.append(f"retires {info.retires_on:%-d %b %Y}")
    return ModelRow(
        model=info.id,
        provider=info.provider,
        efforts=(None, *(info.efforts or ())),
        price=f"${price.input:.2f}/${price.output:.2f}" if price else "unknown",
        note=note,
        problem=problem,
        detail=" · ".join(fact for fact in facts if fact),
        thinking_off=info.thinking_off not in (None, "impossible"),
    )


def _start(setting: Setting, models_file: ModelsFile, cwd: Path) -> tuple[str, str, str]:
    """A word, why it cannot start, and where it is asked."""
    from resit.core.agents.presets import cannot_run
    from resit.core.calling.providers import key_for
    from resit.core.endpoints import endpoint_for

    try:
        endpoint = endpoint_for(setting, models_file)
        if setting.provider == "command":
            return _start_agent(cannot_run(setting, models_file), endpoint.said)
        key = key_for(endpoint, cwd)
    except ResitError as error:
        return "✗ no key", f"{error.message}: {error.hint}" if error.hint else error.message, ""
    if key is None:
        return "none needed", "", f"asked at {endpoint.said}"
    return "✓ key", "", f"asked at {endpoint.said}, key from {key.source}"


def _start_agent(error: ResitError | None, endpoint: str) -> tuple[str, str, str]:
    """The same of a command-line agent, which signs in by itself."""
    if error is None:
        return "✓ found", "", f"asked at {endpoint}, signed in as you are"
    # An agent that takes no run without an effort is no less there.
    if "needs an effort" in error.message:
        return "✓ found", "", f"asked at {endpoint}, with an effort"
    return "✗ missing", str(error), ""


def _price_said(model: str, price: Price | None, now: datetime) -> str:
    from resit.core.spend.prices import how_to_price

    if price is None:
        return f"price unknown: under a cap it does not start; {how_to_price(model)}"
    stale = ", old" if price.stale(now.date()) else ""
    return f"${price.input:.2f} in, ${price.output:.2f} out per Mtok ({price.label}{stale})"
