"""An agent's run in words: what kept it in, what it did step by step, and what it changed."""

from __future__ import annotations

from collections.abc import Iterator

from resit.core.agents.diffs import count_changes
from resit.core.judging.wording import counted, dollars
from resit.core.records import AgentRun, QuotaReading, Reply, Step

_LEAD = {"text": "says", "thinking": "thinks", "tool": "calls", "result": "gets", "note": "note"}


def agent_facts(reply: Reply) -> list[tuple[str, str]]:
    """Labelled lines on how an agent came to its answer; none for a model that was asked directly."""
    agent = reply.agent
    if agent is None:
        return []
    facts = [("agent", " · ".join(_how(reply, agent)))]
    if agent.denied:
        facts.append(("refused", ", ".join(dict.fromkeys(agent.denied))))
    if agent.verified is not None and agent.verified.changed:
        facts.append(("touched", ", ".join(agent.verified.changed)))
    if agent.verified is not None and agent.verified.diff:
        files = (f"{name} +{added} −{removed}" for name, added, removed in count_changes(agent.verified.diff))
        facts.append(("changed", ", ".join(files)))
    if agent.quota:
        facts.append(("quota", ", ".join(map(_quota, agent.quota))))
    return facts


def steps_said(agent: AgentRun) -> str:
    """The transcript: every step with who speaks, what comes back indented."""
    return "\n\n".join(_step(step) for step in agent.steps)


def tools_said(agent: AgentRun) -> str:
    """Which tools it called, in order, on one line: `Read a.txt, Bash ls`."""
    return ", ".join(f"{step.tool} {step.text}".strip() for step in agent.steps if step.kind == "tool")


def agent_texts(agent: AgentRun) -> Iterator[tuple[str, str]]:
    """The long texts of a run under their headings, to be read whole."""
    if agent.steps:
        yield f"Steps ({len(agent.steps):,})", steps_said(agent)
    if agent.verified is not None:
        if agent.verified.diff:
            yield "What it changed", agent.verified.diff
        if agent.verified.output:
            yield "What verify printed", agent.verified.output


def _how(reply: Reply, agent: AgentRun) -> Iterator[str]:
    yield "not isolated" if agent.isolation == "none" else f"isolated by {agent.isolation}"
    if reply.turns is not None:
        yield counted(reply.turns, "turn")
    if agent.retries:
        yield counted(agent.retries, "retry", "retries")
    if agent.api_seconds is not None:
        yield f"its model took {agent.api_seconds:.1f} s"
    if reply.cost_reported_usd is not None:
        yield f"{dollars(reply.cost_reported_usd)} by its own count"
    if agent.exit_code:
        yield f"exit code {agent.exit_code}"


def _step(step: Step) -> str:
    lead = f"{_LEAD[step.kind]} {step.tool}".strip()
    text = step.text.strip()
    if step.kind == "result":
        return "\n".join(["  " + line for line in (text or "(nothing)").splitlines()])
    return f"{lead}: {text}"


def _quota(reading: QuotaReading) -> str:
    hours = reading.window_minutes / 60
    window = f"{hours:g} h" if hours < 48 else f"{hours / 24:g} days"
    return f"{reading.used_percent:g} % of {window} used"
