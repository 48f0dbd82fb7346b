"""Markdown as HTML that is safe to show: no raw HTML, nothing that loads or runs."""

from collections.abc import Sequence
from functools import cache, lru_cache
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup, escape

SCHEMES = ("http", "https", "mailto")
"""Where a link may lead; others stay text."""

BELOW = 2
"""Headings are put below those of the page: the first level becomes the third."""


@lru_cache(maxsize=64)
def markdown(text: str) -> Markup:
    """Render CommonMark with tables; an image is shown as the words for it.

    Examples
    --------
    >>> markdown("Judge **what** it wants. <b>")
    Markup('<p>Judge <strong>what</strong> it wants. &lt;b&gt;</p>\\n')
    >>> markdown("[here](javascript:alert) ![a cat](https://a.example/cat.png)")
    Markup('<p>[here](javascript:alert) a cat</p>\\n')
    """
    parser = _parser()
    tokens = parser.parse(text)
    for token in tokens:
        # An inline style would be refused by the page's policy.
        token.attrs.pop("style", None)
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + BELOW)}"
    return Markup(parser.renderer.render(tokens, parser.options, {}))


@cache
def _parser() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")
    made.validateLink = _may_lead  # type: ignore[method-assign]
    made.add_render_rule("link_open", _link)
    made.add_render_rule("image", _words_for_image)
    return made


def _may_lead(url: str) -> bool:
    try:
        return urlsplit(url.strip()).scheme.lower() in SCHEMES
    except ValueError:
        return False


def _link(
    renderer: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType
) -> str:
    # The page that it leads to learns neither where from nor a way back.
    tokens[at].attrSet("rel", "noopener noreferrer nofollow")
    tokens[at].attrSet("target", "_blank")
    return renderer.renderToken(tokens, at, options, env)


def _words_for_image(
    renderer: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType
) -> str:
    return str(escape(renderer.renderInlineAsText(tokens[at].children, options, env)))
