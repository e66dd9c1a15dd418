# SPDX-License-Identifier: BSD-3-Clause
"""The build backend of the package (PEP 517, 660): a wheel is a zip of its files.

It needs nothing but Python, so `pip install ./python` downloads nothing and works without a
network. If there is a program weir ($WEIR, or in $PATH), the wheel also has _statements.pyi, the
methods of its statements for type checkers. The same files and program give the same bytes.
"""

import base64
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EPOCH = (1980, 1, 1, 0, 0, 0)
TAG = "py3-none-any"


def _project():
    with open(os.path.join(HERE, "pyproject.toml"), "rb") as file:
        return tomllib.load(file)["project"]


def _metadata(project):
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {project['version']}",
             f"Summary: {project['description']}", f"Requires-Python: {project['requires-python']}",
             f"License: {project['license']['text']}"]
    lines += [f"Classifier: {text}" for text in project["classifiers"]]
    lines += [f"Requires-Dist: {text}" for text in project["dependencies"]]
    for extra, wanted in project["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}"]
        lines += [f"Requires-Dist: {text}; extra == '{extra}'" for text in wanted]
    with open(os.path.join(HERE, project["readme"]), encoding="utf-8") as readme:
        return "\n".join(lines) + "\nDescription-Content-Type: text/markdown\n\n" + readme.read()


def _entry_points(project):
    parts = []
    for group, rows in project.get("entry-points", {}).items():
        parts.append(f"[{group}]\n" + "".join(f"{name} = {what}\n" for name, what in rows.items()))
    return "\n".join(parts)


def _sources():
    """Returns the files of the package: {path in the wheel: bytes}."""
    files = {}
    top = os.path.join(HERE, "src")
    for folder, names, leaves in os.walk(top):
        names[:] = sorted(name for name in names if name != "__pycache__" and ".egg" not in name)
        for leaf in sorted(leaves):
            if leaf.endswith((".py", ".pyi", ".typed", ".html", ".css", ".js", ".svg")):
                path = os.path.join(folder, leaf)
                with open(path, "rb") as file:
                    files[os.path.relpath(path, top).replace(os.sep, "/")] = file.read()
    made = subprocess.run(
        [sys.executable, "-c", "from weir import language, stubs; "
                               "print(end=stubs.text(language.tables()))"],
        cwd=top, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False,
        env={**os.environ, "PYTHONPATH": top, "PYTHONDONTWRITEBYTECODE": "1"})
    if made.returncode == 0:
        files["weir/_statements.pyi"] = made.stdout
    return dict(sorted(files.items()))


def _info(project):
    wheel = f"Wheel-Version: 1.0\nGenerator: weir_backend\nRoot-Is-Purelib: true\nTag: {TAG}\n"
    files = {"METADATA": _metadata(project), "WHEEL": wheel,
             "entry_points.txt": _entry_points(project)}
    name = f"{project['name']}-{project['version']}.dist-info"
    return {f"{name}/{leaf}": text.encode() for leaf, text in files.items()}, f"{name}/RECORD"


def _write(folder, project, files):
    name = f"{project['name']}-{project['version']}-{TAG}.whl"
    info, record = _info(project)
    rows = []
    with zipfile.ZipFile(os.path.join(folder, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        def put(path, data):
            entry = zipfile.ZipInfo(path, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            wheel.writestr(entry, data)
        for path, data in {**files, **info}.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append(f"{path},sha256={digest},{len(data)}\n")
            put(path, data)
        put(record, ("".join(rows) + f"{record},,\n").encode())
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _write(wheel_directory, _project(), _sources())


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _write(wheel_directory, _project(),
                  {"weir.pth": os.path.join(HERE, "src").encode() + b"\n"})


def build_sdist(sdist_directory, config_settings=None):
    project = _project()
    top = f"{project['name']}-{project['version']}"
    files = {"PKG-INFO": _metadata(project).encode()}
    for path in ("pyproject.toml", project["readme"], "backend/weir_backend.py"):
        with open(os.path.join(HERE, path), "rb") as file:
            files[path] = file.read()
    files |= {"src/" + path: data for path, data in _sources().items()}
    with open(os.path.join(sdist_directory, top + ".tar.gz"), "wb") as out:
        import gzip
        with gzip.GzipFile(fileobj=out, mode="wb", filename="", mtime=0) as packed, \
                tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for path, data in files.items():
                entry = tarfile.TarInfo(f"{top}/{path}")
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
    return top + ".tar.gz"


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_sdist = get_requires_for_build_editable = get_requires_for_build_wheel
