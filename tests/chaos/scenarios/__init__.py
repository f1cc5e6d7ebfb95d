"""What is done to a server, by name."""
import dataclasses
import typing

from disks import Image, Memory, with_disk
from scenarios import crashes, damage, resources, soak, surroundings
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
    "power": Scenario("the power is cut on an ext4 image", resources.power, world=with_disk(lambda: Image(96))),
    "full": Scenario("a tmpfs fills and is freed", resources.full, world=with_disk(lambda: Memory(24))),
    "limits": Scenario("few descriptors and short writes, for a while", resources.limits),
    "inject": Scenario("strace lets system calls fail, for a while", resources.inject),
    "damage": Scenario("files of every kind are damaged in every way", damage.run, round_seconds=1e9),
    "deleted": Scenario("directories are deleted or moved away under a running server", surroundings.deleted),
    "models": Scenario("models hang, fail, break off, are slow, talk garbage", surroundings.models, share=1.5),
    "soak": Scenario("long work, with memory, descriptors, threads and disk sampled", soak.run, share=1.5, round_seconds=1e9),
}
