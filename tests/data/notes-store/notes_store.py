"""An adapter of another package, whole: each file that ends in .notes is a session, each line of it
something that was said."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from tau_browser.model.summary import summary_of
from tau_browser.stores.store import Listed, Place, StoreError
from tau_browser.stores.translated import State, TranslatedSession, Translation

END = ".notes"


class Notes:
    """A session where it is stored."""

    def __init__(self, path):
        self.path = path

    def state(self):
        try:
            status = os.stat(self.path)
        except OSError as error:
            raise StoreError(f"{self.path}: {error.strerror.lower()}") from error
        return State(str(status.st_mtime_ns), status.st_size)

    def translate(self):
        header = {"type": "session", "version": 1, "id": Path(self.path).stem, "cwd": "/notes"}
        yield Translation(json.dumps(header).encode() + b"\n", 0, 1)
        above = None
        for at, line in enumerate(Path(self.path).read_text(encoding="utf-8").splitlines()):
            record = {
                "type": "message",
                "id": f"n{at}",
                "parentId": above,
                "timestamp": "2026-03-01T10:00:00.000Z",
                "message": {"role": "user", "content": line},
            }
            above = record["id"]
            yield Translation(json.dumps(record).encode() + b"\n", 0, 1)


class NotesStore:
    """The files in some folders."""

    name = "notes"
    capabilities = frozenset()  # it is read, and never written
    refresh_every = 5.0

    def __init__(self, roots, cache_folder=None):
        self.roots = list(roots)
        self.title = ", ".join(self.roots)
        self._cache = cache_folder or Path(tempfile.mkdtemp())

    @staticmethod
    def recognises(path):
        names = os.listdir(path) if os.path.isdir(path) else [os.path.basename(path)]
        return any(name.endswith(END) for name in names)

    @staticmethod
    def places(env):
        folder = env.get("NOTES_HOME")
        return [Place(folder, "$NOTES_HOME")] if folder else []

    def scan(self):
        for root in self.roots:
            found = [Path(root)] if os.path.isfile(root) else Path(root).glob(f"*{END}")
            for path in sorted(found):
                yield Listed(self.name, str(path), path.stat().st_mtime)

    def look_into(self, listed):
        *_, last = self.open(listed.path).load()
        return Listed(self.name, listed.path, listed.modified, summary_of(last.session))

    def identify(self, listed):
        return Path(listed.path).stem

    def is_empty(self):
        return next(self.scan(), None) is None

    def open(self, path):
        return TranslatedSession(Notes(path), self._cache / "notes")

    def remember(self):
        pass  # nothing that would be worth keeping
