"""The code of the documents runs as it is printed, one program per document, and so do the examples of the modules."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pathlib
import pkgutil
import re
import subprocess
import sys
from typing import Any

import pytest
import zarr
import zarr_rs

ROOT = pathlib.Path(__file__).parents[2]


DOCUMENTS = ["python/README.md", *(f"docs/guide/src/{name}.md" for name in ("python", "python-settings", "python-troubleshooting", "cluster"))]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_code_of_a_document_runs_without_a_warning(document: str, tmp_path: pathlib.Path) -> None:
    text = (ROOT / document).read_text()
    blocks = re.findall(r"^( *)```python\n(.*?)^ *```$", text, re.DOTALL | re.MULTILINE)
    code = "\n".join(re.sub(f"^{indent}", "", block, flags=re.MULTILINE) for indent, block in blocks)
    if "import cubed" in code:
        pytest.importorskip("cubed")
    program = tmp_path / "program.py"  # processes of a pool may import it again
    program.write_text(code)
    command = [sys.executable, "-W", "error::UserWarning:zarr_rs", str(program)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert blocks and done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr, done.stderr


MODULES = [module.name for module in pkgutil.iter_modules(zarr_rs.__path__)] + [""]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run(name: str) -> None:
    module = importlib.import_module(f"zarr_rs.{name}".rstrip("."))
    # An example sets the pipeline of the process. Other tests must not find it set.
    path = "codec_pipeline.path"
    with zarr.config.set({path: zarr.config.get(path)}):
        assert doctest.testmod(module, extraglobs={"zarr_rs": zarr_rs}).failed == 0


def members() -> list[tuple[str, Any]]:
    """Returns the public names, and those of the members of public classes of this package."""
    found: list[tuple[str, Any]] = []
    for name in zarr_rs.__all__:
        public = getattr(zarr_rs, name)
        found.append((name, public))
        if isinstance(public, type) and public.__module__.startswith("zarr_rs"):
            found += [(f"{name}.{part}", getattr(public, part)) for part in dir(public) if not part.startswith("_")]
    return [(name, part) for name, part in found if callable(part) or isinstance(part, property)]


@pytest.mark.parametrize(("name", "part"), members(), ids=[name for name, _ in members()])
def test_every_public_name_has_a_docstring(name: str, part: Any) -> None:
    assert inspect.getdoc(part), name
    # Methods of zarr-python's classes inherit its text.
    text = inspect.cleandoc(part.__doc__ or "")
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", text, re.MULTILINE | re.DOTALL)
    if section and part.__module__.startswith("zarr_rs"):
        named = [
            word.strip("* ") for line in re.findall(r"^\S.*", section[1], re.MULTILINE) for word in line.split(",")
        ]
        parameters = inspect.signature(part).parameters
        assert {word for word in named if word not in ("access", "options", "changes")} <= parameters.keys()


@pytest.mark.parametrize("name", MODULES)
def test_every_class_and_function_of_a_module_has_a_docstring(name: str) -> None:
    module = importlib.import_module(f"zarr_rs.{name}".rstrip("."))
    own = [part for part in vars(module).values() if getattr(part, "__module__", None) == module.__name__]
    parts = [(part.__qualname__, part) for part in own if inspect.isclass(part) or inspect.isroutine(part)]
    for kind in filter(inspect.isclass, own):
        parts += [(f"{kind.__qualname__}.{member}", getattr(kind, member)) for member in vars(kind)]
    public = [(where, part) for where, part in parts if "._" not in where and not where.startswith("_")]
    described = [(where, part) for where, part in public if isinstance(part, property) or callable(part)]
    assert [where for where, part in described if not inspect.getdoc(part)] == []


def test_links_of_the_readme_are_absolute() -> None:
    """A package index shows the file without the repository around it."""
    text = (ROOT / "python/README.md").read_text()
    assert [link for link in re.findall(r"\]\(([^)\s]+)", text) if not link.startswith(("https://", "#"))] == []
