"""The servers of the tests end with the tests, however those end."""

from __future__ import annotations

import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.environments import JMFTS, environment
from tests.jmfts.appliance import start


def test_killed_appliance_leaves_neither_servers_nor_files() -> None:
    appliance = start(environment(*JMFTS))
    home = next(path for path in Path(appliance.psql[0]).parents if path.name.startswith("jmfts-"))
    assert home.is_dir() and appliance.sql("SELECT 1").strip() == "1"
    appliance.process.kill()
    assert appliance.process.stdout is not None
    assert appliance.process.stdout.read() == ""  # its end: the guard, too, is done
    appliance.process.wait()
    assert not home.exists()
    for url in (appliance.url, appliance.psql[-1]):
        place = urlsplit(url)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((place.hostname, place.port))
