#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gpu_check.py - the Python package on a GPU of NVIDIA, with torch, CuPy and JAX where they are installed.

    make && pip install numpy ml_dtypes torch cupy-cuda13x jax[cuda13] nvmath-python
    python3 tests/python/gpu_check.py            # checks, then the time of a call
    python3 tests/python/gpu_check.py bench      # ten shapes beside torch, CuPy and nvmath, in turns

A check prints "ok - name" or "not ok - name", and the last line counts them. Exit code: 0, or 1 after a failure.
"""

import gc
import os
import statistics
import sys
import time
import traceback

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(SRC, "python"))

import numpy as np  # noqa: E402

import gemmtune as gt  # noqa: E402

counts = {True: 0, False: 0}


def check(name, work):
    """Runs one check, which fails by an exception."""
    try:
        work()
        good = True
    except Exception:
        traceback.print_exc()
        good = False
    counts[good] += 1
    print(f"{'ok' if good else 'not ok'} - {name}", flush=True)


def module(name):
    """An imported module, or None."""
    try:
        return __import__(name)
    except Exception as reason:
        print(f"# {name}: {reason}")
        return None


def close(got, want, k, unit=2.0**-24):
    """Whether a product of standard normal numbers is near enough."""
    off = np.abs(np.asarray(got, "f8") - want).max(initial=0)
    assert off <= 40 * unit * max(k, 1) ** 0.5 + 8 * unit * np.abs(want).max(initial=0), off


SHAPES = [((64, 64), (64, 64)), ((300, 1), (1, 200)), ((5, 33, 77), (77, 20)), ((4, 1, 30, 40), (3, 40, 50)),
          ((100,), (100, 30)), ((7, 20, 100), (100,)), ((0, 5), (5, 3)), ((3, 0), (0, 4))]


def raises(kind, words, work):
    try:
        work()
    except kind as reason:
        assert words in str(reason) and "\n" not in str(reason), reason
        return
    raise AssertionError(f"no {kind.__name__}")


# ---- torch ----------------------------------------------------------------------------------------

def check_torch(torch):
    units = {torch.float32: 2.0**-24, torch.float64: 2.0**-53, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}

    def host(x):
        return x.detach().double().cpu().numpy()

    def types():
        for dtype, unit in units.items():
            for a_shape, b_shape in SHAPES:
                a = torch.randn(a_shape, device="cuda", dtype=torch.float64).to(dtype)
                b = torch.randn(b_shape, device="cuda", dtype=torch.float64).to(dtype)
                got = gt.matmul(a, b)
                assert got.dtype is dtype and got.device == a.device and got.shape == torch.matmul(a, b).shape
                close(host(got), np.matmul(host(a), host(b)), a_shape[-1], unit)

    def small_types():
        a = torch.randint(-9, 9, (64, 96), device="cuda", dtype=torch.int8)
        b = torch.randint(-9, 9, (96, 32), device="cuda", dtype=torch.int8)
        assert np.array_equal(host(gt.matmul(a, b)), host(a) @ host(b))
        x, y = (torch.randn(s, device="cuda").to(torch.float8_e4m3fn) for s in ((64, 96), (96, 32)))
        got = gt.matmul(x, y)
        assert got.dtype is torch.bfloat16
        close(host(got), host(x.float()) @ host(y.float()), 96, 2.0**-8)

    def views():
        big = torch.randn(300, 400, device="cuda")
        for a, b in ((big.t()[:200], big[:, :50]), (big[::2, ::2], big[:200, 7:100]), (big[:, 5:60], big.t()[100:155])):
            close(host(gt.matmul(a, b)), host(a) @ host(b), a.shape[1])
        out = torch.zeros(50, 300, device="cuda").t()
        assert gt.matmul(big[:, :40], big[:40, :50], out) is out
        close(host(out), host(big[:, :40]) @ host(big[:40, :50]), 40)

    def epilogue():
        a, b, bias = torch.randn(4, 30, 40, device="cuda"), torch.randn(40, 50, device="cuda"), torch.randn(50, device="cuda")
        got = gt.matmul(a, b, epilogue="bias_relu", bias=bias)
        close(host(got), np.maximum(host(a) @ host(b) + host(bias), 0), 40)
        d, second = gt.matmul(a, b, epilogue="d2=x;d=silu(x)")
        close(host(second), host(a) @ host(b), 40)
        assert d.shape == second.shape

    def accumulates():
        a, b, c = (torch.randn(64, 64, device="cuda") for _ in range(3))
        kept = c.clone()
        got = gt.matmul(a, b, alpha=2, beta=-1, c=c)
        close(host(got), 2 * host(a) @ host(b) - host(c), 64)
        assert torch.equal(c, kept)

    def streams():
        """Products on a stream while another one fills their operands."""
        side = torch.cuda.Stream()
        for _ in range(20):
            with torch.cuda.stream(side):
                a = torch.randn(1024, 1024, device="cuda")
                for _ in range(5):
                    a = a + 1
                got = gt.matmul(a, a)
                want = a.double() @ a.double()
            side.synchronize()
            assert torch.allclose(got.double(), want, rtol=1e-3)
        a = torch.randn(512, 512, device="cuda")
        got = gt.matmul(a, a, stream=side.cuda_stream)
        assert torch.allclose(got, a @ a, atol=1e-2)

    def freed():
        """Operands that die while the product runs."""
        for _ in range(50):
            a, b = torch.randn(2048, 512, device="cuda"), torch.randn(512, 2048, device="cuda")
            want = (a.double() @ b.double())
            got = gt.matmul(a, b)
            del a, b
            torch.randn(2048, 512, device="cuda").fill_(float("nan"))
            assert torch.allclose(got.double(), want, atol=1e-2)

    def captured():
        a, b = torch.randn(256, 300, device="cuda"), torch.randn(300, 200, device="cuda")
        out = torch.empty(256, 200, device="cuda")
        plan = gt.plan(a, b, out)
        plan(a, b, out)
        gt.matmul(a, b, out)
        torch.cuda.synchronize()
        for work in (lambda: plan(a, b, out), lambda: gt.matmul(a, b, out)):
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                work()
            for _ in range(3):
                a.normal_()
                out.zero_()
                graph.replay()
                close(host(out), host(a) @ host(b), 300)

    def destroyed():
        """A stream that is gone: the next one may have its number."""
        a = torch.randn(300, 300, device="cuda")
        for _ in range(10):
            stream = torch.cuda.Stream()
            with torch.cuda.stream(stream):
                got = gt.matmul(a, a)
            stream.synchronize()
            del stream
            gc.collect()
            assert torch.allclose(got, a @ a, atol=1e-2)

    def gradient():
        import gemmtune.torch as gtt
        a = torch.randn(2, 8, 9, device="cuda", dtype=torch.float64, requires_grad=True)
        b = torch.randn(9, 7, device="cuda", dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(gtt.matmul, (a, b))
        raises(gt.errors.Unsupported, "requires a gradient", lambda: gt.matmul(a, b))
        layer = gtt.Linear(32, 16, activation="gelu").cuda()
        x = torch.randn(5, 32, device="cuda")
        with torch.no_grad():
            served = layer(x)
        assert torch.allclose(served, layer(x), atol=1e-4)
        layer(x).sum().backward()
        assert layer.weight.grad is not None

    def beneath():
        import gemmtune.torch as gtt
        a, b, c = torch.randn(96, 80, device="cuda"), torch.randn(80, 64, device="cuda"), torch.randn(64, device="cuda")
        batch = torch.randn(3, 80, 64, device="cuda")
        calls = [lambda: a @ b, lambda: torch.addmm(c, a, b), lambda: torch.bmm(a.expand(3, 96, 80), batch),
                 lambda: torch.baddbmm(torch.ones(3, 96, 64, device="cuda"), a.expand(3, 96, 80), batch, beta=2),
                 lambda: torch.nn.functional.linear(a, b.t(), c)]
        wants = [call() for call in calls]
        gtt.enable("none")
        with gt.record() as sizes:
            for call in calls:
                call()
        assert len(sizes) >= 4, list(sizes)
        gt.tune(sizes, effort="quick", budget=20, device="cuda:0", quiet=True)
        gtt.enable("tuned")
        try:
            for call, want in zip(calls, wants):
                assert torch.allclose(call(), want, atol=1e-3)
            assert gtt.served(), "nothing was served"
            weight = b.clone().requires_grad_()
            (a @ weight).sum().backward()
            assert torch.allclose(weight.grad, a.t() @ torch.ones(96, 64, device="cuda"), atol=1e-3)
            compiled = torch.compile(lambda x, y: (x @ y).relu())
            assert torch.allclose(compiled(a, b), wants[0].relu(), atol=1e-3)
        finally:
            gtt.disable()
        assert torch.equal(a @ b, wants[0])

    def offered():
        import gemmtune.torch as gtt
        asked, own = [], gtt._external

        def asking(x, y, out):
            asked.append(out.shape)
            own(x, y, out)
        a, b = torch.randn(96, 80, device="cuda"), torch.randn(80, 64, device="cuda")
        want = a @ b
        gtt._external = asking
        try:
            gtt.enable("none", inductor=True)
            compiled = torch.compile(lambda x, y: x @ y, mode="max-autotune-no-cudagraphs")
            assert torch.allclose(compiled(a, b), want, atol=1e-3)
            assert gtt._choices() is None or asked, "Inductor never tried the choice"
        finally:
            gtt.disable()
            gtt._external = own

    def rows_in_order():
        import gemmtune.torch as gtt
        gtt.enable("row_order")
        try:
            for dtype in (torch.bfloat16, torch.float16, torch.float32):
                layer = torch.nn.Linear(1024, 768, dtype=dtype, device="cuda")
                x = torch.randn(300, 1024, dtype=dtype, device="cuda")
                with torch.no_grad():
                    whole = layer(x)
                    for rows in (slice(0, 1), slice(17, 24), slice(299, 300), slice(0, 128)):
                        assert torch.equal(layer(x[rows]), whole[rows]), (dtype, rows)
                    assert torch.equal(layer(x.reshape(3, 100, 1024))[1], whole[100:200])
                    assert torch.allclose(whole, torch.nn.functional.linear(
                        x.double(), layer.weight.double(), layer.bias.double()).to(dtype), atol=0.05)
            a, b, c = (torch.randn(64, 64, device="cuda") for _ in range(3))
            for _ in range(3):
                scaled = torch.addmm(c, a, b, beta=0, alpha=2)
                assert torch.allclose(scaled, 2 * (a @ b), atol=1e-3)
                assert torch.equal(scaled[5:6], torch.addmm(c[:1], a[5:6], b, beta=0, alpha=2))
            assert all(",row_order" in name for name in gtt.served()), gtt.served()
        finally:
            gtt.disable()

    def one_sentence():
        a = torch.randn(8, 8, device="cuda")
        raises(gt.errors.InvalidArgument, "b in host memory", lambda: gt.matmul(a, a.cpu()))
        raises(gt.errors.InvalidArgument, "on cuda:0", lambda: gt.matmul(a.cpu(), a))
        raises(gt.errors.InvalidArgument, "one of NumPy", lambda: gt.matmul(a, a.cpu().numpy()))
        raises(gt.errors.Unsupported, "strided", lambda: gt.matmul(a.to_sparse(), a))
        if torch.cuda.device_count() > 1:
            raises(gt.errors.InvalidArgument, "on cuda:1", lambda: gt.matmul(a, a.to("cuda:1")))

    for work in (types, small_types, views, epilogue, accumulates, streams, freed, captured, destroyed, gradient,
                 beneath, offered, rows_in_order, one_sentence):
        check(f"torch: {work.__name__}", work)


# ---- CuPy, JAX ------------------------------------------------------------------------------------

def check_cupy(cupy):
    def types():
        for dtype, unit in (("f4", 2.0**-24), ("f8", 2.0**-53), ("f2", 2.0**-11)):
            for a_shape, b_shape in SHAPES:
                a, b = cupy.random.standard_normal(a_shape).astype(dtype), cupy.random.standard_normal(b_shape).astype(dtype)
                got = gt.matmul(a, b)
                assert isinstance(got, cupy.ndarray) and got.dtype == a.dtype
                close(got.get(), np.matmul(a.get().astype("f8"), b.get().astype("f8")), a_shape[-1], unit)

    def views():
        big = cupy.random.standard_normal((300, 400)).astype("f4")
        close(gt.matmul(big.T[:200], big[:, :50]).get(), big.get().T[:200].astype("f8") @ big.get()[:, :50], 300)
        close(gt.matmul(big[::2, ::-1], big.T[:, :9]).get(), big.get()[::2, ::-1].astype("f8") @ big.get().T[:, :9], 400)

    def streams():
        side = cupy.cuda.Stream(non_blocking=True)
        with side:
            a = cupy.random.standard_normal((1024, 1024)).astype("f4")
            got = gt.matmul(a, a)
        side.synchronize()
        close(got.get(), a.get().astype("f8") @ a.get(), 1024)

    for work in (types, views, streams):
        check(f"CuPy: {work.__name__}", work)


def check_jax(jax):
    def types():
        for dtype, unit in (("float32", 2.0**-24), ("bfloat16", 2.0**-8), ("float16", 2.0**-11)):
            for a_shape, b_shape in SHAPES:
                a = jax.random.normal(jax.random.key(1), a_shape).astype(dtype)
                b = jax.random.normal(jax.random.key(2), b_shape).astype(dtype)
                got = gt.matmul(a, b)
                assert isinstance(got, jax.Array) and got.dtype == a.dtype, type(got)
                close(np.asarray(got, "f8"), np.matmul(np.asarray(a, "f8"), np.asarray(b, "f8")), a_shape[-1], unit)

    def epilogue():
        a = jax.random.normal(jax.random.key(1), (30, 40))
        got = gt.matmul(a, a.T, epilogue="bias_relu", bias=a[:, 0] * 1)
        close(np.asarray(got), np.maximum(np.asarray(a, "f8") @ np.asarray(a).T + np.asarray(a)[:, 0], 0), 40)

    def compiled():
        """gemmtune.jax under jit, vmap and grad, with operands of an epilogue, among other work."""
        import gemmtune.jax as gj
        a, b = jax.random.normal(jax.random.key(1), (5, 30, 40)), jax.random.normal(jax.random.key(2), (40, 50))
        want = np.asarray(a, "f8") @ np.asarray(b, "f8")
        close(np.asarray(jax.jit(lambda x, y: gj.matmul(x + 1, y) * 2)(a, b)),
              2 * ((np.asarray(a, "f8") + 1) @ np.asarray(b, "f8")), 40)
        close(np.asarray(jax.vmap(gj.matmul, (0, None))(a, b)), want, 40)
        bias = jax.numpy.arange(50, dtype="float32")
        close(np.asarray(jax.jit(lambda x, y, v: gj.matmul(x, y, epilogue="bias_relu", bias=v))(a, b, bias)),
              np.maximum(want + np.arange(50), 0), 40)
        ours = jax.grad(lambda x, y: (gj.matmul(x, y) ** 2).sum(), (0, 1))(a, b)
        close(np.asarray(ours[0]), 2 * want @ np.asarray(b, "f8").T, 4000)

    for work in (types, epilogue, compiled):
        check(f"JAX: {work.__name__}", work)


# ---- the time of a call -----------------------------------------------------------------------------

def per_call(work, synchronise, rounds=21, calls=200):
    """Seconds of the host for a call, median of rounds; the queue is empty when a round begins."""
    seen = []
    for _ in range(rounds):
        synchronise()
        began = time.perf_counter()
        for _ in range(calls):
            work()
        seen.append((time.perf_counter() - began) / calls)
    synchronise()
    return statistics.median(seen)


def cost(torch):
    a, b, out = (torch.randn(64, 64, device="cuda", dtype=torch.float16) for _ in range(3))
    plan = gt.plan(a, b, out)
    ways = {
        "gt.matmul(a, b)": lambda: gt.matmul(a, b), "gt.matmul(a, b, out)": lambda: gt.matmul(a, b, out),
        "plan(a, b, out)": lambda: plan(a, b, out), "plan.unchecked(a, b, out)": lambda: plan.unchecked(a, b, out),
        "torch.mm(a, b)": lambda: torch.mm(a, b), "torch.mm(a, b, out=out)": lambda: torch.mm(a, b, out=out),
    }
    nvmath = module("nvmath.linalg.advanced")
    if nvmath is not None:
        from nvmath.linalg.advanced import Matmul
        product = Matmul(a, b)
        product.plan()
        ways["nvmath Matmul.execute()"] = product.execute
    for name, work in ways.items():
        work()
        print(f"{1e6 * per_call(work, torch.cuda.synchronize):7.2f} us  {name}", flush=True)


# ---- ten shapes beside others -------------------------------------------------------------------------

TEN = [("float16", (4096, 4096), (4096, 4096)), ("bfloat16", (8192, 1024), (1024, 8192)),
       ("bfloat16", (16, 7168), (7168, 4096)), ("float16", (1000, 1000), (1000, 1000)),
       ("float32", (2048, 2048), (2048, 2048)), ("float32", (127, 4097), (4097, 513)),
       ("float64", (2048, 2048), (2048, 2048)), ("float16", (1024, 128, 64), (1024, 64, 128)),
       ("float32", (4096, 32, 32), (4096, 32, 32)), ("bfloat16", (1, 4096), (4096, 14336))]


def device_time(torch, work, calls):
    """Seconds of the device for a call, by events around several."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(calls):
        work()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e-3 / calls


def bench(torch, cupy):
    nvmath = module("nvmath.linalg.advanced")
    for dtype, a_shape, b_shape in TEN:
        kind = getattr(torch, dtype)
        a, b = (torch.randn(shape, device="cuda", dtype=torch.float32).to(kind) for shape in (a_shape, b_shape))
        plan = gt.plan(a, b)
        ways = {"gemmtune": lambda: plan(a, b), "torch": lambda: torch.matmul(a, b)}
        if cupy is not None and dtype != "bfloat16":
            x, y = cupy.from_dlpack(a), cupy.from_dlpack(b)
            ways["cupy"] = lambda: cupy.matmul(x, y)
        if nvmath is not None:
            from nvmath.linalg.advanced import Matmul
            product = Matmul(a, b)
            product.plan()
            product.autotune(iterations=10)
            ways["nvmath"] = product.execute
        for work in ways.values():
            work()
        first = device_time(torch, ways["torch"], 3)
        calls = max(3, min(200, int(0.02 / first)))
        seen = {name: [] for name in ways}
        for turn in range(21):
            for name in list(ways)[::1 if turn % 2 else -1]:
                seen[name].append(device_time(torch, ways[name], calls))
        medians = {name: statistics.median(times) for name, times in seen.items()}
        ratios = "  ".join(
            f"{name} {1e6 * at:9.1f} us" + (f" x{statistics.median(o / g for o, g in zip(seen[name], seen['gemmtune'])):.2f}"
                                            if name != "gemmtune" else "") for name, at in medians.items())
        print(f"{plan.problem:40} {plan.match:8} {ratios}", flush=True)


def main():
    torch, cupy, jax = (module(name) for name in ("torch", "cupy", "jax"))
    print(*(f"{row['name']}, {row['compiler']}" for row in gt.devices() if row["backend"] == "cuda"), sep="\n")
    if sys.argv[1:] == ["bench"]:
        bench(torch, cupy)
        return 0
    if torch is not None and torch.cuda.is_available():
        check_torch(torch)
    if cupy is not None:
        check_cupy(cupy)
    if jax is not None and jax.default_backend() == "gpu":
        check_jax(jax)
    if torch is not None and torch.cuda.is_available():
        cost(torch)
    print(f"{counts[True]} passed, {counts[False]} failed")
    return counts[False] > 0


if __name__ == "__main__":
    sys.exit(main())
