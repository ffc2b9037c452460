"""The metadata document of a node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Metadata(dict[str, Any]):
    """A metadata document: a mapping of its members as they are stored.

    Members are attributes, too. In format 2 those of format 3 are there as well: `metadata.data_type`, `metadata.codecs`.
    """

    def __init__(self, stored: Mapping[str, Any], general: Mapping[str, Any]) -> None:
        super().__init__(stored)
        self._general = dict(general)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name] if name in self else self._general[name]
        except KeyError:
            names = ", ".join(sorted(self.keys() | self._general.keys()))
            raise AttributeError(f"the metadata has no member {name!r}: it has {names}") from None

    def __reduce__(self) -> tuple[Any, ...]:
        return Metadata, (dict(self), self._general)

    def to_dict(self) -> dict[str, Any]:
        """Returns the document as it is stored."""
        return dict(self)
