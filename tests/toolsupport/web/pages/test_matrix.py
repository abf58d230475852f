"""The filters of the models page, and its tests of single rows."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.template import Context, Template
from django.template.loader import render_to_string
from django.test import Client

from tests.factories import ModelProfileFactory, OverrideFactory, ServerFactory, UserFactory
from tests.markup import flat
from toolsupport.models import Detection, ModelProfile
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.models import profiles
from toolsupport.registry.models.profiles import ModelRow
from toolsupport.registry.testing import detections
from toolsupport.registry.testing.detections import DetectionResult

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def profile() -> ModelProfile:
    made = ModelProfileFactory(name="strange:1b", server=ServerFactory(name="box"))
    return made


def test_the_matrix_is_filtered_by_what_is_known(client: Client, profile: ModelProfile, charlie: User, bob: User):
    other = ModelProfileFactory(name="other:1b", family="qwen3")
    overrides.add(NewOverride(other.pk, "tools", True))
    overrides.add(NewOverride(profile.pk, "tools", True, proposed=True, actor=bob.pk))
    client.force_login(charlie)
    for query, name in (
        ("server=box", "strange:1b"),
        ("family=qwen3", "other:1b"),
        ("source=person", "other:1b"),
        ("state=none", "strange:1b"),
        ("review=1", "strange:1b"),
        ("review=1&q=other", ""),
    ):
        part = client.get(f"/models/?{query}", headers=HTMX).content.decode()
        assert [one for one in ("strange:1b", "other:1b") if one in part] == ([name] if name else []), query
    assert "To review <b>1</b>" in client.get("/models/").content.decode()


def test_a_chip_keeps_the_search_the_filters_and_the_order(client: Client, profile: ModelProfile, charlie: User):
    client.force_login(charlie)
    part = client.get("/models/?q=strange&server=box&sort=-tools", headers=HTMX).content.decode()
    assert 'href="/models/?q=strange&amp;server=box&amp;sort=-tools&amp;state=none"' in part
    assert 'id="bulk"' in part and 'hx-swap-oob="true"' in part
    chosen = client.get("/models/?q=strange&server=box&sort=-tools&state=none").content.decode()
    assert 'href="/models/?q=strange&amp;server=box&amp;sort=-tools" hx-get' in chosen
    assert '<input type="hidden" form="search-models" name="state" value="none">' in chosen


def test_one_row_is_tested_as_a_run_of_one_and_a_poll_reads_only_what_runs(client: Client, profile: ModelProfile):
    client.force_login(rita := UserFactory(username="rita", role="reviewer"))
    others = ModelProfileFactory.create_batch(3, server=profile.server)
    sent = {"model": profile.pk, "q": "nothing has this name"}
    assert "Testing 1 model" in flat(client.post("/models/detect/", sent, headers=HTMX).content.decode())
    first = Detection.objects.get(profile=profile)
    assert (first.trigger, first.actor) == ("bulk", rita)
    joined = client.post("/models/detect/", {"model": others[0].pk}, headers=HTMX).content.decode()
    assert "Testing 2 models" in flat(joined) and "seen=0-0-0" in joined
    Detection.objects.filter(pk=first.pk).update(status="running")
    begun = client.get(f"/models/detect/progress/?since={first.pk}&seen=0-0-0", headers=HTMX)
    assert "Testing 2 models" in flat(begun.content.decode())
    still = client.get(f"/models/detect/progress/?since={first.pk}&seen=0-1-0", headers=HTMX)
    assert still.headers["HX-Reswap"] == "none"
    assert still.content.decode().count("<tr") == 1 and f'id="model-{profile.pk}"' in still.content.decode()


def test_others_see_a_run_of_tests_begin_move_and_end(client: Client, profile: ModelProfile, charlie: User) -> None:
    rita, watcher = UserFactory(username="rita", role="reviewer"), Client()
    client.force_login(rita)
    watcher.force_login(charlie)

    def polled(shown: str) -> Any:
        """What the page gets by the address in it."""
        return watcher.get(html.unescape(shown.partition('hx-get="')[2].partition('"')[0]), headers=HTMX)

    idle = watcher.get("/models/").content.decode().partition('id="bulk"')[2]
    assert 'hx-trigger="every 10s"' in idle and polled(idle).status_code == 204
    client.post("/models/detect/", {"model": profile.pk}, headers=HTMX)
    begun = polled(idle).content.decode()
    assert "rita is testing 1 model · 0 done" in flat(begun) and 'hx-trigger="every 1s"' in begun
    assert f'<tr id="model-{profile.pk}"' in begun and "<button id=" not in begun, "nothing that a viewer may not do"
    test = Detection.objects.get(profile=profile).pk
    assert detections.claim("worker") == test
    detections.conclude(test, "worker", DetectionResult("native", {"passed": 3, "tried": 3}, {}, "", run_ms=900))
    over = polled(begun).content.decode()
    assert "rita tested 1 model." in flat(over) and "Proven" in over and 'hx-trigger="every 10s"' in over
    assert polled(over).status_code == 204
    # A page gets the rows that it lists: with a filter, without one, and with one that nothing fits.
    for query, listed in (("?q=strange", str(profile.pk)), ("", str(profile.pk)), ("?q=nothing", "")):
        assert f'name="rows" value="{listed}"' in flat(watcher.get(f"/models/{query}").content.decode()), query
    for listed, rows in ((str(profile.pk), 1), (str(profile.pk + 1), 0), ("", 0)):
        address = f"/models/detect/progress/?seen=0-0&since={test}&rows={listed}&at=1"
        assert watcher.get(address, headers=HTMX).content.decode().count("<tr ") == rows


def test_a_filter_shows_whose_output_follows_a_schema(client: Client, charlie: User) -> None:
    found = {
        "Proven": ("auto_detected", "enforced"),
        "Claimed": ("declared", "enforced"),
        "Set by a person": ("user_confirmed", "enforced"),
        "No": ("auto_detected", "accepted"),
        "Not measured": None,
    }
    models = {word: ModelProfileFactory(name=f"{word.split()[0].lower()}-model") for word in found}
    for word, claim in found.items():
        if claim is not None:
            OverrideFactory(profile=models[word], capability="constrains", source=claim[0], value=claim[1])
    client.force_login(charlie)
    page = client.get("/models/").content.decode()
    assert ">Schema</th>" in page and "Output follows a schema" in page
    assert "Constrained output: accepted but not enforced, test" in page
    for word, model in models.items():
        shown = client.get("/models/", {"schema": word}, headers=HTMX).content.decode()
        assert re.findall(r'<tr id="model-(\d+)"', shown) == [str(model.pk)], word


def test_a_search_opens_no_filter_and_only_filters_in_use_stay_in_sight(
    client: Client, profile: ModelProfile, charlie: User
) -> None:
    ModelProfileFactory(name="other:1b", family="qwen3", server=profile.server)
    client.force_login(charlie)

    def parts(query: str) -> tuple[list[str], list[str]]:
        """The names of the filters in sight, and of those that are folded."""
        page = client.get(f"/models/{query}").content.decode()
        form = page.partition('id="search-models"')[2].partition("</form>")[0]
        seen, _, folded = form.partition("<details")
        assert not folded.startswith(' class="fold" open')
        return re.findall(r'<select id="filter-(\w+)"', seen), re.findall(r'<select id="filter-(\w+)"', folded)

    assert parts("?q=strange") == ([], ["server", "family", "source", "schema"])
    assert parts("?q=strange&state=none&sort=model") == ([], ["server", "family", "source", "schema"])
    assert parts("?server=box&q=strange") == (["server"], ["family", "source", "schema"])
    assert parts("?family=qwen3&server=box") == (["server", "family"], ["source", "schema"])


def line(row: ModelRow, **context: object) -> str:
    """A line as the page has it, with what `model_row` may have kept."""
    needed = {"row": row, "needing": (), "may_detect": True, "csrf_token": "a-token"} | context
    return Template("{% load readable %}{% model_row row %}").render(Context(needed))


def made_anew(row: ModelRow, **context: object) -> str:
    needed = {"row": row, "needing": (), "may_detect": True, "csrf_token": "a-token"} | context
    return render_to_string("toolsupport/model_row.html", needed)


def test_a_line_of_the_matrix_is_kept_only_for_what_is_alike(bob: User) -> None:
    profile = ModelProfileFactory(name="<b>one</b>:1b")
    overrides.add(NewOverride(profile.pk, "vision", True, actor=bob.pk))
    [row] = profiles.listed()
    older = replace(row, evidence=replace(row.evidence, older=True))
    rows = [row, older, replace(row, gone=True), replace(row, enabled=False), replace(row, name="two"), row]
    rows += [replace(row, down="Offline"), replace(row, size="7B"), replace(row, cells=row.cells[::-1])]
    rows += [replace(row, simulated=True), replace(row, evidence=replace(row.evidence, sentence="It's <new>."))]
    contexts: list[dict[str, object]] = [{}, {"needing": {row.id}}, {"may_detect": False}, {"oob": True}]
    for _ in range(2):
        for number, one in enumerate(rows):
            for context in contexts:
                assert line(one, **context) == made_anew(one, **context), (number, context)


def test_a_line_with_a_form_has_the_token_of_its_page() -> None:
    ModelProfileFactory()
    [row] = profiles.listed()
    older = replace(row, evidence=replace(row.evidence, older=True))
    assert 'value="first"' in line(older, csrf_token="first")
    assert 'value="second"' in line(older, csrf_token="second")
