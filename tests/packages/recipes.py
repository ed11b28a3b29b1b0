# SPDX-License-Identifier: Apache-2.0
"""Read by recipes.sh before its assertions: the recipes, and what they have to agree with. Run from the
root of the tree; the argument is a folder with `version` and `install`, the output of make -n install."""

import re
import sys
import types

import yaml

work = sys.argv[1]
version = open(work + "/version").read().strip()

# What the Makefile asks pkg-config for, and how each library is called elsewhere.
NAMES = {
    "sqlite3": {"conda": "sqlite", "spack": "sqlite", "debian": "libsqlite3-dev"},
    "libcjson": {"conda": "cjson", "spack": "cjson", "debian": "libcjson-dev"},
    "zlib": {"conda": "zlib", "spack": "zlib-api", "debian": "zlib1g-dev"},
}
makefile = open("Makefile").read()
shipped = re.findall(r"^(?:DEP_LIBS|PROG_LIBS) *:= \$\(or \$\(call pkg,libs ([a-z0-9 ]+)\)", makefile, re.M)
libraries = " ".join(shipped).split()

conda = yaml.safe_load(open("tools/packages/conda/recipe.yaml"))

# SOURCE:FOLDER of each file, as the recipe of install has them, and the links.
words = open(work + "/install").read().split()
installed = {w.split(":")[1] + "/" + w.split(":")[0].split("/")[-1] for w in words if w.count(":") == 1}
installed |= set(w.rstrip(";") for w in words)
installed = {re.sub("^/p/", "", w) for w in installed}

# Spack's package with a Spack that notes what it is told.
spack = {"version": [], "depends_on": []}


def noted(name):
    return lambda value, **_: spack.setdefault(name, []).append(value)


module = types.ModuleType("spack.package")
for name in ("version", "depends_on", "license", "conflicts"):
    setattr(module, name, noted(name))
module.MakefilePackage = object
sys.modules["spack"] = types.ModuleType("spack")
sys.modules["spack.package"] = module
scope = {}
exec(compile(open("tools/packages/spack/packages/gemmtune/package.py").read(), "package.py", "exec"), scope)
assert yaml.safe_load(open("tools/packages/spack/repo.yaml"))["repo"]["namespace"] == "gemmtune"
