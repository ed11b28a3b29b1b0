# SPDX-License-Identifier: Apache-2.0
"""Makes the wheel (PEP 517, PEP 660) of what make has built, with the standard library alone.

The wheel holds the package, libgemmtune.so, the program and the folder devices/. Nothing in it
depends on a version of Python. Its tag names the glibc that its binaries really need.
"""

import base64
import gzip
import hashlib
import io
import os
import platform
import re
import subprocess
import sys
import tarfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NEEDS_GLIBC = re.compile(rb"GLIBC_2\.(\d+)")
EXTRAS = {
    "cuda13": ["nvidia-cuda-nvrtc>=13,<14"],
    "cuda12": ["nvidia-cuda-nvrtc-cu12>=12,<13"],
    "numpy": ["numpy", "ml_dtypes"],
}
DATE = (2020, 1, 1, 0, 0, 0)


def read(*path):
    with open(os.path.join(ROOT, *path), "rb") as file:
        return file.read()


def version():
    header = read("include", "gemmtune.h").decode()
    return ".".join(re.search(rf"GEMMTUNE_VERSION_{part} (\d+)", header)[1]
                    for part in ("MAJOR", "MINOR", "PATCH"))


def build_folder():
    return os.path.join(ROOT, os.environ.get("BUILD", "build"))


# ---- what is in a wheel --------------------------------------------------------------------------

def metadata():
    lines = [
        "Metadata-Version: 2.1", "Name: gemmtune", f"Version: {version()}",
        "Summary: The fastest matrix multiplication that a GPU or CPU can do, found by trying",
        "License: Apache-2.0", "Requires-Python: >=3.9",
        "Classifier: Operating System :: POSIX :: Linux",
        "Classifier: License :: OSI Approved :: Apache Software License",
        "Description-Content-Type: text/markdown",
    ]
    for extra, needs in EXTRAS.items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {need}; extra == '{extra}'" for need in needs]
    return ("\n".join(lines) + "\n\n").encode() + read("docs", "python.md")


def tag_of(binaries):
    """The tag of binaries: manylinux_2_N for the newest glibc symbol that one of them names."""
    needs = [int(minor) for path in binaries for minor in NEEDS_GLIBC.findall(_dynamic(path))]
    machine = _machine(binaries[0])
    return f"py3-none-manylinux_2_{max(needs + [17])}_{machine}"


def _machine(path):
    """The processor that an ELF file is for."""
    with open(path, "rb") as file:
        number = int.from_bytes(file.read(20)[18:20], "little")
    return {62: "x86_64", 183: "aarch64"}.get(number, platform.machine())


def _dynamic(path):
    """The names in an ELF file's .dynstr, versions among them."""
    with open(path, "rb") as file:
        data = file.read()
    place = int.from_bytes(data[40:48], "little")
    size, count, names = (int.from_bytes(data[at:at + 2], "little") for at in (58, 60, 62))
    sections = [data[place + i * size:place + (i + 1) * size] for i in range(count)]

    def field(section, at):
        return int.from_bytes(section[at:at + 8], "little")

    def name(section):
        at = field(sections[names], 24) + int.from_bytes(section[:4], "little")
        return data[at:data.index(b"\0", at)]

    return b"\n".join(data[field(s, 24):field(s, 24) + field(s, 32)]
                      for s in sections if name(s) == b".dynstr")


def package_files():
    """(name in the wheel, bytes) of the package itself."""
    folder = os.path.join(ROOT, "python", "gemmtune")
    for place, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            if name.endswith((".py", ".pyi", ".typed")):
                path = os.path.join(place, name)
                yield os.path.relpath(path, os.path.dirname(folder)), read(path)


def device_files():
    folder = os.path.join(ROOT, "devices")
    for place, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            path = os.path.join(place, name)
            yield "gemmtune/" + os.path.relpath(path, ROOT), read(path)


def binaries():
    """(name in the wheel, path) of what make has put into BUILD/wheel."""
    folder = os.path.join(build_folder(), "wheel")
    for inside in ("lib", "bin"):
        for name in sorted(os.listdir(os.path.join(folder, inside))):
            yield f"gemmtune/{inside}/{name}", os.path.join(folder, inside, name)


def licenses(info):
    yield f"{info}/licenses/LICENSE", read("LICENSE")
    for package in ("libcjson1", "zlib1g"):
        path = f"/usr/share/doc/{package}/copyright"
        if os.path.exists(path):
            with open(path, "rb") as file:
                yield f"{info}/licenses/{package}", file.read()


def make():
    """Has make build the binaries, unless they are named to be there (GEMMTUNE_WHEEL_BUILT)."""
    if os.environ.get("GEMMTUNE_WHEEL_BUILT"):
        return
    command = ["make", f"-j{os.cpu_count() or 1}", f"BUILD={os.path.relpath(build_folder(), ROOT)}", "wheel-parts"]
    try:
        done = subprocess.run(command, cwd=ROOT, stdout=sys.stderr).returncode
    except FileNotFoundError:
        done = "there is no make"
    if done:
        raise SystemExit(
            f"gemmtune: {' '.join(command)} failed ({done}): run `make setup` in {ROOT}, which "
            "installs the compiler, SQLite, cJSON and zlib")


# ---- files that frontends ask for ------------------------------------------------------------------

def write_wheel(path, files, tag, info):
    """Writes [(name, bytes, mode)] and the record of them."""
    files = list(files)
    files.append((f"{info}/METADATA", metadata(), 0o644))
    files.append((f"{info}/WHEEL", (
        "Wheel-Version: 1.0\nGenerator: gemmtune\nRoot-Is-Purelib: false\n"
        f"Tag: {tag}\n").encode(), 0o644))
    files.append((f"{info}/entry_points.txt",
                  b"[console_scripts]\ngemmtune = gemmtune.__main__:main\n", 0o644))
    files += [(name, data, 0o644) for name, data in licenses(info)]
    record = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data, mode in files:
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}")
            _put(wheel, name, data, mode)
        record.append(f"{info}/RECORD,,")
        _put(wheel, f"{info}/RECORD", "".join(line + "\n" for line in record).encode(), 0o644)


def _put(wheel, name, data, mode):
    entry = zipfile.ZipInfo(name, DATE)
    entry.external_attr = (0o100000 | mode) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    wheel.writestr(entry, data)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    make()
    built = list(binaries())
    tag = tag_of([path for _, path in built])
    files = [(name, data, 0o644) for name, data in (*package_files(), *device_files())]
    for name, path in built:
        with open(path, "rb") as file:
            files.append((name, file.read(), 0o755))
    name = f"gemmtune-{version()}-{tag}.whl"
    write_wheel(os.path.join(wheel_directory, name), files, tag, f"gemmtune-{version()}.dist-info")
    return name


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """The package in this clone, with the library of its build."""
    subprocess.run(["make", f"-j{os.cpu_count() or 1}", "all"], cwd=ROOT, stdout=sys.stderr, check=True)
    tag = f"py3-none-linux_{platform.machine()}"
    name = f"gemmtune-{version()}-{tag}.whl"
    path = [("gemmtune.pth", (os.path.join(ROOT, "python") + "\n").encode(), 0o644)]
    write_wheel(os.path.join(wheel_directory, name), path, tag, f"gemmtune-{version()}.dist-info")
    return name


def build_sdist(sdist_directory, config_settings=None):
    """What git tracks, and PKG-INFO."""
    top = f"gemmtune-{version()}"
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, stdout=subprocess.PIPE,
                             check=True).stdout.decode().split("\0")
    name = f"{top}.tar.gz"
    with gzip.GzipFile(os.path.join(sdist_directory, name), "w", mtime=0) as packed, \
            tarfile.open(fileobj=packed, mode="w") as archive:
        for path in filter(None, tracked):
            archive.add(os.path.join(ROOT, path), f"{top}/{path}", recursive=False)
        info = tarfile.TarInfo(f"{top}/PKG-INFO")
        data = metadata()
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return name


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_editable = get_requires_for_build_sdist = get_requires_for_build_wheel

if __name__ == "__main__":
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    print(os.path.join(folder, build_wheel(folder)))
