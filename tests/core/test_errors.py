"""The tail of a message about a name that is not known."""

from __future__ import annotations

import pytest

from askwise.core.errors import nearest


@pytest.mark.parametrize(
    ("name", "known", "said"),
    [
        ("text", ["context", "id"], "known: context, id"),
        ("contxt", ["context", "id"], "did you mean 'context'?"),
        ("kube", ["bounded-kube", "uniform"], "did you mean 'bounded-kube'?"),
        ("rror", ["error", "id"], "did you mean 'error'?"),
        ("", ["id"], "known: id"),
    ],
)
def test_a_misspelling_is_told_from_a_word_inside_another(
    name: str, known: list[str], said: str
) -> None:
    assert nearest(name, known) == said
