"""The wheel of the build: conformance/bitproof.h's library, the command line and the Python package in one.

Run by CMake in a folder where these have been put together (python/CMakeLists.txt).
"""

import setuptools
from wheel.bdist_wheel import bdist_wheel


class PlatformWheel(bdist_wheel):
    """Machine code for one platform, and no extension module: any CPython will do."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class PlatformDistribution(setuptools.Distribution):
    """One whose files belong to a platform although nothing is compiled here."""

    def has_ext_modules(self):
        return True


setuptools.setup(
    name="bitproof",
    version=open("VERSION").read().strip(),
    description="Checks fused half-precision GPU kernels bit for bit against the eager computation",
    license="Apache-2.0",
    python_requires=">=3.9",
    packages=["bitproof"],
    package_data={"bitproof": ["py.typed", "lib/*", "licenses/*", "include/*.h", "include/dlpack/*.h"]},
    distclass=PlatformDistribution,
    cmdclass={"bdist_wheel": PlatformWheel},
    zip_safe=False,
)
