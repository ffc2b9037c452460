"""The exceptions of this package. Each is also an exception of Python's own that programs catch."""

from __future__ import annotations

import errno
import logging


class ZarrError(Exception):
    """An error of the engine. The text names its place; the attributes have it, where it is known."""

    #: What went wrong, as the engine calls it: `NotFound`, `Corrupt`, `Unavailable` and so on.
    kind: str = "Other"
    #: The path of a directory or the URL of the store, without keys and passwords.
    location: str | None = None
    #: The path of the array or group.
    array: str | None = None
    #: The index of the chunk in the chunk grid.
    chunk: list[int] | None = None
    #: The key of the chunk in the store.
    key: str | None = None

    def __str__(self) -> str:
        # The first argument of an `OSError` may be its number.
        text = getattr(self, "strerror", None) or next(iter(self.args), "")
        return str(text)


class NotFoundError(ZarrError, FileNotFoundError, KeyError):
    """No array, group, directory or chunk is there."""


class ExistsError(ZarrError, FileExistsError):
    """A node exists already."""


class DiffersError(ZarrError, ValueError):
    """A copy differs from its source."""


class SelectionError(ZarrError, IndexError):
    """A selection is not inside the array, or of an unknown form."""

    kind = "Selection"


class ArgumentError(ZarrError, ValueError):
    """An argument of a call is wrong."""


class MetadataError(ZarrError, ValueError):
    """A metadata document is invalid."""


class CorruptError(ZarrError, ValueError):
    """Stored bytes do not agree with the metadata, or not with their checksum."""


class UnsupportedError(ZarrError, NotImplementedError):
    """The store, a codec or a data type cannot do this, or is not known."""


class LimitError(ZarrError, ValueError):
    """A limit of size or memory is exceeded."""


class OutOfMemoryError(LimitError, MemoryError):
    """There is no memory for what the call needs."""


class DeniedError(ZarrError, PermissionError):
    """The store refuses the call, or is read-only."""


class StoreError(ZarrError, OSError):
    """Input or output failed: the disk is full, the store is not reachable, another writer interfered.

    `errno` and `filename` are those of the operating system, where the error is one of it.
    """


class CancelledError(ZarrError, RuntimeError):
    """The call was cancelled."""


_CLASSES: dict[str, type[ZarrError]] = {
    "NotFound": NotFoundError,
    "Exists": ExistsError,
    "Differs": DiffersError,
    "InvalidArgument": ArgumentError,
    "Metadata": MetadataError,
    "Corrupt": CorruptError,
    "Checksum": CorruptError,
    "Unsupported": UnsupportedError,
    "UnknownExtension": UnsupportedError,
    "LimitExceeded": LimitError,
    "OutOfMemory": OutOfMemoryError,
    "PermissionDenied": DeniedError,
    "Conflict": StoreError,
    "Uncertain": StoreError,
    "Unavailable": StoreError,
    "Io": StoreError,
    "Cancelled": CancelledError,
}


#: The classes of errors of the operating system. Others are a `StoreError`.
_BY_NUMBER: dict[int, type[ZarrError]] = {
    errno.ENOENT: NotFoundError,
    errno.EEXIST: ExistsError,
    errno.EACCES: DeniedError,
    errno.EPERM: DeniedError,
    errno.EROFS: DeniedError,
}
#: The numbers of what a store, which has no numbers, says in another way.
_NUMBERS: dict[type[ZarrError], int] = {
    NotFoundError: errno.ENOENT,
    ExistsError: errno.EEXIST,
    DeniedError: errno.EACCES,
}


def of_kind(
    kind: str,
    text: str,
    array: str | None,
    chunk: list[int] | None,
    key: str | None,
    system: tuple[int | None, str | None, str | None],
) -> ZarrError:
    """Returns the exception of an error of the engine.

    `system` is a number of the operating system, the path or URL of the object, and the location of the store.
    """
    number, place, location = system
    cls = _CLASSES.get(kind, ZarrError)
    if issubclass(cls, OSError):
        cls = _BY_NUMBER.get(number, StoreError) if number else cls
        number = number or _NUMBERS.get(cls)
    error = cls(number, text, place) if number and issubclass(cls, OSError) else cls(text)
    error.kind, error.location, error.array, error.chunk, error.key = kind, location, array, chunk, key
    return error


#: The codes of diagnostics by their level in a log: elements or attributes may have other values in another program;
#: another program may not read the node; of interest only to who writes metadata.
_CODES = {
    logging.WARNING: """
        ZM003 ZM051 ZM052 ZM080 ZM081 ZM083 ZM084 ZM086 ZM089
        XV004 XV005 XV006 XV007 XV008 XV016 XV021 XV023 XV025 XV028 XV101 XV102 XV103 XV104 XV105 XV106 XV111
    """,
    logging.INFO: """
        ZM001 ZM002 ZM004 ZM010 ZM011 ZM012 ZM013 ZM014 ZM015 ZM017 ZM018 ZM019 ZM020 ZM021 ZM022 ZM023 ZM024
        ZM030 ZM040 ZM041 ZM042 ZM043 ZM050 ZM060 ZM061 ZM070 ZM071 ZM072 ZM073 ZM074 ZM075 ZM076 ZM077 ZM078 ZM079
        ZM085 ZM087 ZM092
        XV001 XV002 XV003 XV014 XV019 XV020 XV022 XV027 XV030 XV031 XV032 XV033 XV034 XV035 XV036 XV037 XV038 XV039
        XV040 XV041 XV042
        XV112 XV116
    """,
    logging.DEBUG: """
        ZM016 ZM082 ZM088 ZM090 ZM091
        XV009 XV010 XV011 XV012 XV013 XV015 XV017 XV018 XV024 XV026 XV029 XV113
    """,
}
_LEVELS = {code: level for level, codes in _CODES.items() for code in codes.split()}


class ZarrDiagnostic(UserWarning):
    """A document deviates from the specification and was read nevertheless, or another program may not read it.

    It is a warning only if another program may read other values; otherwise it is a record of the logger
    `zarr_rs.metadata`. `node.diagnostics` has all.
    """

    def __init__(self, code: str, pointer: str, message: str) -> None:
        super().__init__(code, pointer, message)
        #: The code, which stays the same between releases: `ZM021`.
        self.code = code
        #: The member of the document, as a JSON pointer.
        self.pointer = pointer
        self.message = message

    @property
    def level(self) -> int:
        """The level in a log: `logging.DEBUG`, `INFO`, or `WARNING` if another program may read other values."""
        return _LEVELS.get(self.code, logging.WARNING)

    def __str__(self) -> str:
        place = f" member {self.pointer!r}:" if self.pointer else ""
        return f"{self.code}{place} {self.message}"


class BrokenNodeWarning(UserWarning):
    """A node of a group cannot be opened or decoded, and is left out."""

    def __init__(self, path: str, error: Exception) -> None:
        super().__init__(path, error)
        #: The path of the node.
        self.path = path
        self.error = error

    def __str__(self) -> str:
        return f"node {self.path!r} is left out: {self.error}"
