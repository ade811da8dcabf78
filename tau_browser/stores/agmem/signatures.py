"""Who signed: Ed25519 over the text of a merkle root, by keys that a repository names.

Needs `cryptography`, an extra of this package; without it a signature tells nothing.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from tau_browser.stores.agmem.objects import bytes_at
from tau_browser.stores.agmem.packs import Damaged
from tau_browser.stores.verdict import Verdict

_MISSING = "its signature can be checked with the extra alone: pip install 'tau-browser[verify]'"


@dataclass(frozen=True, slots=True)
class _Key:
    """A public key. level: "own", or what trust.json says of it."""

    pem: bytes
    level: str

    @property
    def id(self) -> str:
        return hashlib.sha256(self.pem).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of a repository, its own first."""

    keys: list[_Key]

    def judge(self, root: str, signature: str) -> tuple[Verdict, str]:
        """What a signature of a merkle root proves, and why; no reason where it is verified by
        the repository's own key."""
        if not self.keys:
            return Verdict.UNKNOWN, "it is signed, and no public key is here to check it with"
        try:
            import cryptography  # noqa: F401
        except ImportError:
            return Verdict.UNKNOWN, _MISSING
        for key in self.keys:
            if _signed(root, signature, key.pem):
                if key.level == "own":
                    return Verdict.VERIFIED, ""
                if key.level == "full":
                    return Verdict.VERIFIED, f"by the trusted key {key.id}"
                return Verdict.UNKNOWN, f"signed by the key {key.id}, whose trust is {key.level}"
        return Verdict.BROKEN, f"signature: none of {len(self.keys)} known keys made it"


def keys_of(mem: str) -> Keys:
    """The keys that a folder `.mem` names."""
    keys = []
    try:
        keys.append(_Key(bytes_at(f"{mem}/keys/public.pem"), "own"))
    except (OSError, Damaged):
        signing = _json(f"{mem}/config.json").get("signing")
        pem = signing.get("public_key_pem") if isinstance(signing, dict) else None
        if isinstance(pem, str):
            keys.append(_Key(pem.encode("utf-8", "replace"), "own"))
    entries = _json(f"{mem}/trust/trust.json").get("entries")
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("public_key_pem"), str):
            pem = entry["public_key_pem"].encode("utf-8", "replace")
            if all(pem != key.pem for key in keys):
                keys.append(_Key(pem, str(entry.get("level"))))
    return Keys(keys)


def _signed(root: str, signature: str, pem: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(pem)
        if not isinstance(key, Ed25519PublicKey):
            return False
        key.verify(bytes.fromhex(signature), root.encode("utf-8", "replace"))
    except (InvalidSignature, UnsupportedAlgorithm, ValueError):
        return False
    return True


def _json(path: str) -> dict[str, Any]:
    try:
        value = json.loads(bytes_at(path))
    except (OSError, Damaged, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
