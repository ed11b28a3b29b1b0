# SPDX-License-Identifier: Apache-2.0
"""gemmtune.torch on the CPU, where torch is: what it serves there goes through PoCL."""

import pytest

torch = pytest.importorskip("torch")

import gemmtune as gt  # noqa: E402
import gemmtune.torch as gtt  # noqa: E402

pytestmark = pytest.mark.usefixtures("opencl")


def close(got, want):
    assert got.shape == want.shape and torch.allclose(got, want, atol=1e-4)


@pytest.fixture
def served(monkeypatch):
    """Serves the CPU, every problem of which counts as tuned. Gives what was served."""
    monkeypatch.setattr(gtt, "_PLATFORM", "CPU")

    class Every(set):
        def __contains__(self, name):
            return True

    gtt.enable("none")
    gtt._state.update(serve="tuned", names=Every())
    yield gtt.served
    gtt.disable()


def test_products_beneath_torch(served):
    a, b, c = torch.randn(9, 8), torch.randn(8, 7), torch.randn(7)
    x, y, z = torch.randn(3, 9, 8), torch.randn(3, 8, 7), torch.randn(3, 9, 7)
    got = [a @ b, a @ b.t().contiguous().t(), torch.addmm(c, a, b), torch.addmm(z[0], a, b, beta=2, alpha=3),
           torch.bmm(x, y), torch.baddbmm(z, x, y, beta=0.5), torch.nn.functional.linear(a, b.t(), c), x @ b]
    names = served()
    gtt.disable()
    want = [a @ b, a @ b, c + a @ b, 2 * z[0] + 3 * (a @ b), x @ y, 0.5 * z + x @ y, a @ b + c, x @ b]
    for one, two in zip(got, want):
        close(one, two)
    assert names == ["f32-nn-27x7x8", "f32-nn-9x7x8", "f32-nn-9x7x8,batch=3", "f32-nn-9x7x8,batch=3,beta",
                     "f32-nn-9x7x8,beta", "f32-nn-9x7x8,epi=bias", "f32-nt-9x7x8"]


def test_rows_in_order(served):
    gtt._state.update(serve="row_order", names=set())
    a, b, c, x = torch.randn(67, 70), torch.randn(70, 65), torch.randn(65), torch.randn(3, 67, 70)
    added = torch.randn(67, 65)
    for whole, row in [(a @ b, lambda i: a[i:i + 1] @ b), (torch.addmm(c, a, b), lambda i: torch.addmm(c, a[i:i + 1], b)),
                       (torch.addmm(added, a, b, beta=0, alpha=2), lambda i: torch.addmm(added[:1], a[i:i + 1], b, beta=0, alpha=2)),
                       (torch.addmm(added, a, b, beta=2), lambda i: torch.addmm(added[i:i + 1], a[i:i + 1], b, beta=2)),
                       (torch.nn.functional.linear(a, b.t(), c), lambda i: torch.nn.functional.linear(a[i:i + 1], b.t(), c))]:
        for i in (0, 31, 66):
            assert torch.equal(whole[i], row(i)[0])
    assert torch.equal((x @ b)[1], x[1] @ b) and torch.equal(torch.bmm(x, b.expand(3, 70, 65))[2], x[2] @ b)
    close(a @ b, torch.from_numpy(a.numpy() @ b.numpy()))
    assert all(",row_order" in name for name in served()) and len(served()) == 8, served()
    assert torch.equal(torch.ones(2, 3, dtype=torch.int64) @ torch.ones(3, 2, dtype=torch.int64),
                       torch.full((2, 2), 3))


def test_other_products_are_torchs(served):
    assert torch.equal(torch.ones(2, 3, dtype=torch.int64) @ torch.ones(3, 2, dtype=torch.int64),
                       torch.full((2, 2), 3))
    close(torch.randn(0, 3) @ torch.randn(3, 2), torch.empty(0, 2))
    torch.use_deterministic_algorithms(True)
    try:
        torch.ones(2, 3) @ torch.ones(3, 2)
    finally:
        torch.use_deterministic_algorithms(False)
    assert served() == []


def test_autograd(served):
    a, b = torch.randn(5, 4, requires_grad=True), torch.randn(4, 3, requires_grad=True)
    (a @ b).sum().backward()
    assert served()
    close(a.grad, torch.ones(5, 3).mm(b.detach().t()))
    layer = torch.nn.Linear(4, 3)
    layer(a.detach()).sum().backward()
    close(layer.weight.grad, a.detach().sum(0).expand(3, 4))


def test_compile(served):
    a, b = torch.randn(5, 4), torch.randn(4, 3)
    close(torch.compile(lambda x, y: (x @ y).relu(), backend="aot_eager")(a, b), (a @ b).relu())


def test_modes():
    with pytest.raises(gt.errors.InvalidArgument, match="must be one of faster, tuned, row_order, none"):
        gtt.enable("always")
    before = torch.ones(2, 2) @ torch.ones(2, 2)
    gtt.enable("faster")
    gtt.enable("none")
    gtt.disable()
    assert torch.equal(torch.ones(2, 2) @ torch.ones(2, 2), before) and gtt.served() == []


def test_record(monkeypatch):
    monkeypatch.setattr(gtt, "_PLATFORM", "CPU")
    gtt.enable("none")
    try:
        with gt.record() as sizes:
            for _ in range(3):
                torch.randn(5, 4) @ torch.randn(4, 3)
        assert sizes.problems == {"f32-nn-5x3x4": 3}
    finally:
        gtt.disable()


def test_a_product_with_a_gradient():
    a = torch.randn(2, 1, 4, 3, dtype=torch.float64, requires_grad=True)
    b = torch.randn(5, 3, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(gtt.matmul, (a, b))
    with pytest.raises(gt.errors.InvalidArgument, match="takes matrices"):
        gtt.matmul(a, b[0, :, 0])


@pytest.mark.parametrize("activation", [None, "relu", "gelu", "gelu_tanh", "silu"])
def test_layer(activation):
    torch.manual_seed(1)
    layer = gtt.Linear(6, 5, activation=activation)
    plain = torch.nn.Linear(6, 5)
    plain.load_state_dict(layer.state_dict())
    x = torch.randn(2, 3, 6)
    want = plain(x) if activation is None else gtt._ACTIVATIONS[activation](plain(x))
    close(layer(x), want)
    with torch.no_grad():
        close(layer(x), want)
    layer(x).sum().backward()
    want.sum().backward()
    close(layer.weight.grad, plain.weight.grad)


def test_views_and_modes_of_tensors():
    a = torch.randn(6, 8)
    close(gt.matmul(a.t(), a), a.t() @ a)
    close(gt.matmul(a[:, ::2], a[:4]), a[:, ::2] @ a[:4])
    parameter = torch.nn.Parameter(a)
    with torch.no_grad():
        close(gt.matmul(parameter, a.t()), a @ a.t())
    with pytest.raises(gt.errors.Unsupported, match="requires a gradient"):
        gt.matmul(parameter, a.t())
    with pytest.raises(gt.errors.Unsupported, match="strided"):
        gt.matmul(a.to_sparse(), a.t())
    with pytest.raises(gt.errors.InvalidArgument, match="one of NumPy"):
        gt.matmul(a, a.numpy().T)
