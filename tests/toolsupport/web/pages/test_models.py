"""The pages of the models, for Alice (a user), Bob (an administrator), Charlie (a viewer) and strangers."""

from __future__ import annotations

from datetime import timedelta
from html.parser import HTMLParser

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from tests.factories import ModelProfileFactory, ServerFactory, UserFactory
from tests.markup import flat
from toolsupport.models import HistoryEntry, ModelProfile, Override
from toolsupport.registry.knowledge import effective_values, expiries, overrides
from toolsupport.registry.knowledge.overrides import NewOverride

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def profile() -> ModelProfile:
    made = ModelProfileFactory(name="strange:1b", server=ServerFactory(name="box"))
    return made


def _decide(client: Client, profile: ModelProfile, htmx: bool = True, **fields: object):
    sent = {"decision": "yes", "reason": "", "newest": overrides.newest_seq(profile.pk, "tools")} | fields
    return client.post(f"/models/{profile.pk}/override/", sent, headers=HTMX if htmx else {}, follow=True)


def test_everybody_with_a_role_sees_the_matrix(client: Client, profile: ModelProfile, charlie: User):
    client.force_login(charlie)
    page = client.get("/models/").content.decode()
    assert "strange:1b" in page
    assert 'aria-current="page">Models' in page
    assert "/servers/" in page


@pytest.mark.parametrize("path", ["/models/", "/models/1/", "/servers/"])
def test_strangers_sign_in_first(client: Client, path: str):
    assert client.get(path).headers["Location"] == f"/login/?next={path}"


def test_people_without_a_role_see_nothing(client: Client, profile: ModelProfile):
    client.force_login(UserFactory())
    answer = client.get("/models/")
    assert answer.status_code == 403
    assert "does not allow you to see models" in answer.content.decode()


def test_the_filter_swaps_only_the_rows(client: Client, profile: ModelProfile, charlie: User):
    ModelProfileFactory(name="gemma3:1b")
    client.force_login(charlie)
    part = client.get("/models/?q=strange", headers=HTMX).content.decode()
    assert "strange:1b" in part
    assert "gemma3:1b" not in part
    assert "<html" not in part
    whole = client.get("/models/?q=strange", headers=HTMX | {"HX-History-Restore-Request": "true"})
    assert "<html" in whole.content.decode()
    assert "No model and no server" in client.get("/models/?q=nothing").content.decode()


def test_an_empty_site_says_where_to_go(client: Client, charlie: User):
    client.force_login(charlie)
    assert 'href="/servers/">Open servers' in client.get("/models/").content.decode()


def test_a_page_that_is_not_there(client: Client, charlie: User):
    client.force_login(charlie)
    for path in ("/models/999/", f"/models/{10**30}/"):
        answer = client.get(path)
        assert answer.status_code == 404
        assert "Page not found" in answer.content.decode()


def test_who_may_not_decide_sees_the_value_without_the_editor(
    client: Client, profile: ModelProfile, alice: User, charlie: User
):
    for person in (alice, charlie):
        client.force_login(person)
        page = client.get(f"/models/{profile.pk}/").content.decode()
        assert "Not measured" in page
        assert "Follow the evidence" not in page
        assert "keep_alive" not in page
        assert _decide(client, profile).status_code == 403
        assert client.post(f"/models/{profile.pk}/options/", {"num_ctx": 4096}).status_code == 403
    assert Override.objects.count() == 0


def test_a_reviewer_decides_for_everyone_but_sets_no_options(client: Client, profile: ModelProfile):
    client.force_login(UserFactory(username="rita", role="reviewer"))
    assert "Saved" in _decide(client, profile, decision="no").content.decode()
    assert Override.objects.get().value is False
    assert client.post(f"/models/{profile.pk}/options/", {"num_ctx": 4096}).status_code == 403


def test_bob_decides_and_the_reasoning_is_shown(client: Client, profile: ModelProfile, bob: User):  # D3
    overrides.declare(profile.pk, {"tools": False})
    client.force_login(bob)
    part = flat(_decide(client, profile, decision="yes", reason="tried it").content.decode())
    assert "Saved" in part
    assert "bob&#x27;s override" in part
    assert "overrides the server" in part
    assert "<html" not in part
    assert '<li data-link="in_force" data-ev="off"><small>Person</small> <b>Yes</b> <small>decides · bob' in part
    assert '<q dir="auto">tried it</q>' in part and "<small>Server</small> <s>No</s> <small>overridden" in part
    assert "bob set Native tool calls to Yes" in part and '<s class="soft">No</s> → <b>Yes</b>' in part
    row = Override.objects.get(source="user_confirmed")
    assert (row.value, row.actor, row.reason) == (True, bob, "tried it")
    page = client.get(f"/models/{profile.pk}/").content.decode()
    assert "tried it" in page


def test_bob_follows_the_evidence_again(client: Client, profile: ModelProfile, bob: User):
    client.force_login(bob)
    _decide(client, profile, decision="yes")
    part = _decide(client, profile, decision="evidence").content.decode()
    assert "Not measured" in part and "removed the override of Native tool calls" in part
    assert Override.objects.filter(withdraws__isnull=False).count() == 1


def test_without_scripts_the_whole_page_comes_back(client: Client, profile: ModelProfile, bob: User):
    client.force_login(bob)
    page = _decide(client, profile, htmx=False).content.decode()
    assert "<html" in page
    assert "Saved" in page and 'id="undo-override"' in page
    assert page.count('id="known"') == 1


def test_an_override_is_undone_by_its_message(client: Client, profile: ModelProfile, bob: User):
    overrides.add(NewOverride(profile.pk, "tools", False, reason="before"))
    client.force_login(bob)
    _decide(client, profile, decision="yes")
    undo = f"/models/{profile.pk}/override/undo/"
    sent = {"capability": "tools", "newest": 2, "rows": 1}
    assert "Undone." in client.post(undo, sent, follow=True).content.decode()
    assert effective_values.known(profile)["tools"].value is False
    # What was removed comes back, and what somebody has changed since stays.
    _decide(client, profile, decision="evidence")
    assert effective_values.known(profile)["tools"].value is None
    assert "Undone." in client.post(undo, sent | {"newest": 4}, follow=True).content.decode()
    assert effective_values.known(profile)["tools"].value is False
    assert "Another person changed this" in client.post(undo, sent, follow=True).content.decode()
    assert effective_values.known(profile)["tools"].value is False


def test_an_override_ends_on_its_day(client: Client, profile: ModelProfile, bob: User):
    overrides.declare(profile.pk, {"vision": False})
    client.force_login(bob)
    assert "Choose today or a later day, in UTC." in _claim(client, profile, newest=1, expires="2020-01-01")
    day = timezone.localdate() + timedelta(days=7)
    page = _claim(client, profile, newest=1, expires=day.isoformat())
    assert effective_values.known(profile)["vision"].value is True
    chain = client.get(f"/models/{profile.pk}/evidence/?capability=vision", headers=HTMX).content.decode()
    assert f"until {day:%-d %b}" in chain and "Saved" in page
    assert expiries.withdraw_expired(timezone.now() + timedelta(days=6)) == 0
    assert expiries.withdraw_expired(timezone.now() + timedelta(days=9)) == 1
    assert effective_values.known(profile)["vision"].value is False
    assert "The override of Vision ended" in client.get(f"/models/{profile.pk}/").content.decode()
    assert expiries.withdraw_expired(timezone.now() + timedelta(days=9)) == 0


def test_what_a_chat_has_learned_is_in_the_chain_and_decides_nothing(client: Client, profile: ModelProfile, bob: User):
    overrides.declare(profile.pk, {"tools": True})
    overrides.add(NewOverride(profile.pk, "tools", False, "runtime_error", reason="refused", session="one"))
    client.force_login(bob)
    page = flat(client.get(f"/models/{profile.pk}/").content.decode())
    assert '<li data-link="noted"><small>Learned</small> <b>No</b> <small>Refused in 1 chat' in page
    assert '<li data-link="in_force" data-ev="claimed"><small>Server</small> <b>Yes</b>' in page


def test_what_nobody_measured_is_folded(client: Client, profile: ModelProfile, bob: User):
    overrides.declare(profile.pk, {"tools": True})
    client.force_login(bob)
    page = flat(client.get(f"/models/{profile.pk}/").content.decode())
    assert "not measured yet</summary>" in page
    table, _, folded = page.partition("not measured yet</summary>")
    assert "Native tool calls: open the evidence" in table and "Restraint: open the evidence" in folded


def test_the_second_of_two_editors_sees_both_values(client: Client, profile: ModelProfile, bob: User):  # D3
    client.force_login(bob)
    _decide(client, profile, decision="yes", newest=0)
    answer = _decide(client, profile, decision="no", newest=0)
    assert answer.headers["HX-Retarget"] == "#override"
    part = answer.content.decode()
    assert "Another person changed this in the meantime" in part
    assert "<dt>Current value</dt><dd>Yes: bob&#x27;s override" in part
    assert "<dt>You wanted</dt><dd>no</dd>" in part
    assert "Saved" not in part
    assert Override.objects.count() == 1
    newest = Override.objects.get().seq
    assert f'name="newest" value="{newest}"' in part


@pytest.mark.parametrize("fields", [{"decision": "perhaps"}, {"newest": "x"}, {"newest": ""}, {"reason": "r" * 501}])
def test_a_form_that_makes_no_sense_changes_nothing(client: Client, profile: ModelProfile, bob: User, fields: dict):
    client.force_login(bob)
    assert "Saved" not in _decide(client, profile, **fields).content.decode()
    assert Override.objects.count() == 0


def test_a_decision_about_an_absent_model_is_not_found(client: Client, bob: User):
    client.force_login(bob)
    answer = client.post("/models/999/override/", {"decision": "yes", "newest": 0}, headers=HTMX)
    assert answer.status_code == 404


def test_bob_sets_how_a_model_is_asked(client: Client, profile: ModelProfile, bob: User):
    client.force_login(bob)
    sent = {"num_ctx": 4096, "temperature": "0", "keep_alive": "10m", "think": "false"}
    sent |= {"format": "hermes", "disabled_formats": "mistral"}
    sent |= {"tool_choice": "required", "parallel_tool_calls": "false", "turn_context": "minimal", "first_token": "90"}
    part = client.post(f"/models/{profile.pk}/options/", sent, follow=True).content.decode()
    assert "Saved" in part and "9 settings differ from the default" in flat(part)
    assert 'value="10m"' in part
    profile.refresh_from_db()
    choices = {"tool_choice": "required", "parallel_tool_calls": False, "turn_context": "minimal"}
    choices |= {"format": "hermes", "disabled_formats": ["mistral"]}
    others = {"temperature": 0.0, "keep_alive": "10m", "think": False, "timeouts": {"first_token": 90.0}}
    assert profile.options == choices | others
    assert part.count(" selected>") == 9 and 'value="90.0"' in part
    assert profile.default_context == 4096 and profile.context_before == 8192
    reset = client.post(f"/models/{profile.pk}/options/", {"reset": "1"}, follow=True).content.decode()
    profile.refresh_from_db()
    assert "Every setting has its default" in reset and (profile.options, profile.default_context) == ({}, 4096)


@pytest.mark.parametrize(
    ("field", "value"),
    [("num_ctx", "0"), ("num_ctx", "x"), ("num_ctx", ""), ("temperature", "3"), ("temperature", "nan"),
     ("keep_alive", "soon"), ("keep_alive", "1m; rm"), ("think", "maybe"), ("tool_choice", "banana"),
     ("turn_context", "x"), ("format", "x"), ("disabled_formats", "x"),
     ("parallel_tool_calls", "1"), ("first_token", "0"), ("between", "inf")],
)  # fmt: skip
def test_options_out_of_bounds_are_refused(client: Client, profile: ModelProfile, bob: User, field: str, value: str):
    client.force_login(bob)
    part = client.post(f"/models/{profile.pk}/options/", {"num_ctx": 4096, field: value})
    assert "errorlist" in part.content.decode()
    profile.refresh_from_db()
    assert (profile.options, profile.default_context) == ({}, 8192)


def test_names_of_models_are_text_not_markup(client: Client, bob: User):
    made = ModelProfileFactory(name='<script>alert(1)</script>"x', description="<b>")
    overrides.add(NewOverride(made.pk, "tools", True, reason="<img src=x onerror=alert(1)>"))
    client.force_login(bob)
    for path in ("/models/", f"/models/{made.pk}/"):
        page = client.get(path).content.decode()
        assert "<script>alert" not in page
        assert "<img src=x" not in page


class _Inline(HTMLParser):
    """Collects what the Content-Security-Policy would block."""

    def __init__(self) -> None:
        super().__init__()
        self.blocked: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = {name for name, _ in attrs}
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag == "style" or (tag == "script" and "src" not in names):
            self.blocked.append(f"<{tag}>")
        self.blocked += [name for name in names if name == "style" or name.startswith(("on", "hx-on"))]


def test_the_pages_have_nothing_inline_and_no_id_twice(client: Client, profile: ModelProfile, bob: User):
    _decide(client, profile)
    ServerFactory(reachable=False, last_error="no")
    client.force_login(bob)
    for path in ("/models/", f"/models/{profile.pk}/", "/servers/"):
        parser = _Inline()
        parser.feed(client.get(path).content.decode())
        assert parser.blocked == []
        assert len(parser.ids) == len(set(parser.ids))


def test_three_hundred_models_take_few_queries(
    client: Client, charlie: User, django_assert_max_num_queries: DjangoAssertNumQueries
):
    ModelProfileFactory.create_batch(300, server=ServerFactory())
    client.force_login(charlie)
    with django_assert_max_num_queries(12):
        assert client.get("/models/").content.count(b'<tr id="model-') == 300


def test_a_model_with_a_long_history_takes_few_queries(
    client: Client, profile: ModelProfile, bob: User, django_assert_max_num_queries: DjangoAssertNumQueries
):
    for number in range(30):
        overrides.add(NewOverride(profile.pk, "tools", bool(number % 2), actor=bob.pk))
    client.force_login(bob)
    with django_assert_max_num_queries(15):
        client.get(f"/models/{profile.pk}/")


def _claim(client: Client, profile: ModelProfile, **fields: object) -> str:
    sent = {"capability": "vision", "value": "yes", "reason": "seen", "newest": 0} | fields
    return client.post(f"/models/{profile.pk}/capability/", sent, headers=HTMX, follow=True).content.decode()


# D3
@pytest.mark.parametrize(
    ("capability", "value", "meant"),
    [
        ("vision", "no", False),
        ("max_tools", "12", 12),
        ("format", "hermes", "hermes"),
        ("tool:bash", "native", "native"),
    ],
)
def test_every_capability_can_be_decided(
    client: Client, profile: ModelProfile, bob: User, capability: str, value: str, meant: object
):
    client.force_login(bob)
    assert "Saved" in _claim(client, profile, capability=capability, value=value)
    assert effective_values.known(profile)[capability].value == meant
    evidence = _claim(client, profile, capability=capability, value="evidence", newest=1)
    assert "Saved" in evidence and effective_values.known(profile)[capability].source != "user_confirmed"


@pytest.mark.parametrize(
    "wrong", [{"value": "maybe"}, {"capability": "max_tools", "value": "0"}, {"capability": "x"}, {"newest": "x"}]
)
def test_what_no_capability_can_be_is_said(client: Client, profile: ModelProfile, bob: User, wrong: dict[str, str]):
    client.force_login(bob)
    _claim(client, profile, **wrong)
    assert not Override.objects.filter(source="user_confirmed").exists()
    assert "Choose one of the values" in _claim(client, profile, value="maybe")


# D10
def test_alice_proposes_and_a_reviewer_accepts(client: Client, profile: ModelProfile, alice: User, bob: User):
    client.force_login(alice)
    assert "Proposed. A reviewer decides." in _claim(client, profile)
    assert effective_values.known(profile)["vision"].value is None
    answer = client.post(
        f"/models/{profile.pk}/capability/", {"capability": "vision", "value": "evidence", "newest": 1}
    )
    assert answer.status_code == 403
    client.force_login(bob)
    page = client.get(f"/models/{profile.pk}/").content.decode()
    assert 'aria-label="Accept Vision: yes"' in page and "needs review" in page
    entry = HistoryEntry.objects.get(kind="proposal").pk
    client.post(f"/history/{entry}/act/", {"do": "accept"})
    assert effective_values.known(profile)["vision"].value is True


def test_the_second_editor_of_a_capability_sees_both_values(client: Client, profile: ModelProfile, bob: User):
    client.force_login(bob)
    _claim(client, profile)
    late = _claim(client, profile, value="no", newest=0)
    assert "Another person changed this" in late and "You wanted" in late
    assert effective_values.known(profile)["vision"].value is True


def test_a_decision_for_an_older_build_is_marked_and_what_it_beats_is_named(
    client: Client, profile: ModelProfile, charlie: User
):
    overrides.declare(profile.pk, {"vision": False})
    overrides.add(NewOverride(profile.pk, "vision", True, build_key="older"))
    client.force_login(charlie)
    page = client.get(f"/models/{profile.pk}/").content.decode()
    assert "decided for an older build" in page
    chain = flat(client.get(f"/models/{profile.pk}/evidence/?capability=vision", headers=HTMX).content.decode())
    assert "<small>Server</small> <s>No</s> <small>overridden" in chain


def test_what_a_person_set_is_called_neither_a_claim_nor_a_proof(client: Client, profile: ModelProfile, bob: User):
    client.force_login(bob)
    _decide(client, profile, decision="yes")
    badge = '<span class="ev" data-ev="set">'
    chat = client.post("/chat/new/", {"model": profile.pk}).headers["Location"]
    for address in (f"/models/{profile.pk}/", "/models/", chat, f"{chat}models/", f"{chat}picker/", "/start/"):
        page = flat(client.get(address).content.decode())
        place = page.partition('class="stages"')[2] if address == "/start/" else page
        tile = f'data-ev="set" href="/models/{profile.pk}/"' in place
        named = "Set by a person</span>" in place and (badge in place or 'data-ev="set" data-size="l"' in place)
        assert tile or named, address
        assert "> Claimed</span>" not in page and 'data-ev="claimed" href' not in page, address
    assert 'id="chip-set"' in client.get("/models/").content.decode()
    assert "Turned on by bob" in client.get(f"/models/{profile.pk}/").content.decode()
