"""A server works for long, and what it takes is sampled: memory, descriptors, threads, disk."""
import os
import time

from load import Load

# What may be added over the whole measured time. Senders and models open connections at any instant.
MEMORY_SHARE, MEMORY_BYTES = 0.10, 6 << 20
DESCRIPTORS, THREADS = 16, 8
# A server fills its caches first, and transcripts grow until they are compacted: memory is judged after so many seconds.
LEAST_SECONDS = 240
# The disk is compared once transcripts have grown by so much: before that, what is there once per session weighs most.
LEAST_GROWTH = 4 << 20
DISK_TIMES = 3


def sample(pid, home):
    """Returns what a server takes now."""
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        resident = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    transcripts = disk = 0
    for directory, _, names in os.walk(home):
        for name in names:
            try:
                taken = os.stat(os.path.join(directory, name), follow_symlinks=False)
            except OSError:
                continue
            disk += taken.st_blocks * 512
            if os.path.basename(directory) == "sessions" and ".jsonl" in name:
                transcripts += taken.st_size
    return {"at": time.monotonic(), "memory": resident, "descriptors": len(os.listdir(f"/proc/{pid}/fd")), "threads": len(os.listdir(f"/proc/{pid}/task")),
            "disk": disk, "transcripts": transcripts}


def slope(samples, what):
    """Returns by how much something grows a second: the least squares' line."""
    mean_at = sum(one["at"] for one in samples) / len(samples)
    mean = sum(one[what] for one in samples) / len(samples)
    below = sum((one["at"] - mean_at) ** 2 for one in samples)
    return sum((one["at"] - mean_at) * (one[what] - mean) for one in samples) / below if below else 0.0


def judge(samples, violations):
    """Checks I8. The first third is warming up."""
    steady = samples[len(samples) // 3:]
    seconds = steady[-1]["at"] - steady[0]["at"]
    first = {what: sum(one[what] for one in steady[:3]) / 3 for what in ("memory", "disk", "transcripts")}
    for what, allowed in (("memory", MEMORY_SHARE * first["memory"] + MEMORY_BYTES), ("descriptors", DESCRIPTORS), ("threads", THREADS)):
        if what == "memory" and seconds < LEAST_SECONDS:
            continue
        grown = slope(steady, what) * seconds
        if grown > allowed:
            violations.add("I8", f"{what} grew by {grown:,.0f} in {seconds:.0f} s, from {steady[0][what]:,} to {steady[-1][what]:,}; {allowed:,.0f} are allowed")
    transcripts = steady[-1]["transcripts"] - samples[0]["transcripts"]
    disk = steady[-1]["disk"] - samples[0]["disk"]
    if transcripts >= LEAST_GROWTH and disk > DISK_TIMES * transcripts:
        violations.add("I8", f"the disk grew by {disk:,} bytes while transcripts grew by {transcripts:,}: {disk / transcripts:.1f} times, {DISK_TIMES} are allowed")
    return {"memory MB": round(steady[-1]["memory"] / 1e6, 1), "descriptors": steady[-1]["descriptors"], "threads": steady[-1]["threads"],
            "transcripts KB": round(transcripts / 1e3), "disk KB": round(disk / 1e3)}


def run(world, deadline):
    """An even load on a fixed number of sessions. Messages are long and windows small, so that sessions are soon compacted: before that, each
    turn takes more than the one before."""
    world.configure(models={"yard/test-model": {"contextWindow": 100000, "maxOutput": 4000}})
    if not world.start():
        return None
    samples = []
    # Everything is there once before anything is measured.
    every = max(0.25, (deadline - time.monotonic()) / 400)
    with Load(world, sessions=6, pace=(0.1, 0.3), name="soak", padding=120):
        while time.monotonic() < deadline:
            pid = world.server.pid()
            if pid is None:
                world.violations.add("I7", f"the server is gone: {world.server.said()[-1500:]}")
                return None
            samples.append(sample(pid, world.home))
            time.sleep(every)
    notes = judge(samples, world.violations) if len(samples) >= 9 else None
    world.conclude()
    return notes
