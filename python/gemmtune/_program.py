# SPDX-License-Identifier: Apache-2.0
"""The program as functions: each runs `gemmtune COMMAND --json` and gives what it prints."""

from __future__ import annotations

import html
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from typing import Any, Iterable, Optional, Union

from . import _devices, _library, _matmul, _record, errors
from ._rows import Facts, Rows

_STOPPED = (75, 130, -signal.SIGINT)


def _notebook():
    """A function that shows a line of progress in one place of a notebook; None outside of one."""
    display = sys.modules.get("IPython.display")
    shell = sys.modules["IPython"].get_ipython() if display else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    handle = display.display(display.HTML(""), display_id=True)

    def show(line):
        at = re.match(r"\[(\d+)/(\d+)\]", line)
        bar = f'<progress value="{at[1]}" max="{at[2]}"></progress> ' if at else ""
        handle.update(display.HTML(f"{bar}<code>{html.escape(line.strip())}</code>"))

    return show


def _say(stream, to):
    """Hands a child's lines on as they come: as a bar in a notebook, else to sys.stderr."""
    show = _notebook()
    for line in stream:
        to.append(line)
        if show is not None:
            show(line)
        else:
            sys.stderr.write(line)
            sys.stderr.flush()


def _inherits():
    """Whether a child's standard error is the terminal of sys.stderr, where the program draws its
    progress. In a notebook it is not."""
    try:
        return sys.stderr.fileno() == 2 and os.isatty(2)
    except (AttributeError, OSError, ValueError):
        return False


def _wait(child):
    """The child's standard output. After Ctrl-C the child saves what it has, and ends."""
    try:
        return child.communicate()[0]
    except KeyboardInterrupt:
        child.send_signal(signal.SIGINT)
        child.communicate()
        raise


def _run(arguments, quiet=True):
    """What the program prints, decoded from JSON. Its last line of talk is the error's text."""
    command = [_library.program_path(), *map(str, arguments)]
    if not quiet and _inherits():
        said, standard_error = [], None
    else:
        said, standard_error = [], subprocess.PIPE
    try:
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=standard_error, text=True,
                                 env=_library.program_environment())
    except OSError as reason:
        raise errors.FileError(f"the program cannot be started ({reason}): install the wheel, run make, "
                               "or name it in GEMMTUNE_PROGRAM") from None
    reader = None
    if standard_error is not None:
        talk = child.stderr
        child.stderr = None   # communicate() leaves it to the reader
        work = (lambda: said.extend(talk)) if quiet else (lambda: _say(talk, said))
        reader = threading.Thread(target=work, daemon=True)
        reader.start()
    output = _wait(child)
    if reader is not None:
        reader.join()
        talk.close()
    return _answer(child.returncode, output, said, arguments[0])


def _answer(code, output, said, command):
    lines = [line.strip() for line in said if line.strip()]
    if code in _STOPPED:
        raise errors.Stopped(f"gemmtune {command} was stopped: all is saved, and the same call goes on")
    try:
        document = json.loads(output) if output.strip() else None
    except ValueError:
        document = None
    if code != 0 and (document is None or code != 1):
        line = next((text for text in reversed(lines) if text.startswith("gemmtune")), None)
        line = line or (lines[-1] if lines else f"gemmtune {command} failed with exit code {code}, "
                        "for the reason that it printed")
        raise errors.ProgramError(line.removeprefix("gemmtune: "), code)
    return document


def _options(**given):
    """Options of the program: --name value, or --name alone for True. None and False are left out."""
    words = []
    for name, value in given.items():
        if value is None or value is False:
            continue
        words.append("--" + name.replace("_", "-"))
        if value is not True:
            words.append(value)
    return words


def _word_for(device):
    """A device as the program takes it: an index, or a word of gemmtune.matmul's as an index."""
    if isinstance(device, str) and device.partition(":")[0] in ("cuda", "opencl"):
        backend, index = _devices.word_of(device)
        return index + (len(_devices.list_of("cuda")) if backend == "opencl" else 0)
    return device


def _here(device):
    """As _word_for; None stands for $GEMMTUNE_DEVICE, or the first device."""
    return _word_for(os.environ.get("GEMMTUNE_DEVICE") or 0 if device is None else device)


def _seconds(budget):
    return f"{budget:g}s" if isinstance(budget, (int, float)) else budget


Problems = Union[str, Iterable[str], "_record.Recorder", dict]


class _Sizes:
    """The problems of a call as arguments of the program; a temporary file for a sweep."""

    def __init__(self, problems):
        self.path = None
        if isinstance(problems, _record.Recorder):
            problems = problems.sweep()
        if isinstance(problems, dict):
            handle, self.path = tempfile.mkstemp(suffix=".json", prefix="gemmtune-")
            with os.fdopen(handle, "w", encoding="ascii") as file:
                json.dump(problems, file)
            self.words = ["--sizes", self.path]
        elif isinstance(problems, (str, os.PathLike)):
            text = os.fspath(problems)
            self.words = ["--sizes", text] if text.endswith(".json") else [text]
        else:
            self.words = list(problems)

    def __enter__(self):
        return self.words

    def __exit__(self, *raised):
        if self.path:
            os.unlink(self.path)


def devices() -> Rows:
    """The devices of this machine, a row each: index, backend, name, key, units, memory_bytes, compiler.

    Units: as the columns say. Errors: errors.ProgramError.
    """
    return Rows(_run(["devices", "--json"]) or [])


def tune(problems: Problems, *, budget: Union[str, float, None] = None, device: Any = None,
         effort: Optional[str] = None, database: Optional[str] = None, again: bool = False,
         quiet: bool = False, **options: Any) -> Rows:
    """Searches for the fastest kernel of each problem and stores it. A row for each problem.

    problems: a name ("f32-nn-512x384x256", as `problem` gives it), several names, a sweep (its dict,
        or the path of its .json), or what `record` wrote down, where calls are weights.
    budget: time for all problems together: seconds, or "90s", "5m", "1h".
    device: as matmul's. effort: "quick", "normal" or "full". database: a path.
    again: search problems again that are tuned already. quiet: no progress on stderr.
    options: other options of `gemmtune help tune`, as family="tile", jobs=2.

    Later products use the results; plans that exist stay as they are. Ctrl-C loses nothing.

    Units: times in the rows are nanoseconds (`_ns`) and seconds.
    Errors: errors.Stopped after Ctrl-C or a signal; errors.ProgramError.
    """
    words = _options(device=_here(device), budget=_seconds(budget), effort=effort, db=database,
                     again=again, quiet=quiet, **options)
    try:
        with _Sizes(problems) as sizes:
            rows = _run(["tune", *words, "--json", *sizes], quiet)
    finally:
        _matmul.reload(_devices.database(), _devices.pins())
    return Rows(rows or [])


def records(database: Optional[str] = None, device: Optional[str] = None) -> Rows:
    """The winners in the database, a row for each problem and device.

    device: a part of a device's key or name. Units: as the columns say (`median_ns`, `gflops`).
    Errors: errors.ProgramError.
    """
    return Rows(_run(["list", *_options(db=database, device=device), "--json"]) or [])


def trials(problem: str, database: Optional[str] = None, device: Optional[str] = None) -> Rows:
    """Every trial of a problem, the winner first, then failures by outcome; a row each.

    In a notebook a picture above the table has a bar for each correct trial, as long as its rate.

    device: a part of a device's key or name. Units: as the columns say. Errors: errors.ProgramError.
    """
    rows = _run(["show", *_options(db=database, device=device), "--json", problem]) or []
    return Rows(rows, _bars(rows))


def lookup(problem: str, *, device: Any = None, database: Optional[str] = None,
           workspace: Optional[str] = None) -> Facts:
    """The stored result that the library would use for a problem, and why.

    device: as matmul's, or a part of the name of one that the database knows. workspace: what the
    caller has, "0", "32MiB" or "none". Units: `median_ns`, `workspace_bytes`, `expected_loss_percent`.
    Errors: errors.ProgramError.
    """
    return Facts(_run(["lookup", *_options(device=_here(device), db=database, workspace=workspace),
                       "--json", problem]))


def explain(problem: str, *, device: Any = None, point: Optional[str] = None,
            database: Optional[str] = None, **options: Any) -> Facts:
    """A problem's operations, traffic, intensity and shortest possible time.

    In a notebook a roofline is drawn where the device's peaks are known. point: a family and its
    parameters, to predict as well. options: others of `gemmtune help explain`, as peak_gflops=4000.

    Units: `flops`, `_bytes`, `_ns`, `_gflops`, `_gbs`; intensity in operations a byte.
    Errors: errors.ProgramError.
    """
    facts = Facts(_run(["explain", *_options(device=_here(device), point=point, db=database, **options),
                        "--json", problem]))
    facts.picture = _roofline(facts)
    return facts


def compare(a: str, b: str, *, sizes: Problems = None, database: Optional[str] = None,
            **options: Any) -> Rows:
    """Two devices beside each other: tuned here, published by others, predicted by the model.

    a, b: keys, parts of names, or names of device files ("gtx-1050-3gb"). sizes: problems to predict
    as well, as tune's. options: others of `gemmtune help compare`. In a notebook the program's picture
    is above the table, and `facts` has the two devices and the means of the ratios. Units: `_ns`, `_gflops`; `ratio` is the time on a over the time on b.
    Errors: errors.ProgramError.
    """
    with tempfile.TemporaryDirectory(prefix="gemmtune-") as folder:
        drawn = os.path.join(folder, "compare.svg")
        words = _options(db=database, svg=drawn, quiet=True, **options)
        if sizes is not None and not isinstance(sizes, (dict, _record.Recorder)) and \
                not os.fspath(sizes if isinstance(sizes, str) else "").endswith(".json"):
            sizes = {"format": 1, "sizes": [sizes] if isinstance(sizes, str) else list(sizes)}
        with _Sizes(sizes if sizes is not None else []) as more:
            rows = _run(["compare", *words, *more, "--json", a, b])
        picture = None
        if os.path.exists(drawn):
            with open(drawn, encoding="utf-8") as file:
                picture = file.read()
    facts = rows or {"rows": []}
    return Rows(facts.pop("rows"), picture, facts)


_BARS_MAX = 60
_COLOURS = ("#36c", "#c33", "#2a2", "#c80", "#808", "#088", "#666", "#b5b")


def _bars(rows):
    """The rates of the fastest correct trials as bars (SVG), a colour for each family; None for none."""
    right = sorted((row for row in rows if row["outcome"] == "correct" and row["gflops"]),
                   key=lambda row: -row["gflops"])[:_BARS_MAX]
    if not right:
        return None
    families = list(dict.fromkeys(row["family"] for row in right))
    drawn = []
    for i, row in enumerate(right):
        colour = _COLOURS[families.index(row["family"]) % len(_COLOURS)]
        length = max(1, 480 * row["gflops"] / right[0]["gflops"])
        point = html.escape(f"{row['family']} {row['point']}: {row['gflops']:.6g} GFLOP/s", quote=True)
        drawn.append(f'<rect x="150" y="{10 + 8 * i}" width="{length:.1f}" height="6" fill="{colour}">'
                     f"<title>{point}</title></rect>")
    for i, family in enumerate(families):
        drawn.append(f'<text x="10" y="{18 + 16 * i}" fill="{_COLOURS[i % len(_COLOURS)]}">'
                     f"{html.escape(family)}</text>")
    height = 20 + max(8 * len(right), 16 * len(families))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="700" height="{height}" font-family="sans-serif" '
            f'font-size="12"><text x="640" y="18" fill="currentColor">{right[0]["gflops"]:.4g}</text>'
            + "".join(drawn) + "</svg>")


def _roofline(facts):
    """A roofline as SVG, with the problem's two intensities; None without the device's peaks."""
    import math
    peak, bandwidth = facts.get("peak_gflops"), facts.get("bandwidth_gbs")
    if not peak or not bandwidth:
        return None
    marks = [("every element read each time", facts["naive_intensity"]),
             ("every element read once", facts["perfect_intensity"])]
    ridge = peak / bandwidth
    low = math.floor(math.log10(min(ridge, *(at for _, at in marks)))) - 1
    high = math.ceil(math.log10(max(ridge, *(at for _, at in marks)))) + 1
    top = math.log10(peak)

    def place(intensity):
        x = 60 + 480 * (math.log10(intensity) - low) / (high - low)
        y = 30 + 60 * (top - math.log10(min(peak, intensity * bandwidth)))
        return x, min(y, 270)

    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(place, (10.0**low, ridge, 10.0**high)))
    drawn = [f'<polyline points="{points}" fill="none" stroke="currentColor"/>',
             f'<text x="60" y="20">{peak:.6g} GFLOP/s, {bandwidth:.6g} GB/s</text>']
    for (name, intensity), color in zip(marks, ("#c33", "#36c")):
        x, y = place(intensity)
        drawn.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{color}"/>'
                     f'<text x="{x + 8:.1f}" y="{y + 16:.1f}" fill="{color}">{name}: '
                     f'{intensity:.3g} FLOP/B</text>')
    return ('<svg xmlns="http://www.w3.org/2000/svg" width="700" height="300" font-family="sans-serif" '
            'font-size="12" fill="currentColor">' + "".join(drawn) + "</svg>")
