"""A plugin of pytest: tests of other packages run with this one in the place of zarr-python's parts.

All arrays of zarr-python use the pipeline, and if xarray is installed, its `engine="zarr"` is the engine of this package. The
option `--differing` names the list of tests that are known to differ: one line each, `module::class::test: reason`. A name
without parameters stands for the test with all of them. A test that fails must be in the list, and a test in the list must fail.
`run.sh` and `zarr-python.sh` say how it is used.
"""

from __future__ import annotations

import importlib.util
import os
import pathlib
from typing import Any

import pytest

os.environ.setdefault("ZARR_CODEC_PIPELINE__PATH", "zarr_rs.CodecPipeline")

#: Arguments of `engine="zarr"` that are about its own way to open a group.
_OF_ZARR = ("mode", "cache_members", "engine", "store")

_reasons = pytest.StashKey[dict[str, str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--differing", type=pathlib.Path, help="the list of tests that differ")
    parser.addoption("--own", action="store_true", help="run with zarr-python's parts, to compare")


def pytest_configure(config: pytest.Config) -> None:
    # The settings of these packages' sources, which are not installed.
    for mark in ("flaky", "network", "skip_if_param", "skip_with_dask_array"):
        config.addinivalue_line("markers", f"{mark}: of another package")
    lines = config.option.differing.read_text().splitlines() if config.option.differing else []
    entries = [line.rsplit(": ", 1) for line in lines if line and not line.startswith("#")]
    config.stash[_reasons] = dict(entries)
    if config.option.own:
        os.environ["ZARR_CODEC_PIPELINE__PATH"] = "zarr.core.codec_pipeline.BatchedCodecPipeline"
    elif importlib.util.find_spec("xarray"):
        _replace_engine()


def _replace_engine() -> None:
    from xarray.backends import plugins
    from xarray.backends.common import BACKEND_ENTRYPOINTS
    from zarr_rs.xarray import Backend

    class StandIn(Backend):
        """The engine of this package under the name of the other one, with all its arguments."""

        open_dataset_parameters = plugins.detect_parameters(Backend.open_dataset)

        def open_dataset(self, filename_or_obj: Any, **given: Any) -> Any:
            return super().open_dataset(filename_or_obj, **_known(given))

        def open_groups_as_dict(self, filename_or_obj: Any, **given: Any) -> Any:
            return super().open_groups_as_dict(filename_or_obj, **_known(given))

    BACKEND_ENTRYPOINTS["zarr"] = (None, StandIn)
    plugins.list_engines.cache_clear()


def _known(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name not in _OF_ZARR}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks the tests of the list, and those that the other package's own settings skip."""
    reasons = config.stash[_reasons]
    missing = set(reasons)
    for item in items:
        name = _name(item)
        missing -= {name, name.partition("[")[0]}
        reason = reasons.get(name) or reasons.get(name.partition("[")[0])
        if reason and not config.option.own:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        for mark in item.iter_markers("skip_if_param"):
            given = dict(mark.kwargs)
            why, condition = given.pop("reason", ""), given.pop("condition", True)
            if condition and all(key in parameters and parameters[key] == value for key, value in given.items()):
                item.add_marker(pytest.mark.skip(reason=why))
    if missing:
        raise pytest.UsageError(f"the list has tests that are not there: {', '.join(missing)}")


def _name(item: pytest.Item) -> str:
    """Returns the name of a test in the list, which is the same wherever the package is installed."""
    classes = [part.name for part in item.listchain() if isinstance(part, pytest.Class)]
    module = item.getparent(pytest.Module)
    assert module is not None
    return "::".join([module.obj.__name__, *classes, item.name])


