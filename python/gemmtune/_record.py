# SPDX-License-Identifier: Apache-2.0
"""record: which problems ran, and how often."""

from __future__ import annotations

import json
import threading
from typing import Dict

active = []   # the recorders inside of their `with`
_lock = threading.Lock()


def entry_of(name, weight):
    """A name and a weight as an entry of a sweep file (docs/guide.md)."""
    name, _, epilogue = name.partition(",epi=")
    head, *options = name.split(",")
    types, layout, sizes = head.rsplit("-", 2)
    entry = {"dtype": types, "layout": layout}
    entry.update(zip("mnk", map(int, sizes.split("x"))))
    for option in options:
        word, _, value = option.partition("=")
        entry[word] = int(value) if value else True
    if epilogue:
        entry["epi"] = epilogue
    entry["weight"] = max(1, min(weight, 1000000))
    return entry


class Recorder:
    """The problems that ran inside of the `with` of `record()`.

    `problems`: {name: calls}. Iterating gives the names, most called first. `save(path)` writes the
    list that `gemmtune tune --sizes` and `gemmtune.tune` take, with the calls as weights.
    """

    def __init__(self):
        self.problems: Dict[str, int] = {}
        self._calls = {}

    def __enter__(self) -> "Recorder":
        with _lock:
            active.append(self)
        return self

    def __exit__(self, *raised) -> None:
        with _lock:
            active.remove(self)

    def __iter__(self):
        return iter(sorted(self.problems, key=self.problems.get, reverse=True))

    def __len__(self) -> int:
        return len(self.problems)

    def sweep(self) -> dict:
        """The problems as a sweep file's document, each with its calls as its weight."""
        return {"format": 1, "sizes": [entry_of(name, self.problems[name]) for name in self]}

    def save(self, path: str) -> None:
        """Writes the sweep file. Errors: OSError."""
        with open(path, "w", encoding="ascii") as file:
            json.dump(self.sweep(), file, indent=1)
            file.write("\n")

    def __repr__(self):
        return f"<gemmtune record of {len(self)} problems, {sum(self.problems.values())} calls>"

    def _repr_html_(self):
        from . import _rows
        return _rows.table([{"problem": name, "calls": self.problems[name]} for name in self])


def note(product):
    """Counts a call for every recorder."""
    if not hasattr(product, "recorded_as"):
        from ._matmul import name_of
        product.recorded_as = name_of(product)
    if 0 in product.request.shapes.full or not product.request.shapes.a.shape[-1]:
        return
    with _lock:
        for recorder in active:
            counts = recorder.problems
            counts[product.recorded_as] = counts.get(product.recorded_as, 0) + 1


def record() -> Recorder:
    """Writes down which problems matmul and plans compute inside of a `with`, in all threads.

        with gemmtune.record() as sizes:
            model(x)
        gemmtune.tune(sizes, budget="5m")

    Shapes: products without elements are left out, since there is nothing to tune. Units: calls.
    Errors: none.
    """
    return Recorder()
