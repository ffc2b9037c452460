"""What `info` says of a node."""

from __future__ import annotations

from typing import Any


class Info(dict[str, Any]):
    """Names and values of a node, shown one on a line. Values that are `None` are not shown."""

    def __repr__(self) -> str:
        shown = {name: value for name, value in self.items() if value is not None}
        width = max(map(len, shown))
        return "\n".join(f"{name:{width}} : {value}" for name, value in shown.items())
