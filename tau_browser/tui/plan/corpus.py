"""The proposals made of a corpus of aethergraph's: its snapshot, and it without repeats."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tau_browser.actions.corpora import plan_compact, plan_snapshot
from tau_browser.actions.folder_writer import FolderWriter
from tau_browser.actions.journal import Change, Journal
from tau_browser.actions.plan import Plan, Verb
from tau_browser.actions.progress import Tell
from tau_browser.stores.aethergraph.corpora import read_corpus
from tau_browser.stores.aethergraph.layout import address_of
from tau_browser.tui.plan.proposal import Choice, Detail, Question

_MAKE = {Verb.SNAPSHOT: plan_snapshot, Verb.COMPACT: plan_compact}


@dataclass(frozen=True, slots=True)
class OfCorpus:
    """What a verb makes of the corpus at a path, as it is now, in a new folder."""

    verb: Verb
    path: str
    folder: str
    journal: Journal

    def plan(self) -> Plan:
        address = address_of(self.path)
        corpus = read_corpus(address.root, address.name)
        return _MAKE[self.verb](address.root, corpus, os.path.expanduser(self.folder))

    def choices(self, plan: Plan | None) -> Sequence[Choice | Question]:
        folder = plan.target if plan else self.folder
        return [Question("o", "folder", folder, lambda text: replace(self, folder=text.strip()))]

    def details(self, plan: Plan) -> Sequence[Detail]:
        return ()

    def confirm(self, plan: Plan) -> str:
        return ""

    def apply(self, plan: Plan, tell: Tell) -> Change:
        return FolderWriter().apply(plan, self.journal, tell)
