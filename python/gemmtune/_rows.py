# SPDX-License-Identifier: Apache-2.0
"""Rows: what the program prints as JSON, as a list of dicts and as a table in a notebook."""

from __future__ import annotations

import html
from typing import Any, Optional


def _text(value):
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


def table(rows, picture=None):
    """Rows as HTML, below a picture where there is one."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(_text(row.get(name)))}</td>" for name in names) + "</tr>"
        for row in rows)
    shown = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if rows else \
        "<em>nothing</em>"
    return (picture or "") + shown


class Rows(list):
    """A list of dicts, one for each row; `pandas.DataFrame(rows)` takes it.

    In a notebook it is a table, below `picture`, the program's own drawing (SVG text), where it made
    one. `columns`: the names of all columns, in the program's order. docs/guide.md and `gemmtune help
    COMMAND` say what they mean; units are in the names: `_ns`, `_bytes`, `gflops`. `facts`: what the
    program says of all rows together, where it does.
    """

    def __init__(self, rows=(), picture: Optional[str] = None, facts: Optional[dict] = None):
        super().__init__(rows)
        self.picture, self.facts = picture, facts or {}

    @property
    def columns(self) -> list:
        """The names of all columns."""
        return list(dict.fromkeys(name for row in self for name in row))

    def to_pandas(self) -> Any:
        """A pandas.DataFrame. Errors: ImportError without pandas."""
        import pandas
        return pandas.DataFrame(list(self), columns=self.columns)

    def _repr_html_(self):
        return table(self, self.picture)


class Facts(dict):
    """A dict of facts about one problem; in a notebook a table of two columns, below its picture."""

    picture: Optional[str] = None

    def _repr_html_(self):
        return table([{"": name, "value": value} for name, value in self.items()], self.picture)
