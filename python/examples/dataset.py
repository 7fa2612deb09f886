"""A data set for PyTorch: each file of a directory of a volume is an item.

    python dataset.py data.folio images

torch.utils.data.DataLoader takes it as it is, with any number of workers: each opens a connection of its own. PyTorch is
not needed to run this file.
"""

from __future__ import annotations

import sys

from folio_fs import Volume


class FolioDataset:
    """The files below a directory, in the order of their paths."""

    def __init__(self, volume: str, directory: str = "", snapshot: str | None = None) -> None:
        self.volume = Volume(volume, snapshot=snapshot)
        self.paths = [f"{top}/{name}" for top, _, names in self.volume.walk(directory) for name in names]

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, i: int) -> tuple[str, bytes]:
        return self.paths[i], self.volume.read_bytes(self.paths[i])

    def __getitems__(self, indices: list[int]) -> list[tuple[str, bytes]]:
        """Return a batch, which PyTorch asks for if there is this method."""
        paths = [self.paths[i] for i in indices]
        return list(zip(paths, self.volume.read_many(paths)))


if __name__ == "__main__":
    items = FolioDataset(*sys.argv[1:3])
    print(len(items), "files,", sum(len(items[i][1]) for i in range(len(items))), "bytes")
