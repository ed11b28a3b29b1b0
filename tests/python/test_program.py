# SPDX-License-Identifier: Apache-2.0
"""The program's commands as functions, on PoCL."""

import os
import subprocess
import sys

import numpy as np
import pytest

import gemmtune as gt
from gemmtune import _record, _rows

pytestmark = pytest.mark.usefixtures("opencl")


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    """(path of a database with one tuned problem, what tune said)"""
    path = str(tmp_path_factory.mktemp("db") / "tuned.db")
    a = np.ones((20, 24), "f4")
    with gt.record() as sizes:
        gt.matmul(a, a.T)
    rows = gt.tune(sizes, database=path, effort="quick", budget=1, family="naive,coalesced", quiet=True)
    return path, rows


def test_tune_and_what_it_stored(tuned):
    path, rows = tuned
    assert [row["problem"] for row in rows] == ["f32-nt-20x20x24"] and rows[0]["status"] == "tuned"
    listed = gt.records(path)
    assert listed[0]["family"] in ("naive", "coalesced") and listed[0]["median_ns"] > 0
    tried = gt.trials("f32-nt-20x20x24", path)
    assert tried[0]["winner"] is True and {row["outcome"] for row in tried} >= {"correct"}
    assert tried.picture.count("<rect") == sum(row["outcome"] == "correct" for row in tried)
    found = gt.lookup("f32-nt-20x20x24", database=path)
    assert found["match"] == "exact" and found["family"] == listed[0]["family"]


def test_the_library_uses_it(tuned):
    path, _ = tuned
    a = np.arange(480, dtype="f4").reshape(20, 24)
    gt.reload(path)
    try:
        plan = gt.plan(a, a.T)
        assert plan.match == "exact" and plan.expected_loss == 0 and plan.tuned_seconds > 0
        assert np.allclose(plan(a, a.T), a @ a.T)
    finally:
        gt.reload()
    assert gt.plan(a, a.T).match == "default"


def test_explain_and_its_roofline():
    facts = gt.explain("f32-nn-64x64x64", peak_gflops=100, bandwidth_gbs=20)
    assert facts["flops"] == 2 * 64**3 and facts["peak_gflops"] == 100
    assert "<svg" in facts._repr_html_() and "10.7 FLOP/B" in facts._repr_html_()
    assert "<svg" not in gt.explain("f32-nn-64x64x64")._repr_html_()


def test_compare_draws():
    rows = gt.compare("gtx-1050-3gb", "gtx-1080", sizes="f32-nn-256x256x256")
    assert rows and "<svg" in rows.picture and rows.picture in rows._repr_html_()
    assert rows.facts["a"]["device_file"] == "gtx-1050-3gb"


def test_devices():
    rows = gt.devices()
    assert {row["backend"] for row in rows} >= {"opencl"} and "name" in rows.columns


def test_rows():
    rows = _rows.Rows([{"a": 1, "b": None}, {"a": 0.25, "c": "<x>"}])
    assert rows.columns == ["a", "b", "c"]
    assert "<td>&lt;x&gt;</td>" in rows._repr_html_() and "<th>c</th>" in rows._repr_html_()


@pytest.mark.parametrize("name", [
    "f32-nn-3x4x5", "bf16=f32-tn-3x4x5,batch=7,sb=0", "i32-nt-1x2x3,lda=9,beta",
    "f32-nn-3x4x5,batch=2,epi=s:f32;b[i,j]:f32;d=x*s+b[i,j]"])
def test_names_as_entries_of_a_sweep(name, tmp_path):
    """A sweep of an entry has the problem that the entry was made of."""
    path = tmp_path / "sizes.json"
    recorder = _record.Recorder()
    recorder.problems[name] = 3
    recorder.save(path)
    assert gt.tune(str(path), dry_run=True, quiet=True)[0]["problem"] == name


def test_the_command():
    done = subprocess.run([sys.executable, "-m", "gemmtune", "--version"], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.returncode == 0 and done.stdout.startswith("gemmtune ")
