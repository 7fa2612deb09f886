"""A data set for PyTorch: each file of a directory of a volume is an item.

    python dataset.py data.folio images

The files are listed once, and then read by their numbers. So a file that is renamed or written meanwhile is read as it is
then, and one that is removed or replaced raises FileNotFoundError. torch.utils.data.DataLoader takes the data set as it is,
with any number of workers: each opens a connection of its own. PyTorch is not needed to run this file.
"""

from __future__ import annotations

import sys
from array import array

from folio_fs import Volume


class FolioDataset:
    """The files below a directory, in the order of their paths."""

    def __init__(self, volume: str, directory: str = "", snapshot: str | None = None) -> None:
        self.volume = Volume(volume, snapshot=snapshot)
        self.paths, self.numbers = list[str](), array("q")
        with self.volume.transaction():
            for path, entry in self.volume.files(directory):
                self.paths.append(path)
                self.numbers.append(entry.ino)

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, i: int) -> tuple[str, bytes]:
        return self.paths[i], self.volume.read_bytes(self.numbers[i])

    def __getitems__(self, indices: list[int]) -> list[tuple[str, bytes]]:
        """Return a batch, which PyTorch asks for if there is this method."""
        contents = self.volume.read_many(self.numbers[i] for i in indices)
        return [(self.paths[i], data) for i, data in zip(indices, contents)]


if __name__ == "__main__":
    items = FolioDataset(*sys.argv[1:3])
    print(len(items), "files,", sum(len(items[i][1]) for i in range(len(items))), "bytes")
