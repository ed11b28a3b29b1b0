#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# recipes.sh - the recipes of conda and of Spack, and Debian's control file, are sound texts that have the
# header's version and the Makefile's libraries; the files that conda's test asks for are installed.
. "${GT_SRC:-.}/tests/cli/lib.sh"
if ! python3 -c 'import yaml' 2>/dev/null; then
    echo "ok - recipes # SKIP python3-yaml is not installed"
    exit 0
fi
make -C "$GT_SRC" --no-print-directory -n -o all BUILD="$GT_BUILD" PREFIX=/p install >"$work/install" 2>"$work/err"
code=$?
verdict "what make install would do" "$code"
"$GEMMTUNE" --version | sed -n '1s/gemmtune //p' >"$work/version"

# holds NAME: the text on stdin is Python that asserts; it has the recipes and the Makefile's libraries
holds() {
    {
        cat "$GT_SRC/tests/packages/recipes.py"
        cat
    } >"$work/asserts.py"
    (cd "$GT_SRC" && python3 "$work/asserts.py" "$work") >"$work/out" 2>"$work/err"
    code=$?
    verdict "$1" "$code"
}
holds "the Makefile's libraries have a name everywhere" <<'END'
assert libraries and set(libraries) <= set(NAMES), libraries
END
holds "conda: the version" <<'END'
assert conda["context"]["version"] == version, conda["context"]
END
holds "conda: the libraries" <<'END'
assert set(conda["requirements"]["host"]) == {NAMES[l]["conda"] for l in libraries}
END
holds "conda: the source is this tree" <<'END'
import os
top = os.path.normpath(os.path.join("tools/packages/conda", conda["source"]["path"]))
assert os.path.exists(os.path.join(top, "Makefile")) and os.path.exists(conda["about"]["license_file"])
END
holds "conda: the files that its test asks for are installed" <<'END'
asked = [t["package_contents"] for t in conda["tests"] if "package_contents" in t]
files = [f for c in asked for f in c["files"]] + ["bin/" + f for c in asked for f in c["bin"]] + \
    ["include/" + f for c in asked for f in c["include"]] + ["lib/lib%s.so" % f for c in asked for f in c["lib"]]
assert len(files) > 4
for file in files:
    assert file in installed, file
END
holds "Spack: the version" <<'END'
assert spack["version"] == [version], spack
END
holds "Spack: the libraries" <<'END'
tools = {"c", "gmake", "pkgconfig"}
assert {d.split("@")[0] for d in spack["depends_on"]} - tools == {NAMES[l]["spack"] for l in libraries}, spack
END
holds "Spack: build and install are given a prefix" <<'END'
calls = []
scope["make"] = lambda *words: calls.append(words)
package = scope["Gemmtune"]()
package.build(None, "/p")
package.install(None, "/p")
assert calls == [("all", "PREFIX=/p"), ("install", "PREFIX=/p")], calls
END
holds "Debian: the changelog's version" <<'END'
assert open("tools/packages/debian/changelog").readline().startswith("gemmtune (%s) " % version)
END
holds "Debian: the libraries" <<'END'
first = open("tools/packages/debian/control").read().split("\n\n")[0]
needs = first.split("Build-Depends: ")[1].splitlines()[0].split(", ")
assert {n for n in needs if n.startswith("lib") or n.startswith("zlib")} == {NAMES[l]["debian"] for l in libraries}
END
holds "tools/setup: the libraries" <<'END'
line = next(l for l in open("tools/setup") if l.strip().startswith("build) echo"))
assert all(NAMES[l]["debian"] in line for l in libraries), line
END
holds "examples/CMakeLists.txt asks for this ABI" <<'END'
import re
asked = set(re.findall(r"find_package\(gemmtune ([0-9.]+)", open("examples/CMakeLists.txt").read()))
assert len(asked) == 1 and version.startswith(asked.pop() + "."), asked
END
finish
