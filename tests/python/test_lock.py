# SPDX-License-Identifier: Apache-2.0
"""Products under a lock: the pinned kernel, or an exception that says why not."""

import os
import subprocess

import numpy as np
import pytest

import gemmtune as gt

# Rows of whole vectors: the library computes products of host memory without padding these.
A, B = np.random.rand(32, 16).astype("f4"), np.random.rand(16, 48).astype("f4")


@pytest.fixture
def lock(tmp_path):
    path = tmp_path / "model.lock"
    device = next(row["index"] for row in gt.devices() if row["backend"] == "opencl")
    subprocess.run([os.environ["GEMMTUNE_PROGRAM"], "lock", gt.problem(A, B), "--device", str(device),
                    "-o", str(path), "--quiet"], check=True)
    yield path
    gt.reload()


def test_pinned(lock):
    gt.reload(lock=str(lock))
    plan = gt.plan(A, B)
    assert plan.pinned and plan.same_bits and str(lock) in plan.why
    np.testing.assert_allclose(plan(A, B), A @ B, rtol=1e-5)
    assert not (plan(A, B) != plan(A, B)).any()
    with pytest.raises(gt.errors.NotFound, match="is not pinned"):
        gt.matmul(B, np.ones((48, 5), "f4"))


def test_without(lock):
    gt.reload()
    plan = gt.plan(A, B)
    assert not plan.pinned and plan.same_bits


def test_changed(lock):
    text = lock.read_text()
    where = text.index('"driver": "') + len('"driver": "')
    lock.write_text(text[:where] + "x" + text[where:])
    gt.reload(lock=str(lock))
    with pytest.raises(gt.errors.LockError, match="the driver has changed"):
        gt.matmul(A, B)


def test_the_variable(lock, monkeypatch):
    monkeypatch.setenv("GEMMTUNE_LOCK", str(lock))
    gt.reload()
    assert gt.plan(A, B).pinned
