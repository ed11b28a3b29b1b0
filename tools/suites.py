#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs tests of other projects with pytest, in several processes, and compares the outcomes of
runs. tools/gpu-suites calls it.

    suites.py run DIR [OPTION]... FOLDER [PATH...]   runs tests of FOLDER; outcomes go to DIR
    suites.py worse OUT        names of tests that did worse in a run of OUT than in OUT/plain
    suites.py table OUT        compares the runs of OUT; exit 1 where a test did worse twice

A test whose process dies counts as crashed, and a new process goes on with the next test. The
same command goes on where an earlier one stopped."""
import argparse
import collections
import glob
import json
import os
import re
import subprocess
import sys
import time

from suites_plugin import read_lines

RUNS = ("plain", "record", "check", "exec")
RANK = ("passed", "skipped", "failed", "crashed")
GRACE_S = 20  # for a process that was told to stop
SAID = re.compile(r"gemmtune: (\d+) of (\d+) GEMM calls (served|checked)"
                  r"(?:, (\d+) compared, (\d+) wrong)?")


# ---- running ----


class Part:
    """One of the processes, and those that follow when it dies."""

    def __init__(self, options, number):
        self.options = options
        self.number = number
        self.results = os.path.join(options.dir, f"part-{number}.jsonl")
        self.log = os.path.join(options.dir, f"part-{number}.log")
        self.process = None
        self.lines = 0

    def start(self, until):
        o = self.options
        command = [sys.executable, "-m", "pytest", "-p", "suites_plugin", "-c", os.devnull,
                   "--rootdir", ".", "-p", "no:cacheprovider", "-q", "--tb=short",
                   "--continue-on-collection-errors", "--disable-warnings",
                   f"--suite-results={self.results}", f"--suite-share={o.share}",
                   f"--suite-part={self.number}/{o.jobs}", f"--suite-until={until}",
                   f"--suite-test-limit={o.test_limit}"]
        if o.only:
            command.append(f"--suite-only={o.only}")
        self.lines = len(read_lines(self.results))
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command + o.path, cwd=o.folder, stdout=log,
                                            stderr=log, stdin=subprocess.DEVNULL)

    def add(self, test, outcome, why):
        with open(self.results, "a", encoding="utf-8") as f:
            f.write(json.dumps({"test": test, "outcome": outcome, "why": why, "s": 0}) + "\n")

    def running_test(self):
        """The test that has begun and not ended."""
        lines = [x for x in read_lines(self.results) if "begun" in x or "test" in x]
        return lines[-1].get("begun") if lines else None

    def is_left(self):
        """After its process has ended: whether another one would get further."""
        test = self.running_test()
        if test is not None:
            self.add(test, "crashed", f"exit {self.process.returncode}")
        new = read_lines(self.results)[self.lines:]
        left = [x["left"] for x in new if "left" in x]
        ended = sum("s" in x for x in new)
        return bool(left) and 0 < ended < left[-1]

    def stop(self):
        self.process.kill()
        self.process.wait()
        test = self.running_test()
        if test is not None:
            self.add(test, "cut", "no time is left")


def environment(options):
    path = [os.path.dirname(os.path.abspath(__file__)), os.environ.get("PYTHONPATH", "")]
    os.environ.update(PYTHONPATH=os.pathsep.join(p for p in path if p),
                      PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", PYTHONDONTWRITEBYTECODE="1")
    os.environ.pop("PYTEST_ADDOPTS", None)
    options.dir = os.path.abspath(options.dir)
    options.only = options.only and os.path.abspath(options.only)
    os.makedirs(options.dir, exist_ok=True)


def run(options):
    begin = time.time()
    until = begin + options.limit
    environment(options)
    going = [Part(options, i + 1) for i in range(options.jobs)]
    for part in going:
        part.start(until)
    while going and time.time() < until + GRACE_S:
        time.sleep(0.1)
        for part in [p for p in going if p.process.poll() is not None]:
            if part.is_left() and time.time() < until:
                part.start(until)
            else:
                going.remove(part)
    for part in going:
        part.stop()
    seconds = time.time() - begin
    with open(os.path.join(options.dir, "seconds"), "a", encoding="utf-8") as f:
        f.write(f"{seconds:.0f}\n")
    if not read_run(options.dir):
        sys.exit(f"suites: no test was run; {os.path.join(options.dir, 'part-1.log')} says why")


# ---- comparing ----


def read_run(folder):
    """{test: line of its outcome}"""
    return {line["test"]: line
            for path in sorted(glob.glob(os.path.join(folder, "part-*.jsonl")))
            for line in read_lines(path) if line.get("outcome", "cut") != "cut"}


def worse(before, after):
    """Tests of both runs with a worse outcome in the second one."""
    return sorted(t for t in before.keys() & after.keys()
                  if RANK.index(after[t]["outcome"]) > RANK.index(before[t]["outcome"]))


def runs_of(out):
    """{name of a run: (its outcomes, those of its repetition)}"""
    runs = {}
    for name in RUNS:
        first = read_run(os.path.join(out, name))
        if first:
            runs[name] = (first, read_run(os.path.join(out, name + "-again")))
    if "plain" not in runs:
        sys.exit(f"suites: {os.path.join(out, 'plain')} has no run")
    return runs


def steady(names, plain, other):
    """Names that did worse again, or were not repeated."""
    return [t for t in names if t not in plain[1] or t not in other[1]
            or worse({t: plain[1][t]}, {t: other[1][t]})]


def said(folder):
    """What gemmtune said at the ends of the processes: a line, and the number of wrong results"""
    sums = collections.Counter()
    for path in glob.glob(os.path.join(folder, "part-*.log")):
        with open(path, encoding="utf-8", errors="replace") as f:
            for m in SAID.finditer(f.read()):
                sums["ours"] += int(m[1])
                sums["all"] += int(m[2])
                sums["compared"] += int(m[4] or 0)
                sums["wrong"] += int(m[5] or 0)
    text = f"{sums['ours']} of {sums['all']} calls"
    if sums["compared"] or sums["wrong"]:
        text += f", {sums['compared']} compared, {sums['wrong']} wrong"
    return (text if sums["all"] else ""), sums["wrong"]


def seconds_of(folder):
    try:
        with open(os.path.join(folder, "seconds"), encoding="utf-8") as f:
            return sum(map(int, f.read().split()))
    except FileNotFoundError:
        return 0


def print_worse(out):
    runs = runs_of(out)
    names = {t for name in runs for t in worse(runs["plain"][0], runs[name][0])}
    for test in sorted(names):
        print(test)


def print_table(out):
    runs = runs_of(out)
    plain, bad = runs["plain"], []
    print(f"{'run':8}{'tests':>7}{'passed':>8}{'skipped':>9}{'failed':>8}{'crashed':>9}{'in both':>9}"
          f"{'worse':>7}{'unsteady':>10}{'s':>6}  products by gemmtune")
    for name, other in runs.items():
        folder = os.path.join(out, name)
        counts = collections.Counter(line["outcome"] for line in other[0].values())
        names = worse(plain[0], other[0])
        again = steady(names, plain, other)
        bad += [(name, t, other[0][t]) for t in again]
        text, wrong = said(folder)
        if wrong:
            bad.append((name, "wrong results", {"outcome": "checked", "why": text}))
        print(f"{name:8}{len(other[0]):7}" + "".join(
            f"{counts[o]:{w}}" for o, w in zip(RANK, (8, 9, 8, 9))) +
            f"{len(plain[0].keys() & other[0].keys()):9}{len(again):7}{len(names) - len(again):10}"
            f"{seconds_of(folder):6}  {text}")
    for name, test, line in bad:
        print(f"{name}: {line['outcome']}: {test}: {line['why']}")
    sys.exit(1 if bad else 0)


def read_options():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = p.add_subparsers(dest="verb", required=True)
    r = verbs.add_parser("run", help="run tests")
    r.add_argument("dir")
    r.add_argument("--jobs", type=int, default=1, help="processes (default 1)")
    r.add_argument("--limit", type=float, default=600, help="seconds for all (default 600)")
    r.add_argument("--test-limit", type=float, default=60, help="seconds for a test (default 60)")
    r.add_argument("--share", default="1/1", help="I/N: a random share of the tests")
    r.add_argument("--only", help="file with the names of the tests to run")
    r.add_argument("folder")
    r.add_argument("path", nargs="*", help="files and folders in FOLDER (default: all of it)")
    for verb, text in (("worse", "names of tests that did worse"), ("table", "compare the runs")):
        verbs.add_parser(verb, help=text).add_argument("out")
    options = p.parse_args()
    if options.verb == "run":
        if not re.fullmatch(r"[1-9]\d*/[1-9]\d*", options.share) or options.jobs < 1:
            p.error("a share is I/N, and there is at least one process")
        if not os.path.isdir(options.folder):
            p.error(f"{options.folder}: no such folder")
    return options


def main():
    options = read_options()
    if options.verb == "run":
        run(options)
    elif options.verb == "worse":
        print_worse(options.out)
    else:
        print_table(options.out)


if __name__ == "__main__":
    main()
