#!/usr/bin/env python3
"""Does to `chitin serve` what machines, disks, models and people do to it, and checks that nothing that was promised is broken.

See docs/contributing/chaos.md.
"""
import argparse
import json
import os
import signal
import sys
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

from book import INVARIANTS, Violations  # noqa: E402
from scenarios import SCENARIOS  # noqa: E402
from world import Skipped, World  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog="Exit codes: 0 all holds; 1 something does not; 2 wrong arguments.")
    parser.add_argument("--seed", type=int, default=None, help="choices follow from it; by default the time")
    parser.add_argument("--seconds", type=float, default=75, help="how long all scenarios may take together, apart from checks (default: 75)")
    parser.add_argument("--only", action="append", metavar="SCENARIO", choices=sorted(SCENARIOS), help="run only this one; repeatable")
    parser.add_argument("--binary", default=None, help="the program; by default $CHITIN_BIN, or target/debug/chitin of this checkout")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--keep", action="store_true", help="keep homes and logs")
    parser.add_argument("--list", action="store_true", help="list the scenarios")
    parser.add_argument("--case", metavar="KIND:WAY", default=None, help="of the scenario `damage`, only this case")
    parser.add_argument("--strict", action="store_true", help="damage must be told of, also where that is not promised")
    parser.add_argument("--break", dest="broken", metavar="NAME", default=None, help=argparse.SUPPRESS)
    return parser.parse_args()


def program(named):
    built = os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(HERE, "..", "..", "target")), "debug", "chitin")
    path = os.path.abspath(named or os.environ.get("CHITIN_BIN") or built)
    if not os.access(path, os.X_OK):
        sys.exit(f"error: there is no program at {path}\n  hint: cargo build -p chitin, or name one with --binary")
    return path


def skipped(name, why):
    """Adds to the list with which `scripts/test` ends."""
    listed = os.environ.get("CHITIN_TEST_SKIPPED")
    if listed:
        with open(listed, "a", encoding="utf-8") as file:
            file.write(f"{' '.join(str(why).split())}\ttests/chaos: {name}\n")


def run(name, options, seed, seconds):
    """Runs a scenario, as often as its time allows, and returns its line of the report."""
    scenario = SCENARIOS[name]
    began = time.monotonic()
    deadline = began + seconds
    line = {"scenario": name, "rounds": 0, "accepted": 0, "refused": 0, "unknown": 0, "starts": 0, "violations": []}
    while line["rounds"] == 0 or time.monotonic() < deadline - scenario.round_seconds / 2:
        violations = Violations()
        try:
            share = min(deadline, time.monotonic() + scenario.round_seconds)
            with scenario.world(options, violations, f"{seed}:{name}:{line['rounds']}") as world:
                noted = scenario.run(world, max(share, time.monotonic() + 1))
                for what, count in world.book.lines().items():
                    line[what] += count
                line["starts"] += world.server.starts
                if noted:
                    line.setdefault("notes", {}).update(noted)
        except Skipped as error:
            line["skipped"] = str(error)
            skipped(name, error)
            break
        except Exception:  # pylint: disable=broad-except
            # A fault of the suite is no success of the product.
            violations.add("I7", f"the suite failed: {traceback.format_exc()}")
        line["violations"] += [{**violation, "round": line["rounds"]} for violation in violations.found]
        line["rounds"] += 1
        if line["violations"]:
            break
    line["seconds"] = round(time.monotonic() - began, 1)
    return line


def told(line):
    """One line for people."""
    if "skipped" in line:
        return f"{line['scenario']:<10} skipped: {line['skipped']}"
    state = "FAILED" if line["violations"] else "holds"
    notes = "".join(f", {what} {count}" for what, count in line.get("notes", {}).items())
    return (f"{line['scenario']:<10} {state}: rounds {line['rounds']}, starts {line['starts']}, accepted {line['accepted']}, "
            f"refused {line['refused']}, unknown {line['unknown']}{notes}, {line['seconds']} s")


def main():
    options = arguments()
    # Whoever is ended ends its servers and unmounts its disks.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if options.list:
        for name, scenario in SCENARIOS.items():
            print(f"{name:<10} {scenario.about}")
        return 0
    options.binary = program(options.binary)
    seed = options.seed if options.seed is not None else int(time.time())
    chosen = [name for name in SCENARIOS if (name in options.only if options.only else SCENARIOS[name].is_usual)]
    shares = sum(SCENARIOS[name].share for name in chosen)
    lines = []
    if not options.json:
        print(f"seed {seed}, {options.binary}", flush=True)
    for name in chosen:
        lines.append(run(name, options, seed, options.seconds * SCENARIOS[name].share / shares))
        if not options.json:
            print(told(lines[-1]), flush=True)
            for violation in lines[-1]["violations"][:12]:
                print(f"  {violation['invariant']} ({INVARIANTS[violation['invariant']]}), round {violation['round']}:\n    {violation['what']}")
            more = len(lines[-1]["violations"]) - 12
            if more > 0:
                print(f"  and {more} more")
    failed = any(line["violations"] for line in lines)
    if options.json:
        print(json.dumps({"seed": seed, "binary": options.binary, "holds": not failed, "scenarios": lines}, indent=2))
    elif failed:
        print(f"again: tests/chaos/run.py --seed {seed} --seconds {options.seconds:g} --keep"
              + "".join(f" --only {line['scenario']}" for line in lines if line["violations"]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
