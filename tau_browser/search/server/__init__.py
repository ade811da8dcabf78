"""Search on a JMFTS server: each of its methods asked by itself and within the scope, fused here.

A hit is an entry. What was found in a piece of one (a message that was cut up for its vectors)
counts for the entry. Nothing outside the scope gets through, whatever the server answers: the
documents above each hit are looked at (`scope`).
"""
