"""A build backend (PEP 517) that needs nothing but Python: the package is pure, so a wheel is a zip file of it.

The version is that of include/lengthen.h, which lengthen/_version.py repeats; a test compares them.
"""
import base64
import hashlib
import os
import re
import tarfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
TAG = "py3-none-any"


def _version():
    with open(os.path.join(HERE, "lengthen", "_version.py")) as f:
        return re.search(r'"([^"]+)"', f.read()).group(1)


def _metadata():
    return ("Metadata-Version: 2.1\nName: lengthen\nVersion: " + _version() + "\n"
            "Summary: Tasks, couplings, position IDs, models and certificates of lengthen, for NumPy and PyTorch\n"
            "License: Apache-2.0\nRequires-Python: >=3.9\nRequires-Dist: numpy\n")


def _wheel():
    return f"Wheel-Version: 1.0\nGenerator: lengthen\nRoot-Is-Purelib: true\nTag: {TAG}\n"


def _sources():
    folder = os.path.join(HERE, "lengthen")
    return sorted(n for n in os.listdir(folder) if n.endswith((".py", ".typed")))


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_sdist = get_requires_for_build_editable = get_requires_for_build_wheel


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    name = f"lengthen-{_version()}.dist-info"
    os.makedirs(os.path.join(metadata_directory, name), exist_ok=True)
    for file, text in (("METADATA", _metadata()), ("WHEEL", _wheel())):
        with open(os.path.join(metadata_directory, name, file), "w") as f:
            f.write(text)
    return name


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def _write(wheel_directory, files):
    info = f"lengthen-{_version()}.dist-info"
    files = dict(files, **{f"{info}/METADATA": _metadata().encode(), f"{info}/WHEEL": _wheel().encode()})
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    wheel = f"lengthen-{_version()}-{TAG}.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, wheel), "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)  # the same bytes whenever it is made
            entry.external_attr = 0o644 << 16
            z.writestr(entry, data)
    return wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    files = {}
    for name in _sources():
        with open(os.path.join(HERE, "lengthen", name), "rb") as f:
            files[f"lengthen/{name}"] = f.read()
    return _write(wheel_directory, files)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _write(wheel_directory, {"lengthen.pth": (HERE + "\n").encode()})


def build_sdist(sdist_directory, config_settings=None):
    name = f"lengthen-{_version()}"
    with tarfile.open(os.path.join(sdist_directory, name + ".tar.gz"), "w:gz") as t:
        for file in ["pyproject.toml", "backend.py"] + [f"lengthen/{n}" for n in _sources()]:
            t.add(os.path.join(HERE, file), f"{name}/{file}")
    return name + ".tar.gz"
