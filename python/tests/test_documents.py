"""The code of the documents runs as it is printed, one program per document, and so do the examples of the modules."""

from __future__ import annotations

import doctest
import importlib
import pathlib
import pkgutil
import re
import subprocess
import sys

import pytest
import zarr_rs

ROOT = pathlib.Path(__file__).parents[2]


DOCUMENTS = ["python/README.md", *(f"docs/guide/src/{name}.md" for name in ("python", "python-settings", "cluster"))]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_code_of_a_document_runs(document: str, tmp_path: pathlib.Path) -> None:
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


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(zarr_rs.__path__)] + [""])
def test_the_examples_of_a_module_run(name: str) -> None:
    module = importlib.import_module(f"zarr_rs.{name}".rstrip("."))
    assert doctest.testmod(module, extraglobs={"zarr_rs": zarr_rs}).failed == 0
