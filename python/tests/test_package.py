"""What the package says of itself."""

import os
from importlib import metadata
from pathlib import Path

import pytest


def test_metadata():
    said = metadata.metadata("folio-fs")
    assert said["License-Expression"] == "MIT" and said["License-File"] == "LICENSE"
    minor = int(said["Requires-Python"].removeprefix(">=3."))
    assert f"Programming Language :: Python :: 3.{minor}" in said.get_all("Classifier")


def test_license():
    root = Path(os.environ.get("FOLIO_SOURCE", Path(__file__).parents[2])) / "LICENSE"
    if not root.exists():
        pytest.skip("not in a tree of Folio")
    assert (Path(__file__).parents[1] / "LICENSE").read_bytes() == root.read_bytes()
