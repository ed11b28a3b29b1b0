# SPDX-License-Identifier: Apache-2.0
"""gemmtune.jax on JAX's CPU platform, where jaxlib is; and its declarations beside jaxlib's."""

import os
import re
import shutil
import subprocess

import numpy as np
import pytest
from conftest import SRC

jax = pytest.importorskip("jax")
jnp = jax.numpy

import gemmtune as gt  # noqa: E402
import gemmtune.jax as gj  # noqa: E402

pytestmark = pytest.mark.usefixtures("opencl")


def random(*shape, dtype="float32"):
    return jax.random.normal(jax.random.key(sum(shape)), shape, dtype)


def close(got, want):
    assert got.shape == want.shape and np.allclose(np.asarray(got, "f8"), np.asarray(want, "f8"), atol=1e-4)


@pytest.mark.parametrize("a, b", [
    ((30, 40), (40, 20)), ((3, 30, 40), (40, 20)), ((3, 30, 40), (3, 40, 20)), ((2, 1, 5, 6), (3, 6, 7)),
    ((40,), (40, 20)), ((30, 40), (40,)), ((2, 3, 4, 5), (2, 3, 5, 6)), ((0, 4), (4, 5)), ((3, 0), (0, 5)),
    ((2, 3, 1, 4, 5), (3, 2, 5, 6))])
def test_jit(a, b):
    x, y = random(*a), random(*b)
    close(jax.jit(gj.matmul)(x, y), jnp.matmul(x, y))


def test_types():
    for dtype in ("bfloat16", "float16"):
        x, y = random(8, 9, dtype=dtype), random(9, 7, dtype=dtype)
        got = gj.matmul(x, y)
        assert got.dtype == dtype
        assert np.allclose(np.asarray(got, "f4"), np.asarray(x, "f4") @ np.asarray(y, "f4"), atol=0.1)
    i = jnp.arange(12, dtype="int8").reshape(3, 4)
    assert np.array_equal(gj.matmul(i, i.T), np.asarray(i, "i4") @ np.asarray(i, "i4").T)


def test_vmap():
    x, y = random(5, 3, 4), random(5, 4, 6)
    close(jax.vmap(gj.matmul)(x, y), x @ y)
    close(jax.vmap(gj.matmul, (0, None))(x, y[0]), x @ y[0])
    close(jax.vmap(gj.matmul, (None, 0))(x[0], y), x[0] @ y)
    close(jax.vmap(jax.vmap(gj.matmul, (None, 0)), (0, None))(x, y), x[:, None] @ y)


def test_grad():
    x, y = random(5, 3, 4), random(4, 6)
    ours = jax.grad(lambda x, y: (gj.matmul(x, y) ** 2).sum(), (0, 1))(x, y)
    want = jax.grad(lambda x, y: (jnp.matmul(x, y) ** 2).sum(), (0, 1))(x, y)
    for one, two in zip(ours, want):
        assert np.allclose(one, two, atol=1e-2)


def test_the_library_says_no():
    x = random(4, 4)
    with pytest.raises(Exception, match="host products have no epilogues"):
        gj.matmul(x, x, epilogue="bias", bias=x[0]).block_until_ready()
    with pytest.raises(gt.errors.Unsupported, match="complex64"):
        jax.jit(gj.matmul)(x.astype("complex64"), x.astype("complex64"))
    with pytest.raises(gt.errors.InvalidArgument, match="rows of 4 elements"):
        gj.matmul(x, x[:3])


CC = shutil.which(os.environ.get("CC", "cc"))


@pytest.mark.skipif(CC is None, reason="no C compiler")
def test_our_declarations_are_jaxlibs(tmp_path):
    structs = {
        "extension": ("XLA_FFI_Extension_Base", None), "version": ("XLA_FFI_Api_Version", None),
        "metadata": ("XLA_FFI_Metadata", "api_version traits"),
        "buffer": ("XLA_FFI_Buffer", "dtype data rank dims"), "span": ("XLA_FFI_ByteSpan", "ptr len"),
        "scalar": ("XLA_FFI_Scalar", "dtype value"), "error_args": ("XLA_FFI_Error_Create_Args", "message errc"),
        "stream_args": ("XLA_FFI_Stream_Get_Args", "ctx stream"),
        "memory_args": ("XLA_FFI_DeviceMemory_Allocate_Args", "ctx size alignment data"),
        "free_args": ("XLA_FFI_DeviceMemory_Free_Args", "ctx size data"),
        "ordinal_args": ("XLA_FFI_DeviceOrdinal_Get_Args", "ctx device_ordinal"),
        "call": ("XLA_FFI_CallFrame", "api ctx stage args rets attrs"),
        "api": ("XLA_FFI_Api", "api_version XLA_FFI_Error_Create XLA_FFI_Stream_Get "
                "XLA_FFI_DeviceMemory_Allocate XLA_FFI_DeviceMemory_Free XLA_FFI_DeviceOrdinal_Get"),
    }
    ours = {"api_version": "version", "errc": "code", "rets": "results", "attrs": "attributes",
            "device_ordinal": "ordinal", "XLA_FFI_Error_Create": "error_create",
            "XLA_FFI_Stream_Get": "stream_get", "XLA_FFI_DeviceMemory_Allocate": "memory_allocate",
            "XLA_FFI_DeviceMemory_Free": "memory_free", "XLA_FFI_DeviceOrdinal_Get": "ordinal_get"}
    lines = ["#include <xla/ffi/api/c_api.h>", '#include "python/native/xla_ffi.h"']
    for name, (theirs, members) in structs.items():
        for member in (members or "").split():
            lines.append(f"_Static_assert(offsetof(struct gt_xla_{name}, {ours.get(member, member)}) == "
                         f'offsetof({theirs}, {member}), "{theirs}.{member}");')
    with open(os.path.join(SRC, "python", "native", "xla_ffi.h"), encoding="ascii") as file:
        for type_name, value in re.findall(r"GT_XLA_([SFB]\w*\d\w*) = (\d+)", file.read()):
            lines.append(f'_Static_assert(XLA_FFI_DataType_{type_name} == {value}, "{type_name}");')
    lines.append('_Static_assert(XLA_FFI_ExecutionStage_EXECUTE == GT_XLA_EXECUTE && XLA_FFI_Extension_Metadata == '
                 'GT_XLA_METADATA && XLA_FFI_AttrType_STRING == GT_XLA_STRING && XLA_FFI_AttrType_SCALAR == '
                 'GT_XLA_SCALAR, "numbers");')
    source = tmp_path / "check.c"
    source.write_text("\n".join(lines) + "\n")
    subprocess.run([CC, "-std=c11", "-fsyntax-only", "-I", SRC, "-I", jax.ffi.include_dir(), source], check=True)
