"""The entry pane: everything that is stored about one entry, readable and bounded."""

from tau_browser.tui.entry.pager import EntryPane

__all__ = ["EntryPane"]
