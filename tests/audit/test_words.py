"""Words as numbers, against the words themselves."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tau_browser.audit.words import Words, words_of

TEXTS = st.lists(st.text(st.sampled_from("aBß会İ \x00\x01\n-_'9\ud800"), max_size=40), max_size=5)
# that differ in one letter, wherever it stands, and in their length
ALIKE = [
    before + letter + "x" * after
    for before in ("", "d" * 7, "d" * 8, "d" * 15, "d" * 16, "d" * 40)
    for letter in "ay"
    for after in (0, 1, 8, 9, 30)
]


def places(words: Words, asked: list[str]) -> list[tuple[str, int]]:
    which, text = words.where(asked)
    pairs = zip(which.tolist(), text.tolist(), strict=True)
    return sorted((asked[one], at) for one, at in pairs)


@given(TEXTS)
def test_words_are_those_of_the_texts(texts: list[str]) -> None:
    words = Words(texts, 1)
    wanted = [words_of(text) for text in texts]
    assert [words.of(at, 0, len(each)) for at, each in enumerate(wanted)] == wanted
    asked = sorted({word for each in wanted for word in each} | {"nowhere"})
    found = sorted((word, text) for text, each in enumerate(wanted) for word in each)
    assert places(words, asked) == found


def test_words_that_are_alike_are_told_apart() -> None:
    words = Words([" ".join(ALIKE), *ALIKE], 1)
    for number, word in enumerate(ALIKE, 1):
        assert places(words, [word]) == [(word, 0), (word, number)]
    assert places(words, ALIKE) == sorted(
        [(word, 0) for word in ALIKE] + [(word, at) for at, word in enumerate(ALIKE, 1)]
    )
    assert places(words, []) == []


@given(st.lists(st.text(st.sampled_from("dDoOcC 会ß\u0327-"), max_size=12), max_size=5))
def test_texts_in_which_letters_stand(texts: list[str]) -> None:
    wanted = [at for at, text in enumerate(texts) if any("doc" in one for one in words_of(text))]
    assert Words(texts, 1).texts_with(b"doc") == wanted
