"""From the counterexamples of mutants to their causes, smallest cases, and programs that show them by themselves.

    python3 tests/gpu/counterexamples.py BITPROOF-CONFORMANCE RESULTS [--device cpu] [--domains D,...] [--seconds N]

runs every mutant over two domains that show most of them, and of each mutant and dtype takes the first
counterexample. Its one-line command must fail with the same bits, but that of a race with any; its reproducer, a single
file, must compile (with nvcc for a GPU, g++ for the CPU) and print the same bits. The exit status is 0 only if all of
that holds, and at least ten diagnoses name the mutant. RESULTS gets counterexamples.txt, counterexamples.json and one
reproducer. What there was no time for in N seconds is said to be left out.
"""

import argparse
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMPILE = {
    "cpu": "g++ -std=c++20 -O1 -ffp-contract=off",
    "cuda": "nvcc -std=c++20 -O3 --expt-relaxed-constexpr -arch=native",
}
NONE, LEFT_OUT = "none: the output is right, or the fault is in the launch", "left out: no time"
RACES, OTHER_BITS = {"stream_ignored", "bias_read_early"}, "fails with other bits, as a race may"
KEPT = "bias_gelu_tanh-bf16-mutant.sum_not_rounded-boundary"

parser = argparse.ArgumentParser()
parser.add_argument("executable", type=Path)
parser.add_argument("results", type=Path)
parser.add_argument("--device", default="cuda", choices=COMPILE)
parser.add_argument("--domains", default="boundary,values")
parser.add_argument("--seconds", type=float, default=3600)
options = parser.parse_args()
executable, scratch, start = options.executable.resolve(), Path(tempfile.mkdtemp()), time.monotonic()
options.results.mkdir(parents=True, exist_ok=True)
listing = (options.results / "counterexamples.txt").open("w")


environment = {}  # of the reports


def say(*lines):
    for line in lines:
        for stream in (sys.stdout, listing):
            print(line, file=stream, flush=True)


def run(command, cwd, seconds):
    """Exit status and output; what takes too long has none."""
    try:
        ran = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=seconds)
        return ran.returncode, ran.stdout, ran.stderr
    except subprocess.TimeoutExpired:
        return None, "", f"nothing within {seconds} s"


def mutants_run(domain):
    """The records of all mutants on the device, with the directory of their report."""
    directory = scratch / domain
    # In one process: a context for each of a hundred workers would take longer than all else.
    run([executable, "run", "--in-process", "--op", "bias_gelu_tanh", "--impl", "mutant.*", "--device", options.device,
         "--domain", domain, "--report", directory], scratch, 600)  # fmt: skip
    report = json.loads((directory / "report.json").read_text())
    environment.update(report["environment"])
    records = report["records"]
    print(f"{domain}: {len(records)} records, {time.monotonic() - start:.1f} s", flush=True)
    return [dict(record, directory=directory) for record in records]


def first_counterexamples(pool):
    """By (mutant, dtype), of the first domain that shows it."""
    found = {}
    for records in pool.map(mutants_run, options.domains.split(",")):
        for record in records:
            if "first" in record:
                found.setdefault((record["implementation"].removeprefix("mutant."), record["dtype"]), record)
    return found


def command_fails_alike(mutant, smallest):
    status, out, err = run([executable, *smallest["reproduce"].split()[1:], "--json"], scratch, 40)
    record = json.loads(out)["records"][0] if out else {}
    if mutant in RACES and status == 3:  # what was wrong when it was counted was right when it was looked at
        return OTHER_BITS
    if status != 1:
        return f"exit status {status} {record.get('verdict', '')} {record.get('reason', '')} {err}".rstrip()
    first = record["first"]
    if all(first[key] == smallest[key] for key in ("inputs", "expected", "got")):
        return "same bits"
    return OTHER_BITS if mutant in RACES else f"expected {first['expected']}, got {first['got']}"


def reproducer_of(record):
    name = "-".join(record[key] for key in ("operator", "dtype", "implementation", "domain"))
    file = record["directory"] / (name + (".cpp" if options.device == "cpu" else ".cu"))
    return file if file.exists() else None


def reproducer_shows(record):
    file = reproducer_of(record)
    if file is None:
        return NONE
    program = file.with_suffix("")
    place = tempfile.mkdtemp(dir=scratch)  # nothing else is there
    status, out, err = run([*COMPILE[options.device].split(), str(file), "-o", str(program)], place, 100)
    if status != 0:
        return "does not compile: " + (err + out)[-2000:]
    status, out, err = run([program], place, 40)
    smallest = record["first"]["smallest"]
    right = status == 1 and out == f"expected {smallest['expected']}, got {smallest['got']}\n"
    return "same bits" if right else f"exit status {status}: {out.strip()} {err.strip()}"


def examine(item):
    (mutant, dtype), record = item
    first = record["first"]
    diagnosis, smallest = first.get("diagnosis", ""), first.get("smallest")
    named = does[mutant] in diagnosis
    row = dict(mutant=mutant, dtype=dtype, domain=record["domain"], inputs=first["inputs"], expected=first["expected"],
               place=first["parts_at"], got=first["got"], diagnosis=diagnosis, named=named)  # fmt: skip
    if smallest and time.monotonic() - start > options.seconds:
        row.update(smallest=smallest, command=LEFT_OUT, program=LEFT_OUT)
    elif smallest:
        row.update(smallest=smallest, command=command_fails_alike(mutant, smallest), program=reproducer_shows(record))
    return row


def describe(row):
    smallest = row.get("smallest")
    verdict = "names it: " if row["named"] else "names others: " if row["diagnosis"] else "none"
    yield (f"{row['mutant']} {row['dtype']}, {row['domain']}: {', '.join(row['inputs']) or row['place']}: "
           f"expected {row['expected']}, got {row['got']}")  # fmt: skip
    yield f"    diagnosis  {verdict}{row['diagnosis']}"
    if smallest:
        subject = ", ".join(smallest["inputs"]) or smallest["place"]
        yield (f"    smallest   [{smallest['rows']}, {smallest['width']}], {subject}: "
               f"expected {smallest['expected']}, got {smallest['got']}")  # fmt: skip
        yield f"    command    {row['command']}"
        yield f"    program    {row['program']}"
    else:
        yield "    smallest   none: needs more than one small launch"


# What each mutant does, in the words of a diagnosis.
selftest = Path(__file__).resolve().parents[2] / "fixtures/evidence/selftest_sm_90/selftest.json"
does = {mutant["name"]: mutant["does"] for mutant in json.loads(selftest.read_text())["mutants"]}

rows = []
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    for row in pool.map(examine, sorted(first_counterexamples(pool).items())):
        rows.append(row)
        say(*describe(row))
print(f"examined: {time.monotonic() - start:.1f} s", flush=True)


def count(what, key, holds):
    """Rows and mutants that hold, as a line of the summary."""
    held = [row for row in rows if holds(row.get(key))]
    return f"{what}: {len(held)} of {len(rows)} counterexamples, {len({row['mutant'] for row in held})} mutants"


def same(outcome):
    return outcome == "same bits"


say(
    "",
    f"{len(rows)} counterexamples of {len({row['mutant'] for row in rows})} mutants on {options.device}",
    f"{environment['started']}, build {environment['tool_build']}, {environment['toolchain']}, {environment['os']}, "
    + "; ".join(f"{d['name']}, driver {d['driver']}" for d in environment["devices"]),
    count("the diagnosis names the mutant", "named", bool),
    count("shrunk to one small case", "smallest", bool),
    count("the one-line command fails with the same bits", "command", same),
    count("the reproducer compiles and prints the same bits", "program", same),
)
wrong = [
    f"{row['mutant']} {row['dtype']}: {row['command']}; {row['program']}"
    for row in rows
    if "smallest" in row
    and not (row["command"] in ("same bits", OTHER_BITS) and row["program"] in ("same bits", NONE))
]
named = {row["mutant"] for row in rows if row["named"]}
shown = {row["mutant"] for row in rows if same(row.get("program"))}
passed = not wrong and len(named) >= 10 and len(shown) >= 5
say(*wrong, "PASSED" if passed else "FAILED")

(options.results / "counterexamples.json").write_text(json.dumps(rows, indent=1) + "\n")
for kept in scratch.glob(f"*/{KEPT}.c*"):
    shutil.copy(kept, options.results)
shutil.rmtree(scratch)
print(f"{time.monotonic() - start:.1f} s")
sys.exit(not passed)
