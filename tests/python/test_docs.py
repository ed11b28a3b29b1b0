# SPDX-License-Identifier: Apache-2.0
"""The page docs/python.md, the docstrings, the types and the notebook."""

import contextlib
import inspect
import io
import json
import os
import subprocess
import sys

import pytest
from conftest import SRC

import gemmtune as gt


def tool(*arguments):
    return subprocess.run([sys.executable, os.path.join(SRC, "tools", "python-docs"), *arguments],
                          capture_output=True, text=True, check=False)


def test_the_page_is_current():
    done = tool("--check")
    assert done.returncode == 0, done.stderr


def test_every_public_name_says_shapes_units_and_errors():
    assert tool("--bare").stdout == ""


def test_every_public_function_has_types():
    for name in gt.__all__:
        value = getattr(gt, name)
        if inspect.isfunction(value):
            signature = inspect.signature(value)
            assert signature.return_annotation is not inspect.Signature.empty, name
            for argument in signature.parameters.values():
                assert argument.annotation is not inspect.Parameter.empty, (name, argument.name)
    assert os.path.exists(os.path.join(SRC, "python", "gemmtune", "py.typed"))


def test_the_notebook_runs(opencl, tmp_path, monkeypatch):
    """Each cell in turn, as Jupyter runs them: the last expression of a cell is shown."""
    import ast
    monkeypatch.setenv("GEMMTUNE_DB", str(tmp_path / "notebook.db"))
    gt.reload()
    with open(os.path.join(SRC, "examples", "naive_to_tuned.ipynb"), encoding="utf-8") as file:
        notebook = json.load(file)
    space, shown = {}, []
    try:
        for cell in notebook["cells"]:
            if cell["cell_type"] != "code":
                continue
            assert cell["outputs"] == [] and cell["execution_count"] is None
            body = ast.parse("".join(cell["source"])).body
            last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
            with contextlib.redirect_stderr(io.StringIO()):
                exec(compile(ast.Module(body, []), "cell", "exec"), space)
                value = eval(compile(ast.Expression(last.value), "cell", "eval"), space) if last else None
            if hasattr(value, "_repr_html_"):
                shown.append(value._repr_html_())
    finally:
        monkeypatch.undo()
        gt.reload()
    assert len(shown) >= 4 and all("<table>" in text for text in shown)
