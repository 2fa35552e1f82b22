"""Events in words, for people."""

from __future__ import annotations

from spinney.fitting.progress.event import FitEvent


def line_of(event: FitEvent, validation: str = "error") -> str:
    """One line that says all that is known of an event."""
    words = [] if event.forest is None else [f"forest {event.forest:3d} of {event.n_forests}"]
    words.append(_counted(event))
    if event.n_sweeps is not None:
        words.append(f"sweeps {event.n_sweeps}")
    words += measures(event, validation)
    if event.objective is not None and event.n_active is not None:
        words.append(f"active {event.n_active}")
    elif event.n_nodes is not None:
        words.append(f"nodes {event.n_nodes}  depth {event.depth}")
    words.append(f"{event.seconds:.3f} s")
    return "  ".join(words)


def measures(event: FitEvent, validation: str = "error") -> list[str]:
    """What the work is judged by: objective, loss, validation."""
    known = (
        ("objective", event.objective, ".6g"),
        ("loss", event.loss, ".6g"),
        (f"validation {validation}", event.validation, ".4f"),
    )
    return [f"{name} {value:{form}}" for name, value, form in known if value is not None]


def clock(seconds: float) -> str:
    """Minutes and seconds, with hours if there are any: 0:07, 12:30, 3:05:09."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _counted(event: FitEvent) -> str:
    of = "" if event.total is None else f" of {event.total}"
    phase = "" if event.phase is None else f" ({event.phase})"
    return f"{event.part} {event.number:4d}{of}{phase}"
