"""How a screen watches what runs behind it: it is told how far that has come, and can stop it."""

from __future__ import annotations

from textual.message import Message

from tau_browser.actions.progress import Meter, Progress, Stopped
from tau_browser.tui.loading import Pace, Post


class Going(Message):
    """What runs behind the screen came on. said: how far, in words · final: it is too late to
    stop it."""

    def __init__(self, said: str, *, final: bool) -> None:
        super().__init__()
        self.said = said
        self.final = final


class Watch:
    """The `Tell` of one worker."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self._meter = Meter()
        self._due = Pace()
        self.stopping = False

    def stop(self) -> None:
        """Have the worker stop at its next step."""
        self.stopping = True

    def __call__(self, progress: Progress) -> None:
        if self.stopping and not progress.final:
            raise Stopped
        if self._due() or progress.final:
            self._post(Going(self._meter.words(progress), final=progress.final))
