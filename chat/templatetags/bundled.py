"""Links the styles and the scripts of a page: as bundles where static files are collected, else file by file."""

from __future__ import annotations

from django import template
from django.conf import settings
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from toolsupport.web import static_bundles

register = template.Library()
STYLE = '<link rel="stylesheet" href="{}">'
SCRIPT = '<script type="module" src="{}"></script>'


@register.simple_tag
def styles() -> SafeString:
    """Link the styles of every page."""
    if _is_bundled():
        return format_html(STYLE, static(static_bundles.style_bundle()))
    return format_html_join("\n", STYLE, ((static(f"css/{name}.css"),) for name in static_bundles.STYLES))


@register.simple_tag
def scripts(kind: str) -> SafeString:
    """Link the modules of a kind of page (bundles.PAGES)."""
    if _is_bundled():
        return format_html(SCRIPT, static(static_bundles.script_bundle(kind)))
    return format_html_join("\n", SCRIPT, ((static(f"js/{name}.js"),) for name in static_bundles.PAGES[kind]))


def _is_bundled() -> bool:
    """Return whether collected files are sent; decided when the site starts (asgi.py)."""
    return not settings.SERVESTATIC_USE_FINDERS
