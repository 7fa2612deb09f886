"""Mount a volume for reading, with nothing but Python and FUSE: pip install fusepy.

    python mount.py site.folio /mnt/site

`folio mount` does more, and is many times as fast. This is for where there is Python only.
"""

from __future__ import annotations

import sys
from typing import Any

import fuse

from folio_fs import Volume


class Files(fuse.Operations):
    """The operations of FUSE on a volume."""

    def __init__(self, volume: Volume) -> None:
        self.volume = volume
        self.open_files: dict[int, Any] = {}

    def getattr(self, path: str, fh: int | None = None) -> dict[str, Any]:
        s = call(self.volume.stat, path, follow_symlinks=False)
        names = ("st_mode", "st_nlink", "st_uid", "st_gid", "st_size", "st_atime", "st_mtime", "st_ctime")
        return {name: getattr(s, name) for name in names}

    def readdir(self, path: str, fh: int) -> list[str]:
        return [".", "..", *call(self.volume.listdir, path)]

    def readlink(self, path: str) -> str:
        target: str = call(self.volume.readlink, path)
        return target

    def open(self, path: str, flags: int) -> int:
        fh = max(self.open_files, default=0) + 1
        self.open_files[fh] = call(self.volume.open, path)
        return fh

    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        f = self.open_files[fh]
        f.seek(offset)
        data: bytes = call(f.read, size)
        return data

    def release(self, path: str, fh: int) -> None:
        self.open_files.pop(fh).close()


def call(function: Any, *args: Any, **options: Any) -> Any:
    """Call a function, and pass its error on to FUSE."""
    try:
        return function(*args, **options)
    except OSError as e:
        raise fuse.FuseOSError(e.errno) from e


if __name__ == "__main__":
    fuse.FUSE(Files(Volume(sys.argv[1])), sys.argv[2], foreground=True, ro=True, nothreads=True)
