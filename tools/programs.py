#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that multiply matrices on CUDA device 0 and know nothing of gemmtune, for `gemmtune
record` and `gemmtune exec`. tools/gpu-programs runs them.

    programs.py run NAME...   prints a JSON object a line for each phase of the programs
    programs.py table DIR     compares DIR/plain-*.jsonl with DIR/exec-*.jsonl, and with others
    programs.py list          the names

A phase has the milliseconds of a call (wall_ms), of its kernels (kernels_ms), of the kernels of
matrix products among them (gemm_ms), and what it computed (answer). Times are medians."""
import collections
import glob
import hashlib
import json
import os
import re
import statistics
import sys
import tempfile
import time

REPEATS = 7
# Kernels of a vendor's matrix products. Ours have the names that templates give them.
VENDOR = re.compile("gemm|nvjet|cutlass|xmma|gemv|splitk|dot_kernel", re.IGNORECASE)


def own_names():
    here = os.path.dirname(os.path.abspath(__file__))
    names = {"pack"}
    for path in glob.glob(os.path.join(here, "..", "templates", "*", "space.json")):
        with open(path, encoding="utf-8") as f:
            names.update(re.findall(r'"entry": "(\w+)"', f.read()))
    return names


def report(program, phase, **values):
    print(json.dumps({"program": program, "phase": phase, **values}), flush=True)



def host_ms(call, wait):
    """Milliseconds of a call and of its wait, as the host sees them."""
    times = []
    call()
    wait()
    for _ in range(REPEATS):
        begin = time.perf_counter()
        call()
        wait()
        times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times)


# ---- PyTorch ----


def torch_kernels(torch, call, calls=3):
    """(all kernels, kernels of matrix products) in milliseconds a call"""
    own, all_us, gemm_us = own_names(), 0.0, 0.0
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as p:
        for _ in range(calls):
            call()
        torch.cuda.synchronize()
    for e in p.events():
        if e.device_type != torch.autograd.DeviceType.CUDA:
            continue
        all_us += e.device_time
        gemm_us += e.device_time if e.name in own or VENDOR.search(e.name) else 0
    return all_us / 1e3 / calls, gemm_us / 1e3 / calls


def torch_phase(torch, program, phase, call):
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    wall = host_ms(call, torch.cuda.synchronize)
    kernels, gemm = torch_kernels(torch, call)
    report(program, phase, wall_ms=wall, kernels_ms=kernels, gemm_ms=gemm)


def torch_graph_phase(torch, program, phase, call):
    """The same as a CUDA graph, as servers run it."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        call()
    torch_phase(torch, program, phase, graph.replay)


def llama(program, dtype_name):
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    torch.set_default_dtype(getattr(torch, dtype_name))
    config = LlamaConfig(hidden_size=2048, intermediate_size=8192, num_hidden_layers=16,
                         num_attention_heads=32, num_key_value_heads=8, vocab_size=128256,
                         max_position_embeddings=4096)
    with torch.device("cuda"):
        model = LlamaForCausalLM(config).eval()
    torch.set_default_dtype(torch.float32)
    generator = torch.Generator(device="cuda").manual_seed(1)

    def tokens(batch, length):
        return torch.randint(0, 128000, (batch, length), device="cuda", generator=generator)

    with torch.inference_mode():
        for batch, length in ((1, 511), (1, 1), (7, 1), (32, 1)):
            ids = tokens(batch, length)
            name = f"prefill {length}" if length > 1 else f"decode {batch}"

            def call(ids=ids):
                return model(ids, use_cache=False)

            torch_phase(torch, program, name, call)
            torch_graph_phase(torch, program, name + ", graph", call)
        prompt = tokens(1, 64)
        out = model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=24,
                             do_sample=False, return_dict_in_generate=True, output_scores=True)
        best = [s.float().topk(2).values[0] for s in out.scores]
        report(program, "greedy", answer=out.sequences[0, 64:].tolist(),
               gap=[float(t[0] - t[1]) for t in best])


def linalg(program):
    import torch

    torch.manual_seed(0)
    a = torch.randn(6000, 6000, dtype=torch.float64, device="cuda")
    s = a @ a.t() + 6000 * torch.eye(6000, device="cuda", dtype=torch.float64)
    torch_phase(torch, program, "lu_factor f64 6000", lambda: torch.linalg.lu_factor(a))
    torch_phase(torch, program, "cholesky f64 6000", lambda: torch.linalg.cholesky(s))
    lu, pivots = torch.linalg.lu_factor(a)
    p, l, u = torch.lu_unpack(lu, pivots)
    report(program, "error of LU", answer=float((p @ l @ u - a).norm() / a.norm()) < 1e-13)


def odd_torch(program):
    import torch

    torch.manual_seed(0)
    b = torch.randn(20000, 33, 33, device="cuda")
    x, w = torch.randn(5000, 777, device="cuda"), torch.randn(777, 333, device="cuda")
    h = torch.randn(1021, 1031, device="cuda", dtype=torch.bfloat16)
    g = torch.randn(1031, 1033, device="cuda", dtype=torch.bfloat16)
    torch_phase(torch, program, "bmm f32 20000 x 33^3", lambda: torch.bmm(b, b))
    torch_phase(torch, program, "mm f32 5000x333x777", lambda: x @ w)
    torch_phase(torch, program, "mm bf16 1021x1033x1031", lambda: h @ g)


# ---- CuPy ----


def cupy_odd(program):
    import cupy

    cupy.random.seed(0)
    f32 = cupy.float32

    def random(*shape, dtype=f32):
        return cupy.random.standard_normal(shape, dtype=f32).astype(dtype)

    cases = {
        "matmul f32 1021x1031x1033": (random(1021, 1033), random(1033, 1031)),
        "matmul f32 5000 x 16^3": (random(5000, 16, 16), random(5000, 16, 16)),
        "matmul f64 2000 x 24^3": (random(2000, 24, 24, dtype=cupy.float64),
                                   random(2000, 24, 24, dtype=cupy.float64)),
        "matmul f16 3003^3": (random(3003, 3003, dtype=cupy.float16),
                              random(3003, 3003, dtype=cupy.float16)),
        "tensordot f32 64x64x40000": (random(64, 40000), random(40000, 64)),
    }
    for name, (a, b) in cases.items():
        out = cupy.matmul(a, b)
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        times = []
        for _ in range(REPEATS):
            begin.record()
            for _ in range(10):
                cupy.matmul(a, b, out=out)
            end.record()
            end.synchronize()
            times.append(cupy.cuda.get_elapsed_time(begin, end) / 10)
        exact = cupy.matmul(a.astype(cupy.float64), b.astype(cupy.float64))
        error = float(abs(out - exact).max() / abs(exact).max())
        report(program, name, wall_ms=statistics.median(times), answer=error < 2e-3)


# ---- JAX ----


def jax_mlp(program):
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax
    import jax.numpy as jnp

    keys = jax.random.split(jax.random.key(0), 4)
    x = jax.random.normal(keys[0], (500, 1000), jnp.float32)
    w = [jax.random.normal(k, s, jnp.float32) * s[0] ** -0.5
         for k, s in zip(keys[1:], ((1000, 3000), (3000, 3000), (3000, 10)))]

    @jax.jit
    def loss(w, x):
        for i in range(3):
            x = x @ w[i] if i == 2 else jnp.maximum(x @ w[i], 0)
        return (x * x).mean()

    step = jax.jit(jax.grad(loss))
    report(program, "gradient of an MLP f32",
           wall_ms=host_ms(lambda: jax.block_until_ready(step(w, x)), lambda: None),
           answer=round(float(loss(w, x)), 3))


# ---- ONNX Runtime: a file with two products, written by hand ----


def field(number, data):
    """A field of a protocol buffer: bytes, text or a whole number."""
    def varint(n):
        out = b""
        while n > 127:
            out += bytes([n & 127 | 128])
            n >>= 7
        return out + bytes([n])
    if isinstance(data, int):
        return varint(number << 3) + varint(data)
    data = data.encode() if isinstance(data, str) else data
    return varint(number << 3 | 2) + varint(len(data)) + data


def onnx_model(m, k, n):
    import numpy

    rng = numpy.random.default_rng(0)

    def value(name, *shape):
        dims = b"".join(field(1, field(1, s)) for s in shape)
        return field(1, name) + field(2, field(1, field(1, 1) + field(2, dims)))

    def weight(name, *shape):
        data = rng.standard_normal(shape, dtype=numpy.float32) * shape[0] ** -0.5
        return b"".join(field(1, s) for s in shape) + field(2, 1) + field(8, name) + field(
            9, data.astype("<f4").tobytes())

    def product(a, b, c):
        return field(1, a) + field(1, b) + field(2, c) + field(4, "MatMul")

    graph = (field(1, product("x", "w", "h")) + field(1, product("h", "v", "y")) + field(2, "g")
             + field(5, weight("w", k, n)) + field(5, weight("v", n, k))
             + field(11, value("x", m, k)) + field(12, value("y", m, k)))
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17))


def onnx_runtime(program):
    import numpy
    import onnxruntime

    with tempfile.NamedTemporaryFile(suffix=".onnx") as f:
        f.write(onnx_model(300, 1000, 3000))
        f.flush()
        session = onnxruntime.InferenceSession(f.name, providers=["CUDAExecutionProvider"])
    if session.get_providers()[0] != "CUDAExecutionProvider":
        report(program, "two products f32", answer="no CUDA in this ONNX Runtime")
        return
    x = numpy.random.default_rng(1).standard_normal((300, 1000), dtype=numpy.float32)
    y = session.run(None, {"x": x})[0]
    report(program, "two products f32",
           wall_ms=host_ms(lambda: session.run(None, {"x": x}), lambda: None),
           answer=round(float(numpy.abs(y).mean()), 3))


PROGRAMS = {
    "llama-bf16": lambda name: llama(name, "bfloat16"),
    "llama-f32": lambda name: llama(name, "float32"),
    "torch-linalg": linalg,
    "torch-odd": odd_torch,
    "cupy": cupy_odd,
    "jax": jax_mlp,
    "onnxruntime": onnx_runtime,
}


# ---- the table ----


def read_runs(folder, kind):
    """{(program, phase): [rows]} of all files of a kind"""
    rows = collections.defaultdict(list)
    for path in sorted(glob.glob(os.path.join(folder, f"{kind}-*.jsonl"))):
        with open(path, encoding="utf-8") as f:
            for line in f:
                if line.startswith("{"):
                    row = json.loads(line)
                    rows[row["program"], row["phase"]].append(row)
    return rows


def median(rows, key):
    values = [r[key] for r in rows if r.get(key) is not None]
    return statistics.median(values) if values else None


def answers(plain, other):
    """What became of the answer: the same, or the first difference of two lists."""
    a, b = plain[0].get("answer"), other[0].get("answer")
    if a is None or a == b:
        return "" if a is None else "same"
    if isinstance(a, list):
        at = next(i for i, (x, y) in enumerate(zip(a, b)) if x != y)
        return f"token {at} differs, where the two best are {plain[0]['gap'][at]:.3g} apart"
    return f"{a} became {b}"


def table(folder):
    kinds = sorted({os.path.basename(p).split("-")[0]
                    for p in glob.glob(os.path.join(folder, "*-*.jsonl"))} - {"plain"})
    plain = read_runs(folder, "plain")
    for kind in kinds:
        other = read_runs(folder, kind)
        with_it = "PyTorch's TunableOp" if kind == "tunable" else "gemmtune"
        print(f"{kind}: times alone over times with {with_it}\n")
        print(f"{'program':14}{'phase':28}{'wall':>9}{'ratio':>7}{'kernels':>9}{'ratio':>7}"
              f"{'GEMM':>9}{'ratio':>7}  answer")
        for key, rows in plain.items():
            if key[0] not in {program for program, _ in other}:
                continue
            if key not in other:
                print(f"{key[0]:14}{key[1]:28} not run")
                continue
            cells = ""
            for what in ("wall_ms", "kernels_ms", "gemm_ms"):
                a, b = median(rows, what), median(other[key], what)
                cells += f"{a:9.3f}{a / b:7.3f}" if a and b else f"{'-':>9}{'-':>7}"
            print(f"{key[0]:14}{key[1]:28}{cells}  {answers(rows, other[key])}")
        print()


def main():
    verb, names = (sys.argv + ["", ""])[1], sys.argv[2:]
    if verb == "list":
        print("\n".join(PROGRAMS))
    elif verb == "table" and len(names) == 1:
        table(names[0])
    elif verb == "run" and names and all(n in PROGRAMS for n in names):
        for name in names:
            PROGRAMS[name](name)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
