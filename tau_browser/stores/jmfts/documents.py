"""What a server sends, as far as it is looked at. All else in it is skipped."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

ROOT = "tau:conversation"
CHUNK = "jmfts:chunk"
TAU = "tau:"
_NULL = msgspec.Raw(b"null")


class Document(msgspec.Struct, frozen=True, gc=False):
    """A document. Its content, and what is structured in it, are decoded when looked at; its
    `path`, which holds every document above it, is not kept."""

    id: int
    depth: int
    parent_id: int | None = None
    title: str | None = None
    content: msgspec.Raw = _NULL
    structured_content: msgspec.Raw = _NULL
    usetype: str | None = None
    position: int | None = None
    created_at: str | None = None
    updated_at: str | None = None
    event_time: str | None = None

    @property
    def text(self) -> str:
        """What the server searches."""
        return msgspec.json.decode(self.content, type=str | None) or ""

    @property
    def structured(self) -> dict[str, Any]:
        """What else is stored with it."""
        return msgspec.json.decode(self.structured_content, type=dict[str, Any] | None) or {}


class Embedded(msgspec.Struct, frozen=True, gc=False):
    """A document with its vector, if it has one."""

    id: int
    parent_id: int | None = None
    content: str | None = None
    content_hash: str | None = None
    created_at: str | None = None
    event_time: str | None = None
    embed: msgspec.Raw = _NULL

    @property
    def has_vector(self) -> bool:
        """Whether it has one."""
        return bytes(self.embed) != b"null"

    @property
    def was_rewritten(self) -> bool:
        """Whether it says something else than when it was made: the server hashes it then, and
        never again."""
        said = hashlib.sha256((self.content or "").encode()).hexdigest()
        return bool(self.content) and self.content_hash != said


class Payload(msgspec.Struct, frozen=True, gc=False):
    """What τ keeps in a document, as JSON: the entry or header, and the writer's counter."""

    tau: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    seq: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class Located(msgspec.Struct, frozen=True, gc=False):
    """A document with the documents above it, the outermost first."""

    id: int
    path: list[int] = []
    parent_id: int | None = None
    title: str | None = None
    content: str | None = None
    usetype: str | None = None
    created_at: str | None = None
    event_time: str | None = None
    structured_content: msgspec.Raw = _NULL


class Via(msgspec.Struct, frozen=True, gc=False):
    """A piece for which its document was found."""

    document_id: int
    score: float = 0.0


class Scored(msgspec.Struct, frozen=True, gc=False):
    """A hit."""

    document: Located
    score: float = 0.0
    via: list[Via] | None = None


class Applied(msgspec.Struct, frozen=True, gc=False):
    """What a search really did."""

    truncated: bool | None = None


class Found(msgspec.Struct, frozen=True, gc=False):
    """The answer to a search."""

    results: list[Scored] = []
    applied: Applied = Applied()


class Token(msgspec.Struct, frozen=True, gc=False):
    """A token that late interaction compares: a word, or a piece of one that begins with ##."""

    token_idx: int
    token_text: str = ""


class Tokens(msgspec.Struct, frozen=True, gc=False):
    """The tokens of a document that were found worth keeping."""

    tokens: list[Token] = []


class Counts(msgspec.Struct, frozen=True, gc=False):
    """How many documents there are, and how many of each use type."""

    total_documents: int = 0
    by_usetype: dict[str, int] = {}


class Difference(msgspec.Struct, frozen=True, gc=False):
    """What was added since some time."""

    new_documents: int


class Descendants(msgspec.Struct, frozen=True):
    """All below a document, in no order, and how many documents it is with it."""

    descendants: list[Document]
    total: int


class Subtree(Descendants, frozen=True):
    """A document and all below it."""

    root: Document


class Embedding(msgspec.Struct, frozen=True):
    """Whether a server can make vectors."""

    can_embed: bool = False


class Retrieval(msgspec.Struct, frozen=True):
    """How a server can search."""

    methods: list[str] = []


class Corpus(msgspec.Struct, frozen=True):
    """What a server holds."""

    documents: int = 0
    documents_with_vectors: int = 0
    documents_with_token_vectors: int = 0
    bm25_indexes: list[str] = []


class Capabilities(msgspec.Struct, frozen=True):
    """What a server can do, and what it holds."""

    version: str = ""
    embedding: Embedding = Embedding()
    retrieval: Retrieval = Retrieval()
    corpus: Corpus = Corpus()


class Frontier(msgspec.Struct, frozen=True):
    """How many documents a subtree holds."""

    nodes_total: int


class View(msgspec.Struct, frozen=True):
    """What a token may do with a document."""

    can_write: bool | None = None


class Created(msgspec.Struct, frozen=True):
    """A document that was written."""

    id: int
    updated_at: str | None = None


class Chunk(msgspec.Struct, frozen=True):
    """A piece of a document that was cut up."""

    document_id: int


class Chunked(msgspec.Struct, frozen=True):
    """The pieces of a document."""

    chunks: list[Chunk] = []


class Index(msgspec.Struct, frozen=True):
    """A BM25 index, and how many documents it holds; deleted ones may count."""

    name: str
    total_docs: int = 0


class Roots(msgspec.Struct, frozen=True):
    """The documents below which an index takes in what is written."""

    roots: list[int] = []
