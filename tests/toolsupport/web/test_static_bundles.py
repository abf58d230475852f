"""A page gets its styles and its scripts as one file each, with the same contents and the same order."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.template import Context, Template

from tests.house import ROOT
from toolsupport.web import static_bundles

TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))


def test_the_bundles_hold_each_module_once_behind_what_it_needs() -> None:
    made = dict(static_bundles.bundles(ROOT / "static"))
    for kind in static_bundles.PAGES:
        text = made[static_bundles.script_bundle(kind)]
        names = re.findall(r"^modules\.(\w+) = ", text, re.M)
        assert len(set(names)) == len(names)
        assert not static_bundles.LEFT.search(text)
        assert not re.search(r"^ *//", text, re.M)  # comments are a fifth of what is sent
        for name in names:
            used = re.findall(r"= modules\.(\w+);", text[: text.index(f"modules.{name} = ")])
            assert set(used) <= set(names[: names.index(name)])
    css = made[static_bundles.style_bundle()]
    assert "/*" not in css
    for name in static_bundles.STYLES:
        rules = re.sub(r"/\*.*?\*/", "", (ROOT / "static" / "css" / f"{name}.css").read_text(), flags=re.S)
        assert "".join(rules.split()) in "".join(css.split())


def test_forms_of_imports_and_exports(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text(
        'import * as b from "./b.js";\nimport { one as first, two } from "./b.js";\nb.two(first);\n'
    )
    (tmp_path / "b.js").write_text("export const one = 1;\nexport class Two {}\nexport const two = () => new Two();\n")
    text = static_bundles.joined(tmp_path, ("a",))
    assert "modules.b = { one, Two, two };" in text
    assert "const b = modules.b;\nconst { one: first, two } = modules.b;" in text


@pytest.mark.parametrize(
    "text",
    [
        "export default 1;",
        'import one from "./b.js";',
        "export { one };",
        'import { one } from "./b.js";',
        'import "./a.js";',
    ],
)
def test_what_cannot_be_bundled_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.js").write_text(text)
    (tmp_path / "b.js").write_text("")
    with pytest.raises(ValueError):
        static_bundles.joined(tmp_path, ("a",))


def test_every_page_names_a_bundle_that_exists() -> None:
    named = {kind for path in TEMPLATES for kind in re.findall(r'\{% scripts "(\w+)" %\}', path.read_text())}
    assert named == set(static_bundles.PAGES)
    assert [path for path in TEMPLATES if 'type="module"' in path.read_text()] == []


def test_without_collected_files_the_files_themselves_are_linked(monkeypatch: pytest.MonkeyPatch) -> None:
    page = Template('{% load bundled %}{% styles %}{% scripts "chat" %}')
    monkeypatch.setattr(settings, "SERVESTATIC_USE_FINDERS", True)
    apart = page.render(Context())
    assert apart.count("<link") == len(static_bundles.STYLES) and apart.count("<script") == 3
    monkeypatch.setattr(settings, "SERVESTATIC_USE_FINDERS", False)
    together = page.render(Context())
    assert together.count("<link") == together.count("<script") == 1
    assert "/static/bundles/chat.js" in together and "/static/bundles/all.css" in together
