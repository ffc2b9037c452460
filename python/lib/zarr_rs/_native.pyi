from typing import Any, final

import numpy.typing as npt

__version__: str

@final
class Storage:
    @staticmethod
    def directory(path: str, create: bool) -> Storage: ...
    @staticmethod
    def foreign(helper: object, in_flight: int) -> Storage: ...

@final
class Reply:
    def done(self, result: object) -> None: ...
    def failed(self, raised: BaseException) -> None: ...

@final
class Plan:
    @property
    def shape(self) -> tuple[int, ...] | None: ...
    @property
    def is_points(self) -> bool: ...
    def shape_of(self, item: int) -> tuple[int, ...]: ...

@final
class Array:
    def __new__(
        cls,
        storage: Storage,
        path: str,
        document: bytes,
        zarr_format: int,
        *,
        write_empty_chunks: bool,
        is_foreign: bool,
        threads: int | None = None,
    ) -> Array: ...
    def plan(self, batch: list[tuple[Any, ...]]) -> Plan | None: ...
    def read(self, plan: Plan, out: npt.NDArray[Any], item: int | None = None) -> None: ...
    def write(self, plan: Plan, values: npt.NDArray[Any], item: int | None = None) -> None: ...

def forget(object: object) -> None: ...
