"""From the counterexamples of mutants to their causes, smallest cases, and programs that show them by themselves.

    python3 tests/gpu/counterexamples.py BITPROOF-CONFORMANCE RESULTS [--device cpu]

runs every mutant over domains that show most of them, and of each mutant and dtype takes the first counterexample. Its
one-line command must fail with the same bits; its reproducer, a single file, must compile (with nvcc for a GPU, g++ for
the CPU) and print the same bits. The exit status is 0 only if all of that holds, and at least ten diagnoses name the
mutant. RESULTS gets counterexamples.txt, counterexamples.json and one reproducer.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DOMAINS = "boundary", "values", "layout"
COMPILE = {
    "cpu": "g++ -std=c++20 -O1 -ffp-contract=off",
    "cuda": "nvcc -std=c++20 -O3 --expt-relaxed-constexpr -arch=native",
}
KEPT = "bias_gelu_tanh-bf16-mutant.sum_not_rounded-boundary"

parser = argparse.ArgumentParser()
parser.add_argument("executable", type=Path)
parser.add_argument("results", type=Path)
parser.add_argument("--device", default="cuda", choices=COMPILE)
options = parser.parse_args()
executable, scratch = options.executable.resolve(), Path(tempfile.mkdtemp())


def bitproof(*arguments):
    return subprocess.run([executable, *arguments], cwd=scratch, capture_output=True, text=True, timeout=120)


def mutants_run(domain):
    """The records of all mutants on the device, with the directory of their report."""
    directory = scratch / domain
    bitproof("run", "--op", "bias_gelu_tanh", "--impl", "mutant.*", "--device", options.device, "--domain", domain,
             "--report", directory)  # fmt: skip
    return [dict(record, directory=directory) for record in json.loads((directory / "report.json").read_text())["records"]]


def first_counterexamples():
    """By (mutant, dtype), of the first domain that shows it."""
    found = {}
    for domain in DOMAINS:
        for record in mutants_run(domain):
            if "first" in record:
                found.setdefault((record["implementation"].removeprefix("mutant."), record["dtype"]), record)
    return found


def command_fails_alike(smallest):
    arguments = smallest["reproduce"].split()[1:]
    ran = bitproof(*arguments, "--json")
    if ran.returncode != 1:
        return f"exit status {ran.returncode}"
    first = json.loads(ran.stdout)["records"][0]["first"]
    same = all(first[key] == smallest[key] for key in ("inputs", "expected", "got"))
    return "same bits" if same else f"expected {first['expected']}, got {first['got']}"


def reproducer_of(record):
    name = "-".join(record[key] for key in ("operator", "dtype", "implementation", "domain"))
    file = record["directory"] / (name + (".cpp" if options.device == "cpu" else ".cu"))
    return file if file.exists() else None


def reproducer_shows(record):
    file = reproducer_of(record)
    if file is None:
        return "none: the fault is in the launch"
    program = file.with_suffix("")
    place = tempfile.mkdtemp(dir=scratch)  # nothing else is there
    compiled = subprocess.run([*COMPILE[options.device].split(), str(file), "-o", str(program)], cwd=place,
                              capture_output=True, text=True)  # fmt: skip
    if compiled.returncode != 0:
        return "does not compile: " + (compiled.stderr + compiled.stdout)[-2000:]
    ran = subprocess.run([program], cwd=place, capture_output=True, text=True, timeout=60)
    smallest = record["first"]["smallest"]
    right = ran.returncode == 1 and ran.stdout == f"expected {smallest['expected']}, got {smallest['got']}\n"
    return "same bits" if right else f"exit status {ran.returncode}: {ran.stdout.strip()} {ran.stderr.strip()}"


def examine(item):
    (mutant, dtype), record = item
    first = record["first"]
    smallest = first.get("smallest")
    row = dict(mutant=mutant, dtype=dtype, domain=record["domain"], inputs=first["inputs"], expected=first["expected"],
               got=first["got"], diagnosis=first.get("diagnosis", ""), named=does[mutant] in first.get("diagnosis", ""))  # fmt: skip
    if smallest:
        row.update(smallest=smallest, command=command_fails_alike(smallest), program=reproducer_shows(record))
    return row


# What each mutant does, in the words of a diagnosis.
selftest = Path(__file__).resolve().parents[2] / "fixtures/evidence/selftest_sm_90/selftest.json"
does = {mutant["name"]: mutant["does"] for mutant in json.loads(selftest.read_text())["mutants"]}

with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    rows = list(pool.map(examine, sorted(first_counterexamples().items())))

lines = []
for row in rows:
    smallest = row.get("smallest")
    lines.append(f"{row['mutant']} {row['dtype']}, {row['domain']}: {', '.join(row['inputs'])}: "
                 f"expected {row['expected']}, got {row['got']}")  # fmt: skip
    lines.append(f"    diagnosis  {'names it' if row['named'] else 'names others' if row['diagnosis'] else 'none'}"
                 f"{': ' + row['diagnosis'] if row['diagnosis'] else ''}")  # fmt: skip
    if smallest:
        lines.append(f"    smallest   {smallest['element']}: expected {smallest['expected']}, got {smallest['got']}")
        lines.append(f"    command    {row['command']}")
        lines.append(f"    program    {row['program']}")
    else:
        lines.append("    smallest   none: needs more than one small launch")


def count(what, key, holds):
    """Rows and mutants that hold, as a line of the summary."""
    held = [row for row in rows if holds(row.get(key))]
    return f"{what}: {len(held)} of {len(rows)} counterexamples, {len({row['mutant'] for row in held})} mutants"


def same(outcome):
    return outcome == "same bits"


lines += [
    "",
    f"{len(rows)} counterexamples of {len({row['mutant'] for row in rows})} mutants on {options.device}",
    count("the diagnosis names the mutant", "named", bool),
    count("shrunk to one small launch", "smallest", bool),
    count("the one-line command fails with the same bits", "command", same),
    count("the reproducer compiles and prints the same bits", "program", same),
]
wrong = [
    f"{row['mutant']} {row['dtype']}: {row['command']}; {row['program']}"
    for row in rows
    if "smallest" in row and not (same(row["command"]) and re.match("same bits|none", row["program"]))
]
named = {row["mutant"] for row in rows if row["named"]}
shown = {row["mutant"] for row in rows if same(row.get("program"))}
passed = not wrong and len(named) >= 10 and len(shown) >= 5
lines += [*wrong, "PASSED" if passed else "FAILED"]

options.results.mkdir(parents=True, exist_ok=True)
(options.results / "counterexamples.txt").write_text("\n".join(lines) + "\n")
(options.results / "counterexamples.json").write_text(json.dumps(rows, indent=1) + "\n")
for kept in scratch.glob(f"*/{KEPT}.c*"):
    shutil.copy(kept, options.results)
print("\n".join(lines))
shutil.rmtree(scratch)
sys.exit(not passed)
