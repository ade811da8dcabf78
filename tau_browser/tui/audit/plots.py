"""Small plots as text, by plotext, which is imported when the first is drawn (0.1 s).

Its colours are taken off: the theme has the say.
"""

from __future__ import annotations

from collections.abc import Sequence

_LEAST = (24, 6)  # columns and lines below which a plot says nothing
_PLAIN = str.maketrans("┌┐└┘├┤┬┴┼─│█", "+++++++++-|#")


def bars(
    title: str,
    values: Sequence[tuple[str, int]],
    size: tuple[int, int],
    *,
    upright: bool,
    ascii_only: bool,
) -> str:
    """A bar for each value, in order: from the left if they are upright, else from the top.

    size: columns and lines; "" where that is too little.
    """
    if not values or size < _LEAST or size[1] < _LEAST[1]:
        return ""
    import plotext

    shown = values if upright else values[::-1]
    labels, numbers = [label for label, _ in shown], [number for _, number in shown]
    figure = plotext.figure
    figure.clear()
    figure.plot_size(*size)
    figure.title(title)
    orientation = "vertical" if upright else "horizontal"
    figure.draw(figure.bar(labels, numbers, orientation=orientation, width=0.5))
    text: str = plotext.uncolorize(str(figure.build()))
    return text.translate(_PLAIN) if ascii_only else text
