"""Text that is hard to compare."""

from __future__ import annotations

# Characters that change length, order or neighbours when they are folded.
TRICKY = (
    "iIİıß\u1e9eﬁſK²…é\u0301\u0307\u0323\u0345αΐΪςΣǰŉ\u200d👩💻\ufe0f\u20e3🇩🇪क\u094dष\u09c7\u09be"
    "가\u1100\u1161\u11a8ㄱㅏｱﾞᄀ\uffa1\uffc2´\ud800\n\r ab1"
)
