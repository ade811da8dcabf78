"""The names of the pane's styles, and what they look like in a theme.

Each style differs from plain text in more than its colour wherever it says something that the
words beside it do not say.
"""

from __future__ import annotations

from collections.abc import Mapping

from rich.style import Style
from textual.color import Color, ColorParseError

_STYLES = {
    # name: colour of the theme (see `theme_variables`), attributes
    "entry.title": ("text-primary", "bold"),
    "entry.state": ("text-secondary", "italic"),
    "entry.heading": ("text-secondary", "bold"),
    "entry.call": ("text-accent", "bold"),
    "entry.key": ("text-secondary", ""),
    "entry.muted": ("", "dim"),
    "entry.thinking": ("", "dim italic"),
    "entry.good": ("text-success", ""),
    "entry.warn": ("text-warning", ""),
    "entry.bad": ("text-error", "bold"),
    "diff.added": ("text-success", ""),
    "diff.removed": ("text-error", ""),
    "diff.place": ("text-accent", "bold"),
    "code.comment": ("", "dim italic"),
    "code.keyword": ("text-primary", "bold"),
    "code.string": ("text-success", ""),
    "code.number": ("text-warning", ""),
    "code.name": ("text-accent", ""),
    "code.builtin": ("text-secondary", ""),
    "markdown.paragraph": ("", ""),
    "markdown.text": ("", ""),
    "markdown.em": ("", "italic"),
    "markdown.strong": ("", "bold"),
    "markdown.code": ("text-warning", ""),
    "markdown.block_quote": ("", "italic"),
    "markdown.item": ("", ""),
    "markdown.item.bullet": ("text-accent", "bold"),
    "markdown.item.number": ("text-accent", "bold"),
    "markdown.hr": ("", "dim"),
    "markdown.table.border": ("", "dim"),
    "markdown.table.header": ("text-primary", "bold"),
    "markdown.h1": ("text-primary", "bold underline"),
    "markdown.h2": ("text-primary", "bold underline"),
    "markdown.h3": ("text-primary", "bold"),
    "markdown.h4": ("text-primary", "bold"),
    "markdown.h5": ("text-primary", "bold"),
    "markdown.h6": ("text-primary", "bold"),
}


def styles_of(variables: Mapping[str, str]) -> dict[str, Style]:
    """The styles in a theme's colours."""
    return {
        name: _colour(variables.get(colour, "")) + Style.parse(attributes or "none")
        for name, (colour, attributes) in _STYLES.items()
    }


def _colour(value: str) -> Style:
    try:
        return Style(color=Color.parse(value).rich_color) if value else Style()
    except ColorParseError:  # a theme may say "auto 60%", which is no colour by itself
        return Style()
