"""What the shell calls the service's operations and parameters: known here, once."""

from __future__ import annotations

FLAGS = {"estimator.kind": "--estimator", "metric.preset": "--metric", "members": "--member-count"}
"""Options of the shell that are not named like the last part of the service's."""

COMMANDS = {"advantage": "estimate", "individual-risk": "risk"}
"""Operations that the shell has another name for."""


def flag(name: str) -> str:
    """The option of the shell for a parameter of the service."""
    return FLAGS.get(name) or "--" + name.rsplit(".", 1)[-1].replace("_", "-")


def command(operation: str) -> str:
    """The command of the shell for an operation of the service."""
    return f"mace {COMMANDS.get(operation, operation.replace('/', ' '))}"
