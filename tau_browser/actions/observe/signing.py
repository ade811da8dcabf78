"""Who signs commits: as in agmem, whoever has the private key in the environment.

agmem leaves a commit unsigned where the key cannot be used, and says nothing; here that is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tau_browser.actions.disk import told
from tau_browser.actions.observe.disk import make_folder, put
from tau_browser.stores.agmem.signatures import keys_of
from tau_browser.stores.store import StoreError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

VARIABLE = "AGMEM_SIGNING_PRIVATE_KEY"
UNSIGNED = f"commits stay unsigned: the repository has a key, and ${VARIABLE} is not set"


def private_key(env: Mapping[str, str]) -> bytes | None:
    """The private key that the environment tells, itself or by a file; None where it tells none.

    Raises StoreError where the file cannot be read.
    """
    if pem := env.get(VARIABLE):
        return pem.encode("utf-8", "replace")
    if not (named := env.get(f"{VARIABLE}_FILE")):
        return None
    path = Path(named).expanduser()
    with told(path):
        return path.read_bytes()


class Signer:
    """Signs the merkle roots of commits. Raises StoreError where the key is none, or not the one
    that the repository is known by."""

    def __init__(self, pem: bytes, mem: Path) -> None:
        self._key = _loaded(pem)
        self._mem = mem
        known = [key for key in keys_of(str(mem)).keys if key.level == "own"]
        self._is_known = bool(known)
        if known and _public(known[0].pem) != _public(self._public_pem()):
            raise StoreError(
                f"{mem.parent}: the key in ${VARIABLE} is not the private one of its public key: "
                "agmem would take the commits for tampered ones"
            )

    def introduce(self) -> None:
        """Put the public key where agmem looks for it, if the repository has none yet."""
        if not self._is_known:
            with told(self._mem):
                make_folder(self._mem / "keys")
                put(self._mem / "keys" / "public.pem", self._public_pem())
            self._is_known = True

    def sign(self, root: str) -> str:
        """The signature of a merkle root, as hex."""
        return self._key.sign(root.encode()).hex()

    def _public_pem(self) -> bytes:
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        public = self._key.public_key()
        return public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def has_public_key(mem: Path) -> bool:
    """Whether a repository is known by a key, and so should be signed."""
    return any(key.level == "own" for key in keys_of(str(mem)).keys)


def _loaded(pem: bytes) -> Ed25519PrivateKey:
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    except ImportError as error:
        raise StoreError(
            f"${VARIABLE} is set, and commits can be signed with the extra alone: "
            "pip install 'tau-browser[verify]', or unset it"
        ) from error
    try:
        key = load_pem_private_key(pem, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise StoreError(f"the key in ${VARIABLE} cannot be read: give an Ed25519 PEM") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise StoreError(f"the key in ${VARIABLE} is no Ed25519 key, which agmem signs with")
    return key


def _public(pem: bytes) -> bytes:
    """A public key without what its spelling adds."""
    return b"".join(pem.split())
