"""Writes the archives of this folder with the module zipfile of CPython 3.12.1, and one with zip 3.0 of Info-ZIP.

python make.py
"""

import io
import pathlib
import subprocess
import tempfile
import zipfile
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

# Every kind of member that can be read, and a comment. The first `twice` is not meant.
with ZipFile("members.zip", "w") as archive:
    archive.writestr(ZipInfo("twice"), b"the first")
    archive.writestr(ZipInfo("folder/"), b"")
    archive.writestr(ZipInfo("folder/stored"), b"0123456789")
    archive.writestr(ZipInfo("folder/deflated"), b"abc" * 200, ZIP_DEFLATED)
    archive.writestr(ZipInfo("empty"), b"")
    with archive.open(ZipInfo("wide"), "w", force_zip64=True) as member:
        member.write(b"with zip64 in its header")
    archive.writestr(ZipInfo("\u00e9/\U0001f980"), b"a name beyond ASCII")
    archive.writestr(ZipInfo("../outside"), b"no key")
    archive.writestr(ZipInfo("twice"), b"the last")
    archive.comment = b"a comment"


class Pipe(io.RawIOBase):
    """What cannot be gone back in: sizes stand behind the data of a member."""

    def __init__(self, file):
        self.file = file

    def writable(self):
        return True

    def write(self, data):
        return self.file.write(data)


with open("streamed.zip", "wb") as file, ZipFile(Pipe(file), "w") as archive:
    archive.writestr(ZipInfo("stored"), b"0123456789")
    archive.writestr(ZipInfo("deflated"), b"abc" * 200, ZIP_DEFLATED)

# More members than 16 bits can count are the other reason for zip64; this limit is the module's own.
zipfile.ZIP_FILECOUNT_LIMIT = 1
with ZipFile("zip64.zip", "w", ZIP_STORED) as archive:
    archive.writestr(ZipInfo("a.zarr/zarr.json"), b"{}")
    archive.writestr(ZipInfo("a.zarr/c/0"), b"0123456789")
    archive.writestr(ZipInfo("b.zarr/zarr.json"), b"{}")

# A folder as users pack it: with itself, and with times and owners in headers, more of them than in the directory.
with tempfile.TemporaryDirectory() as folder:
    chunks = pathlib.Path(folder, "x.zarr", "c")
    chunks.mkdir(parents=True)
    (chunks.parent / "zarr.json").write_bytes(b"{}")
    (chunks / "0").write_bytes(b"abc" * 200)
    archive = pathlib.Path("info_zip.zip").absolute()
    archive.unlink(missing_ok=True)
    subprocess.run(["zip", "-rq", archive, "x.zarr"], cwd=folder, check=True)
