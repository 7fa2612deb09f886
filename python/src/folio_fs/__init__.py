"""Files in one SQLite file: read and write volumes of Folio with nothing but Python.

>>> from folio_fs import Volume
>>> with Volume("site.folio", writable=True) as v:  # doctest: +SKIP
...     v.write_bytes("img/logo.png", data)
...     print(v.listdir("img"))
"""

from ._path import VolumePath
from ._tables import Entry
from ._volume import Volume, create

__all__ = ["Entry", "Volume", "VolumePath", "create"]
