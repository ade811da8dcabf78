"""The one table of keys: what a person presses, the verb it stands for, and what that does.

A person overrides keys by verb in config.toml, under [keys].
"""

from __future__ import annotations

from dataclasses import dataclass

from textual.binding import Binding


@dataclass(frozen=True, slots=True)
class Key:
    """One line of the table. `keys` are Textual's names, separated by commas.

    asks: the verb asks for text. Its key then counts before the keys that follow it are dealt
    out, so that what is typed or pasted in one go lands in the prompt.
    """

    verb: str
    keys: str
    does: str
    asks: bool = False

    @property
    def binding(self) -> Binding:
        """The same as Textual wants it; the verb is the action and the id."""
        return Binding(
            self.keys, self.verb, self.does, show=False, id=self.verb, priority=self.asks
        )


ROWS = [
    Key("down", "j,down", "next row"),
    Key("up", "k,up", "previous row"),
    Key("page_down", "pagedown,ctrl+f", "one page down"),
    Key("page_up", "pageup", "one page up"),
    Key("first", "g,home", "first row"),
    Key("last", "G,end", "last row"),
    Key("unfold", "l,right", "unfold, or go into the group"),
    Key("fold", "h,left", "fold, or go to the group that holds this"),
    Key("choose", "enter", "open, or fold and unfold"),
]

TREE = [
    Key("next_turn", "right_curly_bracket", "next user turn"),
    Key("previous_turn", "left_curly_bracket", "previous user turn"),
    Key("next_fork", "right_parenthesis", "next fork"),
    Key("previous_fork", "left_parenthesis", "previous fork"),
    Key("next_error", "right_square_bracket", "next error"),
    Key("previous_error", "left_square_bracket", "previous error"),
    Key("next_compaction", "greater_than_sign", "next compaction or elide"),
    Key("previous_compaction", "less_than_sign", "previous compaction or elide"),
    Key("go_to_leaf", "L", "go to the leaf, where the session goes on"),
    Key("fold_all", "minus", "fold everything"),
    Key("unfold_all", "plus,equals_sign", "unfold everything"),
    Key("mark", "space", "mark this entry, or unmark it"),
]

ENTRY = [
    Key("scroll_down", "j,down", "scroll down"),
    Key("scroll_up", "k,up", "scroll up"),
    Key("page_down", "pagedown", "one page down"),
    Key("page_up", "pageup", "one page up"),
    Key("scroll_home", "g,home", "to the top"),
    Key("scroll_end", "G,end", "to the end"),
    Key("toggle_thinking", "T", "unfold or fold the model's thinking"),
    Key("toggle_raw", "J", "the entry as stored, or as read"),
    Key("show_more", "m", "show more of what is cut"),
]

BROWSER = [
    Key("next_pane", "tab", "next pane"),
    Key("previous_pane", "shift+tab", "previous pane"),
    Key("find", "slash", "find in this session", asks=True),
    Key("next_hit", "n", "next hit, unfolding as needed"),
    Key("previous_hit", "N", "previous hit"),
    Key("filter", "F", "only hits and what leads to them, or all"),
    Key("raise_threshold", "v", "hide what has less signal (severity, text, numbers)"),
    Key("lower_threshold", "V", "hide less of it"),
    Key("search", "s", "search all sessions", asks=True),
    Key("model_view", "c", "full history, or what the model saw at this entry"),
    Key("compare", "d", "compare with the marked entry"),
    Key("jump", "colon", "jump to an entry by its id", asks=True),
    Key("follow", "t", "follow the session as it grows, or stop"),
    Key("reload", "r", "read again"),
    Key("fork", "f", "fork here, or only the marked entries: a new session"),
    Key("prune", "x", "prune this subtree, or the marked ones; or fold what is before"),
    Key("export", "e", "export: HTML, Markdown, JSON, JSONL"),
    Key("enrich", "E", "enrich: give the server the vectors and words that it searches by"),
    Key("import", "i", "import a file of any readable format", asks=True),
    Key("label", "b", "write a label on this entry", asks=True),
    Key("note", "B", "write a note on this entry", asks=True),
    Key("rename", "R", "rename the session", asks=True),
    Key("undo", "u", "take a change back"),
    Key("memory", "M", "memory: distill, promote, snapshot, compact, observe"),
    Key("audit", "a", "what was recalled from memory, and whether it was used"),
    Key("copy", "y", "copy id, text, path or resume command"),
    Key("edit", "o", "open the entry's text in $EDITOR"),
    Key("coverage", "exclamation_mark", "what was read, and what could not be"),
    Key("verify", "I", "whether what the store holds is what was written"),
    Key("entry_half_page_down", "ctrl+d", "scroll the entry down"),
    Key("entry_half_page_up", "ctrl+u", "scroll the entry up"),
    Key("toggle_sessions", "1", "show or hide the sessions"),
    Key("toggle_entry", "3", "show or hide the entry"),
    Key("zoom", "z", "only this pane, or all"),
    Key("narrower", "comma", "make this pane smaller"),
    Key("wider", "full_stop", "make this pane larger"),
    Key("back", "escape", "one step back"),
]

MEMORY = [
    Key("distill", "d", "a digest of the last turns, or of what one tool or run did"),
    Key("promote", "p", "entries as documents of a corpus on a JMFTS server"),
    Key("snapshot", "s", "this corpus with hashes, to be kept and verified"),
    Key("compact", "c", "this corpus anew, without what is in it twice"),
    Key("observe", "o", "keep the tool calls of live sessions in an agmem repository"),
]

SEARCH = [
    Key("next_pane", "tab", "accept a completion, or next pane"),
    Key("previous_pane", "shift+tab", "previous pane"),
    Key("query_line", "slash,s", "to the query line"),
    Key("how", "w", "where and how to search, and what each ranker counts"),
    Key("save", "ctrl+s", "save the search under a name"),
    Key("searches", "ctrl+r", "saved searches, and the last queries"),
    Key("copy", "y", "copy the search as a command line"),
    Key("pause_indexing", "ctrl+t", "pause indexing, or go on"),
    Key("back", "escape", "back to the browser"),
]

AUDIT = [
    Key("next_pane", "tab", "next pane"),
    Key("previous_pane", "shift+tab", "previous pane"),
    Key("go", "enter", "to the entry in its tree: of the recall, the hit or the evidence"),
    Key("evidence", "e", "the next evidence for the verdict"),
    Key("replay", "R", "ask the memory the same again, now"),
    Key("whose", "w", "recalls of this session, of its project, or of all sessions"),
    Key("order", "o", "sort by something else"),
    Key("filter", "slash", "only recalls that hold these words, such as unused", asks=True),
    Key("sums", "v", "what they add up to"),
    Key("report", "E", "write a report on all of them: HTML, Markdown, CSV"),
    Key("legend", "L", "what the verdicts mean"),
    Key("back", "escape", "one step back"),
]

REPLAY = [
    Key("method", "m", "another method first"),
    Key("back", "escape", "back to the recalls"),
]

TOTALS = [
    Key("sums", "v", "by session, by project, by document"),
    Key("order", "o", "sort by the next column"),
    Key("filter", "slash", "only rows that hold these words", asks=True),
    Key("back", "escape", "back to the recalls"),
]

APP = [
    Key("help", "question_mark", "the keys of where you are"),
    Key("quit", "q", "quit"),
]

OF_SCREENS = {
    "BrowserScreen": [*BROWSER, *MEMORY],
    "SearchScreen": SEARCH,
    "AuditScreen": AUDIT,
    "TotalsScreen": TOTALS,
    "ReplayScreen": REPLAY,
}
"""By the name of the screen's class, for those that must not import it before it is needed."""


def bindings(keys: list[Key]) -> list[Binding]:
    """A table as Textual bindings."""
    return [key.binding for key in keys]
