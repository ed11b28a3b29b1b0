# SPDX-License-Identifier: Apache-2.0
"""A plugin of pytest for tools/suites.py. It takes a part of the collected tests, and writes a
JSON line when a test begins and another one when it ends. So whoever reads the file knows
which test was running when the process died.

    {"left": 12}                                     tests that this process is going to run
    {"begun": "test_a.py::test_b"}
    {"test": "test_a.py::test_b", "outcome": "passed", "why": "", "s": 0.01}"""
import faulthandler
import hashlib
import json
import re
import time

import pytest

# After one of these errors every later call of the process on its device fails.
LOST = re.compile("illegal memory access|illegal address|illegal instruction|misaligned address|"
                  "device-side assert|unspecified launch failure|ILLEGAL_ADDRESS|LAUNCH_FAILED",
                  re.IGNORECASE)
RANK = ("passed", "skipped", "failed")


def pytest_addoption(parser):
    group = parser.getgroup("suites")
    group.addoption("--suite-results", help="file of JSON lines; its tests are not run again")
    group.addoption("--suite-share", default="1/1", help="I/N: one of N shares of all tests")
    group.addoption("--suite-part", default="1/1", help="I/N: one of N parts of the share")
    group.addoption("--suite-only", help="file with the names of the tests to run")
    group.addoption("--suite-test-limit", type=float, default=60, help="seconds for a test")
    group.addoption("--suite-until", type=float, default=0, help="when no test begins any more")


def pytest_configure(config):
    if config.getoption("--suite-results"):
        config.pluginmanager.register(Part(config.option), "suites-part")


def number(name, salt):
    """A number by which tests are shared out: random, and the same in every process."""
    return int.from_bytes(hashlib.sha256((salt + name).encode()).digest()[:8], "big")


def is_in(name, share, salt):
    i, n = map(int, share.split("/"))
    return number(name, salt) % n == i % n


def read_lines(path):
    try:
        with open(path, encoding="utf-8") as f:
            return [json.loads(line) for line in f if line.endswith("\n")]
    except FileNotFoundError:
        return []


class Part:
    def __init__(self, option):
        self.option = option
        self.done = {line["test"] for line in read_lines(option.suite_results)
                     if line.get("outcome", "cut") != "cut"}
        self.only = None
        if option.suite_only:
            with open(option.suite_only, encoding="utf-8") as f:
                self.only = set(f.read().splitlines())
        self.file = open(option.suite_results, "a", encoding="utf-8")
        self.trace = open(option.suite_results + ".trace", "a", encoding="utf-8")
        self.outcome, self.why, self.lost = "passed", "", False

    def write(self, **line):
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()

    def wants(self, name):
        return (name not in self.done and (self.only is None or name in self.only)
                and is_in(name, self.option.suite_share, "share")
                and is_in(name, self.option.suite_part, "part"))

    # In a random order, a run that is cut off has tried a random share.
    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        items[:] = sorted((i for i in items if self.wants(i.nodeid)),
                          key=lambda i: number(i.nodeid, "order"))
        self.write(left=len(items))

    def pytest_collectreport(self, report):
        if report.failed and report.nodeid not in self.done:
            self.write(test=report.nodeid, outcome="failed", why=first_error(report))

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        if self.option.suite_until and time.time() > self.option.suite_until:
            pytest.exit("no time is left", returncode=0)
        begin = time.monotonic()
        self.outcome, self.why, self.lost = "passed", "", False
        self.write(begun=item.nodeid)
        faulthandler.dump_traceback_later(self.option.suite_test_limit, exit=True, file=self.trace)
        yield
        faulthandler.cancel_dump_traceback_later()
        self.write(test=item.nodeid, outcome=self.outcome, why=self.why,
                   s=round(time.monotonic() - begin, 3))
        if self.lost:
            pytest.exit("the device is lost to this process", returncode=1)

    def pytest_runtest_logreport(self, report):
        if RANK.index(report.outcome) > RANK.index(self.outcome):
            self.outcome, self.why = report.outcome, first_error(report)
        self.lost |= report.failed and bool(LOST.search(str(report.longrepr)))


def first_error(report):
    """The first line of pytest about what went wrong, or why a test is skipped."""
    text = report.longrepr
    text = text[2] if isinstance(text, tuple) else str(text)
    errors = [line for line in text.splitlines() if line.startswith("E ")]
    return (errors or text.splitlines()[-1:] or [""])[0].removeprefix("E").strip()[:300]
