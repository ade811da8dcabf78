"""What stands beside entries that were recalled, in this session and in others."""

from __future__ import annotations

from tau_browser.audit.marks import Mark, marks_of
from tau_browser.audit.recall import SessionAudit
from tau_browser.audit.session_audit import audit_session
from tau_browser.model.session import Session
from tests.audit.sessions import Doc, Story
from tests.conftest import read

LAMP = Doc(101, "user — 0001", "The lamp is red.", usetype="tau:message")


def conversation() -> Story:
    """One of a server, whose first entry is document 101."""
    story = Story(hostname="here", id="open")
    text = [{"type": "text", "text": "The lamp is red."}]
    story.add(id="101", message={"role": "user", "content": text})
    return story


def other(name: str, *docs: Doc, says: str = "", query: str = "lamp") -> SessionAudit:
    """The audit of another conversation, which recalls some documents."""
    story = Story(hostname="here", id=name)
    story.search(query, *docs)
    if says:
        story.say(says)
    return audit_session(name, read(story.log))


def audited(story: Story) -> tuple[Session, SessionAudit]:
    session = read(story.log)
    return session, audit_session("open", session)


def test_this_session_alone() -> None:
    story = conversation()
    story.search("lamp", LAMP)
    story.say("It is [doc 101].")
    marks = marks_of(*audited(story))
    assert marks == {0: Mark("recalled 1x, used 1x"), 1: Mark("1 hit, used 1x")}


def test_other_sessions_as_they_were_audited() -> None:
    session, audit = audited(conversation())
    others = [
        other("used", LAMP, says="See [doc 101]."),
        other("unused", LAMP, Doc(9, "Oil", "Whale oil."), says="No idea.", query="oil"),
        other("elsewhere", Doc(9, "Oil", "Whale oil.")),
    ]
    marks = marks_of(session, audit, others)
    assert marks == {0: Mark("recalled 2x, used 1x", "2 of 4 audited sessions")}
    assert marks_of(session, audit, []) == {}


def test_a_recall_that_a_fork_copied_counts_once() -> None:
    session, audit = audited(conversation())
    fork = other("one", LAMP)
    marks = marks_of(session, audit, [fork, other("two", LAMP, says="See [doc 101].")])
    assert marks == {0: Mark("recalled 1x, used 1x", "1 of 3 audited sessions")}


def test_a_call_that_was_recalled_has_both() -> None:
    story = conversation()
    story.search("red", Doc(9, "Oil", "Whale oil."))
    story.search("again", Doc(102, "assistant — 0002", "", usetype="tau:message"))
    story.records[1]["id"], story.records[2]["parentId"] = "102", "102"
    assert marks_of(*audited(story))[1] == Mark("1 hit, not used; recalled 1x, use unknown")
