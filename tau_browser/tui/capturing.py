"""The browser's capture of tool calls into an agmem repository: it goes on behind all screens, says
how far it is, and ends when it is told to, or with the program."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from textual import work
from textual.message import Message
from textual.timer import Timer

from tau_browser.model.text import counted, safe_line
from tau_browser.stores.store import StoreError
from tau_browser.tui.bar import Bar
from tau_browser.tui.surgery import Surgery

if TYPE_CHECKING:
    from tau_browser.actions.observe.follow import Observing
    from tau_browser.tui.plan.screen import Done

REPOSITORY = "agmem repository to capture into"
_SAY_EVERY = 0.5  # seconds


@dataclass
class _Running:
    """A capture that goes on. bar: what stood where its state is told."""

    observing: Observing
    bar: str
    timer: Timer
    stop: threading.Event = field(default_factory=threading.Event)

    def told(self) -> str:
        """How far it is."""
        counts, pending = self.observing.capture.counts, self.observing.capture.pending
        said = [f"{counted(counts.captured, 'call')} captured"]
        if pending:
            said.append(f"{pending:,} to commit")
        said.append(counted(len(counts.commits), "commit"))
        if counts.known:
            said.append(f"{counts.known:,} known already")
        if secrets := self.observing.redaction.count:
            said.append(f"{counted(secrets, 'secret')} hidden")
        if unread := len(self.observing.unread):
            said.append(f"{counted(unread, 'session')} not read")
        return ", ".join(said)


class CaptureEnded(Message):
    """A capture has ended. problem: why it did, if nobody asked for it."""

    def __init__(self, problem: str) -> None:
        super().__init__()
        self.problem = problem


class Capturing(Surgery):
    """The verb that begins a capture, and ends it."""

    _ongoing: _Running | None = None
    _repository: str = ""  # that was captured into last

    @property
    def capture_told(self) -> str:
        """How far the capture is that goes on; "" if none does."""
        return self._ongoing.told() if self._ongoing is not None else ""

    def action_observe(self) -> None:
        """Ask for a repository to capture into, or end the capture that goes on."""
        if self._ongoing is None:
            self._prompt.ask(REPOSITORY, self._repository)
        elif not self._ongoing.stop.is_set():
            self._ongoing.stop.set()
            self._show_capture()

    def answered(self, asked: str, value: str) -> bool:
        """Whether what was asked for at the prompt was for this action."""
        if super().answered(asked, value):
            return True
        if asked != REPOSITORY:
            return False
        self._focus_pane("tree")
        if value.strip():
            self._propose_capture(value)
        return True

    def _propose_capture(self, repository: str) -> None:
        from tau_browser.tui.plan.observe import Observe
        from tau_browser.tui.plan.screen import PlanScreen

        begun: list[Observing] = []
        store = self.app.target.store
        path = self._opened.path if self._opened is not None else None
        proposal = Observe(store, path, path is None, repository, begun)

        def go_on(done: Done | None) -> None:
            if done is not None:
                self._repository = done.plan.target
                self._go_on(begun[-1])

        self.app.push_screen(PlanScreen(proposal, self.app.glyphs), go_on)

    def _go_on(self, observing: Observing) -> None:
        bar = self.query_one("#hints", Bar).text
        running = _Running(observing, bar, self.set_interval(_SAY_EVERY, self._show_capture))
        self._ongoing = running
        self._show_capture()
        self._capture(running)

    @work(thread=True, group="capture", exit_on_error=False)
    def _capture(self, running: _Running) -> None:
        problem = ""
        try:
            try:
                running.observing.run(running.stop)
            finally:
                running.observing.capture.end()
        except StoreError as error:
            problem = str(error)
        self.post_message(CaptureEnded(problem))

    def _show_capture(self) -> None:
        """Say how far the capture is, where the eye finds it whatever happens in the browser."""
        if (running := self._ongoing) is not None:
            doing = "ending the capture" if running.stop.is_set() else "capturing"
            ends = "" if running.stop.is_set() else " · M o ends it"
            self.query_one("#hints", Bar).show(f"{doing}: {running.told()}{ends} · ? keys")

    def on_capture_ended(self, event: CaptureEnded) -> None:
        if (running := self._ongoing) is None:
            return
        self._ongoing = None
        running.timer.stop()
        self.query_one("#hints", Bar).show(running.bar)
        why = f"the capture failed: {event.problem}: " if event.problem else "the capture ended: "
        self._tell(safe_line(why + running.told()))

    def on_unmount(self) -> None:
        """The program ends: so does the capture, which commits what is left."""
        if self._ongoing is not None:
            self._ongoing.stop.set()
