"""Compiles what search does at each request (`native/`); where there is no compiler, search does it in numpy."""

from pathlib import Path
from sysconfig import get_platform
from tempfile import TemporaryDirectory
from typing import Any
from zlib import crc32

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE = "src/pegboard/index/native/kernel.c"
EXACT = ["-O3", "-g0", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
"""The same numbers as numpy: no multiplication is fused with an addition."""


class KernelHook(BuildHookInterface):
    """Runs before a wheel, or what an editable install needs, is put together."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile beside the source, where both kinds of installs look for it."""
        if self.target_name != "wheel":
            return
        try:
            compiled(Path(self.root))
        except (Exception, SystemExit) as problem:
            self.app.display_warning(f"{SOURCE} was not compiled, search will be slower: {problem}")
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{get_platform().replace('-', '_').replace('.', '_')}"


def compiled(root: Path) -> None:
    """Compile the kernel into the source tree, for every CPython from 3.11 on.

    Raises:
        Exception: there is no compiler, or it failed.
    """
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    class Build(build_ext):
        def build_extensions(self) -> None:
            if self.compiler.compiler_type != "msvc":
                self.extensions[0].extra_compile_args = EXACT
            super().build_extensions()

    beside = sorted((root / SOURCE).parent.glob("*.[ch]"))
    told = crc32(b"".join([source.read_bytes() for source in beside])) & 0x7FFFFFFF  # `kernel.fresh` compares it
    extension = Extension(
        "pegboard.index._kernel", [str(root / SOURCE)], py_limited_api=True, define_macros=[("SOURCES", f"{told}L")]
    )
    command = Build(Distribution({"name": "pegboard", "ext_modules": [extension]}))
    command.force = True  # an older one may lie there
    with TemporaryDirectory() as place:
        command.build_temp, command.build_lib = place, str(root / "src")
        command.ensure_finalized()
        command.run()
