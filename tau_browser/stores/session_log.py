"""Where the lines of a session can be read on this machine, for whoever reads some of them only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tau_browser.model.decoder import FILE_BYTES
from tau_browser.model.format import TAU, Format
from tau_browser.model.heads import decode_record
from tau_browser.model.payload import Record
from tau_browser.stores.files import FileSources

_HEADER = 64 * 1024


@dataclass(frozen=True, slots=True)
class SessionLog:
    """The files of a session's lines. path: the session's own, in its store · files: byte offsets
    in the nth start at n times FILE_BYTES, as in the columns of the session."""

    path: str
    files: tuple[str, ...]
    format: Format = TAU

    def source(self) -> FileSources:
        """The bytes. Raises OSError and StoreError."""
        source = FileSources(self.files[0])
        for file in self.files[1:]:
            source.add(file)
        return source

    def starts(self) -> dict[str, int]:
        """At which byte each file starts."""
        return {file: at * FILE_BYTES for at, file in enumerate(self.files)}

    def record(self, raw: bytes) -> Record:
        """A record in τ's shape; {} if there is none in these bytes."""
        stored = decode_record(raw)
        return self.format.record(stored) if stored else stored

    def header(self) -> Record:
        """The header, as far as the first lines tell it. Raises OSError and StoreError."""
        lines = self.source().read(0, _HEADER).split(b"\n")[: self.format.header_lines]
        headers = (self.format.header(decode_record(line)) for line in lines)
        return next((header for header in headers if header is not None), {})


LogOf = Callable[[str], SessionLog]
"""From the path of a session to its log. Raises StoreError."""


def log_in_file(path: str) -> SessionLog:
    """The log of a session of τ's: the file itself."""
    return SessionLog(path, (path,))
