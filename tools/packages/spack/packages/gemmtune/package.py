# SPDX-License-Identifier: Apache-2.0
"""gemmtune for Spack, built from this tree:

    spack repo add tools/packages/spack
    spack dev-build gemmtune@0.3.0
"""

from spack.package import *

try:
    from spack_repo.builtin.build_systems.makefile import MakefilePackage
except ImportError:
    pass  # before Spack 1.0 it is one of spack.package's names


class Gemmtune(MakefilePackage):
    """Finds the fastest matrix multiplication that a device can do, by trying: a program that tunes,
    and a C library that launches the kernels that were found."""

    license("Apache-2.0")

    version("0.3.0")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cjson")
    depends_on("sqlite@3.24:")
    depends_on("zlib-api")

    conflicts("platform=darwin")
    conflicts("platform=windows")

    def build(self, spec, prefix):
        make("all", f"PREFIX={prefix}")

    def install(self, spec, prefix):
        make("install", f"PREFIX={prefix}")
