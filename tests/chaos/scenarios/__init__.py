"""What is done to a server, by name."""
import dataclasses
import typing

from scenarios import crashes
from world import World


@dataclasses.dataclass(frozen=True)
class Scenario:
    """A way to harm a server: `run` takes a world and the instant at which it stops harming."""

    about: str
    run: typing.Callable
    share: float = 1.0
    round_seconds: float = 20.0
    is_usual: bool = True
    world: typing.Callable = World


SCENARIOS = {
    "kill": Scenario("kill -9 at random instants", crashes.kill),
    "term": Scenario("SIGTERM at random instants", crashes.term),
    "hangup": Scenario("SIGHUP under load, also with configurations that cannot serve", crashes.hangup),
}
