# SPDX-License-Identifier: Apache-2.0
"""The structs and numbers of _abi.py beside those of gemmtune.h, by the compiler."""

import ctypes
import os
import re
import shutil
import subprocess

import pytest
from conftest import SRC

from gemmtune import _abi, _rival, errors

CC = shutil.which(os.environ.get("CC", "cc"))
HEADER = os.path.join(SRC, "include", "gemmtune.h")


def compiled(tmp_path, lines):
    """What a C program prints that has these lines in its main()."""
    source, program = tmp_path / "abi.c", tmp_path / "abi"
    source.write_text("#include <gemmtune.h>\n#include <stdio.h>\nint main(void) {\n" +
                      "\n".join(lines) + "\nreturn 0;\n}\n")
    subprocess.run([CC, "-I", os.path.join(SRC, "include"), "-o", program, source], check=True)
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()


STRUCTS = {**_abi.STRUCTS, "gemmtune_rival_info": _rival.RivalInfo}


@pytest.mark.skipif(CC is None, reason="no C compiler")
@pytest.mark.parametrize("name", STRUCTS)
def test_struct_is_the_headers(tmp_path, name):
    struct = STRUCTS[name]
    with open(HEADER, encoding="ascii") as file:
        if f"struct {name} " not in file.read():
            pytest.skip(f"this header has no {name}")
    lines = [f'printf("%zu\\n", sizeof({name}));']
    want = [ctypes.sizeof(struct)]
    for member, _ in struct._fields_:
        c_member = member.rstrip("_")
        lines.append(f'printf("%zu %zu\\n", offsetof({name}, {c_member}), '
                     f'sizeof((({name} *)0)->{c_member}));')
        field = getattr(struct, member)
        want += [field.offset, field.size]
    assert list(map(int, compiled(tmp_path, lines))) == want


@pytest.mark.skipif(CC is None, reason="no C compiler")
def test_numbers_are_the_headers(tmp_path):
    pairs = {f"GEMMTUNE_{word.upper()}": number for number, word in enumerate(_abi.TYPES)}
    pairs |= {f"GEMMTUNE_MATH_{word.upper()}": number for number, word in enumerate(_abi.MATHS)}
    pairs |= {f"GEMMTUNE_MATCH_{word.upper()}": number for number, word in enumerate(_abi.MATCHES)}
    pairs |= {"GEMMTUNE_COL_MAJOR": _abi.COL_MAJOR, "GEMMTUNE_ROW_MAJOR": _abi.ROW_MAJOR,
              "GEMMTUNE_CUDA": _abi.CUDA, "GEMMTUNE_OPENCL": _abi.OPENCL}
    got = compiled(tmp_path, [f'printf("%d\\n", (int){name});' for name in pairs])
    assert list(map(int, got)) == list(pairs.values())


def test_every_status_has_an_exception():
    with open(HEADER, encoding="ascii") as file:
        listed = re.findall(r"^    X\(GEMMTUNE_E\w+, (-\d+),", file.read(), re.M)
    assert sorted(map(int, listed)) == sorted(errors.BY_STATUS)


def test_no_function_has_another_number_of_arguments():
    with open(HEADER, encoding="ascii") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    for name, (_, *arguments) in _abi._PROTOTYPES.items():
        listed = re.search(rf"\b{name}\(([^)]*)\)", text)[1]
        count = 0 if listed.strip() == "void" else listed.count(",") + 1
        assert count == len(arguments), name
