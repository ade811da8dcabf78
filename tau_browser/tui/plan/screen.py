"""The preview of a change: nothing is written before Enter, and nothing that cannot be undone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import Screen
from textual.worker import Worker, WorkerState

from tau_browser.actions.journal import Change
from tau_browser.actions.plan import Plan
from tau_browser.actions.wording import (
    KEYS,
    PLAIN_SIGNS,
    Signs,
    lines_of,
    lists_of,
    refused,
)
from tau_browser.model.text import safe_line
from tau_browser.stores.store import StoreError
from tau_browser.tui.bar import Bar
from tau_browser.tui.glyphs import ASCII, Glyphs
from tau_browser.tui.help import key_text
from tau_browser.tui.plan.proposal import Choice, Detail, Proposal, Question
from tau_browser.tui.plan.view import PlanView
from tau_browser.tui.plan.watch import Going, Watch
from tau_browser.tui.prompt import Prompt
from tau_browser.tui.rows_view import RowsView


@dataclass(frozen=True, slots=True)
class Done:
    """A change that was made."""

    plan: Plan
    change: Change


class Planned(Message):
    """A plan was made of a proposal, or could not be."""

    def __init__(self, proposal: Proposal, plan: Plan | None, problem: str) -> None:
        super().__init__()
        self.proposal = proposal
        self.plan = plan
        self.problem = problem


class Applied(Message):
    """A plan was carried out, or could not be."""

    def __init__(self, done: Done | None, problem: str) -> None:
        super().__init__()
        self.done = done
        self.problem = problem


class PlanScreen(Screen[Done | None]):
    """One proposal. The result is what was done, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "back", show=False),
        Binding("space", "switch", "switch", show=False),
    ]

    DEFAULT_CSS = """
    PlanScreen > #choices { height: auto; max-height: 3; text-wrap: wrap; }
    """

    def __init__(self, proposal: Proposal, glyphs: Glyphs) -> None:
        super().__init__()
        self._proposal = proposal
        self._plan: Plan | None = None
        self._view = PlanView(glyphs)
        self._signs = PLAIN_SIGNS if glyphs is ASCII else Signs()
        self._title = Bar("planning")
        self._keys = Bar("", id="choices", classes="-plain")
        self._prompt = Prompt()
        self._answered: Callable[[str], None] | None = None
        self._writing: Watch | None = None

    def compose(self) -> ComposeResult:
        yield self._title
        yield self._view
        yield self._prompt
        yield self._keys

    def on_mount(self) -> None:
        self._view.focus()
        self._propose(self._proposal)

    def _propose(self, proposal: Proposal) -> None:
        self._proposal, self._plan = proposal, None
        self._show_keys()
        self._make_plan(proposal)

    @work(thread=True, exclusive=True, group="plan", exit_on_error=False)
    def _make_plan(self, proposal: Proposal) -> None:
        try:
            self.post_message(Planned(proposal, proposal.plan(), ""))
        except StoreError as error:
            self.post_message(Planned(proposal, None, str(error)))

    def on_planned(self, event: Planned) -> None:
        if event.proposal is not self._proposal:
            return
        self._plan = event.plan
        if event.plan is None:
            self._title.show("cannot be done")
            self._view.show([Detail(refused(event.problem, self._signs))])
        else:
            self._title.show(safe_line(event.plan.about))
            self._view.show(self._details(event.plan))
        self._show_keys()

    def _details(self, plan: Plan) -> list[Detail]:
        return [
            *map(Detail, lines_of(plan, self._signs, KEYS)),
            *self._proposal.details(plan),
            *map(Detail, lists_of(plan, self._signs)),
        ]

    def _show_keys(self) -> None:
        words = [
            f"{_key_name(choice.key)} {choice.does}"
            for choice in self._proposal.choices(self._plan)
        ]
        if self._plan is not None and not self._plan.refusals:
            words.insert(0, "Enter does it")
        self._keys.show(" · ".join([*words, "Esc back"]))
        self._keys.refresh(layout=True)  # it may need another line now

    # What a person does

    def on_key(self, event: events.Key) -> None:
        if self._prompt.has_focus_within or self._writing is not None:
            return
        for choice in self._proposal.choices(self._plan):
            if event.key == choice.key:
                event.stop()
                self._take(choice)
                return

    def _take(self, choice: Choice | Question) -> None:
        if isinstance(choice, Choice):
            self._propose(choice.to)
            return
        to = choice.to
        self._ask(choice.does, choice.value, lambda text: self._propose(to(text)))

    def action_switch(self) -> None:
        switch = self._view.detail.switch
        if switch is not None and self._writing is None:
            self._propose(switch)

    def on_rows_view_chosen(self, event: RowsView.Chosen) -> None:
        plan = self._plan
        if plan is None or self._writing is not None:
            return
        if plan.refusals:
            self._say("refused: see above; nothing was written")
        elif expected := self._proposal.confirm(plan):
            self._ask(f"to do this in place, type {expected}", "", self._confirmed(plan, expected))
        else:
            self._do(plan)

    def _confirmed(self, plan: Plan, expected: str) -> Callable[[str], None]:
        def check(text: str) -> None:
            if text.strip() == expected:
                self._do(plan)
            else:
                self._say(f"{safe_line(text) or 'nothing'} is not {expected}: nothing was written")

        return check

    def _ask(self, what: str, value: str, answered: Callable[[str], None]) -> None:
        self._answered = answered
        self._prompt.ask(what, value)

    def on_prompt_accepted(self, event: Prompt.Accepted) -> None:
        answered, self._answered = self._answered, None
        self._leave_prompt()
        if answered is not None:
            answered(event.value)

    def on_prompt_left(self) -> None:
        self._answered = None
        self._leave_prompt()

    def _leave_prompt(self) -> None:
        self._prompt.hide()
        self._view.focus()

    def action_leave(self) -> None:
        if self._writing is None:
            self.dismiss(None)
        else:
            self._writing.stop()
            self._keys.show("stopping: what was written is removed again")

    def on_unmount(self) -> None:
        if self._writing is not None:
            self._writing.stop()

    # Doing it

    def _do(self, plan: Plan) -> None:
        self._writing = Watch(self.post_message)
        self._keys.show("writing")
        self._apply(self._proposal, plan, self._writing)

    @work(thread=True, exclusive=True, group="apply", exit_on_error=False)
    def _apply(self, proposal: Proposal, plan: Plan, watch: Watch) -> None:
        try:
            self.post_message(Applied(Done(plan, proposal.apply(plan, watch)), ""))
        except StoreError as error:
            self.post_message(Applied(None, str(error)))

    def on_going(self, event: Going) -> None:
        if self._writing is None:
            return
        if event.final:
            self._keys.show(f"{event.said} · too late to stop: it goes on to its end")
        elif not self._writing.stopping:
            self._keys.show(f"{event.said} · Esc takes it back")

    def on_applied(self, event: Applied) -> None:
        self._writing = None
        if event.done is not None:
            self.dismiss(event.done)
        else:
            self._say(event.problem)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """What goes wrong behind the screen is said on it."""
        if event.state is WorkerState.ERROR:
            self._writing = None
            error = event.worker.error
            self._say(f"{event.worker.group} failed: {type(error).__name__}: {error}")

    def _say(self, text: str) -> None:
        self._keys.show(safe_line(text))
        self.app.notify(safe_line(text), markup=False, timeout=6)


def _key_name(key: str) -> str:
    return key.upper() if len(key) == 1 and key.isupper() else key_text(key)
