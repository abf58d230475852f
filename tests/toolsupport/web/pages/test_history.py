"""The pages of the history, for Alice (a user), Bob (an administrator), Charlie (a viewer) and a reviewer."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import UTC, datetime

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.http import StreamingHttpResponse
from django.test import Client

from tests.factories import ModelProfileFactory, ServerFactory, UserFactory
from tests.markup import flat
from toolsupport.models import HistoryEntry, ModelProfile, Override, ReadEntry
from toolsupport.registry.history import inbox, read_marks, timeline
from toolsupport.registry.history.timeline_query import TimelineFilter
from toolsupport.registry.knowledge import effective_values, event_log, overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.testing import detections
from toolsupport.registry.testing.detections import DetectionRequest, DetectionResult, TrialRecord

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def profile() -> ModelProfile:
    made: ModelProfile = ModelProfileFactory(name="strange:1b", server=ServerFactory(name="box"))
    return made


@pytest.fixture
def reviewer(client: Client) -> User:
    person: User = UserFactory(role="reviewer", username="rita")
    client.force_login(person)
    return person


def decided(profile: ModelProfile, **fields: object) -> int:
    overrides.add(NewOverride(profile.pk, "tools", True, reason="it calls", **fields))  # type: ignore[arg-type]
    return HistoryEntry.objects.latest("pk").pk


def unread_by(person: User) -> frozenset[int]:
    return read_marks.unread_among(person.pk, [*HistoryEntry.objects.values_list("pk", flat=True)])


def act(client: Client, entry: int, **sent: str) -> str:
    return client.post(f"/history/{entry}/act/", sent, headers=HTMX).content.decode()


# D11
def test_everybody_sees_the_timeline_and_viewers_cannot_act(client: Client, profile: ModelProfile, charlie: User):
    entry = decided(profile)
    client.force_login(charlie)
    page = flat(client.get("/history/?show=all").content.decode())
    assert "strange:1b" in page and "it calls" in page and '<span class="tag strike">Not measured</span>' in page
    assert "Native tool calls: Not measured to Yes" in page and "Disagree…" not in page and "Export CSV" not in page
    assert client.post(f"/history/{entry}/act/", {"do": "agree"}).status_code == 403
    assert client.get("/history/export.csv").status_code == 403


def test_the_filter_swaps_only_the_entries(client: Client, profile: ModelProfile, reviewer: User):
    decided(profile)
    decided(ModelProfileFactory(name="other:1b"))
    part = client.get(f"/history/?profile={profile.pk}&kind=override", headers=HTMX).content.decode()
    assert "strange:1b" in part and "other:1b" not in part and "<html" not in part
    assert "No entry matches this filter" in client.get("/history/?verdict=native").content.decode()
    assert "strange:1b" in client.get("/history/?profile=x&since=never").content.decode()


def test_an_empty_history_says_what_comes_here(client: Client, reviewer: User):
    for query in ("", "?show=all"):
        assert "No entries yet" in client.get(f"/history/{query}").content.decode()


def test_an_inbox_without_changes_says_that_all_have_an_answer(client: Client, profile: ModelProfile, reviewer: User):
    decided(profile)
    assert "Nothing to review" in client.get("/history/").content.decode()


def test_days_are_included_from_the_first_to_the_last(client: Client, profile: ModelProfile, reviewer: User):
    entry = decided(profile)
    day = HistoryEntry.objects.get(pk=entry).at.date().isoformat()
    assert f"entry-{entry}" in client.get(f"/history/?since={day}&until={day}").content.decode()
    for day in ("9999-12-31", "0001-01-01"):  # the last one has no day after it
        assert (
            client.get(f"/history/?until={day}").status_code == client.get(f"/history/?since={day}").status_code == 200
        )
    assert f"entry-{entry}" not in client.get("/history/?until=2020-01-01").content.decode()


# The page shows times of the reader, so its days are those of the reader too; a file has what the page has.
@pytest.mark.parametrize(
    ("zone", "day"),
    [
        *(("", "2026-03-07"), ("Asia/Tokyo", "2026-03-08"), ("America/Los_Angeles", "2026-03-07")),
        *(("Pacific/Kiritimati", "2026-03-08"), ("no zone", "2026-03-07")),
    ],
)
def test_days_are_those_of_the_reader(
    client: Client, profile: ModelProfile, reviewer: User, zone: str, day: str
) -> None:
    entry = decided(profile)
    HistoryEntry.objects.filter(pk=entry).update(at=datetime(2026, 3, 7, 20, 30, tzinfo=UTC))
    client.cookies["timezone"] = zone
    for wanted in ("2026-03-06", "2026-03-07", "2026-03-08", "2026-03-09"):
        query = f"since={wanted}&until={wanted}"
        assert (f"entry-{entry}" in client.get(f"/history/?{query}").content.decode()) == (wanted == day)
        file = read(client.get(f"/history/export.csv?{query}"))  # type: ignore[arg-type]
        assert ("strange:1b" in file) == (wanted == day)
    for wanted in ("0001-01-01", "9999-12-30", "9999-12-31"):
        assert client.get(f"/history/?since={wanted}&until={wanted}").status_code == 200


def test_older_entries_are_a_page_away(
    client: Client, profile: ModelProfile, reviewer: User, monkeypatch: pytest.MonkeyPatch
):
    for value in (True, False):
        overrides.add(NewOverride(profile.pk, "tools", value))
    found = timeline.page(TimelineFilter(), None, 1)
    page = client.get("/history/", {"after": str(found.following)}).content.decode()
    assert f"entry-{found.entries[0].id}" not in page and "Newest" in page


def test_what_waits_is_counted_in_the_top_bar(client: Client, profile: ModelProfile, reviewer: User):
    decided(profile)
    assert "to review</span>" not in client.get("/models/").content.decode()
    proposal = decided(profile, proposed=True)
    assert 'waiting-count" >1<span' in flat(client.get("/models/").content.decode())
    act(client, proposal, do="agree")
    assert "to review</span>" not in client.get("/models/").content.decode()


# D11
def test_a_reviewer_disagrees_reverts_accepts_and_rejects(client: Client, profile: ModelProfile, reviewer: User):
    entry = decided(profile)
    assert "Give a reason" in act(client, entry, do="disagree")
    assert "Disagreed." in act(client, entry, do="disagree", note="It never calls one.")
    assert "Reverted." in act(client, entry, do="revert")
    assert "already withdrawn" in act(client, entry, do="revert")
    for deed, words in (("accept", "applies to everyone"), ("reject", "Nothing changes")):
        proposal = decided(ModelProfileFactory(), proposed=True)
        assert words in act(client, proposal, do=deed)
    assert Override.objects.filter(actor=reviewer).count() == 3
    refused = {"do": "disagree", "note": "It never calls one."}
    proposal = decided(ModelProfileFactory(), proposed=True)
    assert "nothing changes" in act(client, proposal, **refused)
    proposal = decided(ModelProfileFactory(), proposed=True)
    page = client.post(f"/history/{proposal}/act/", refused, follow=True).content.decode()
    assert "nothing changes" in page and "The value stays" not in page
    assert "Choose one of" in act(client, entry, do="burn")


# D8, D11
def test_an_entry_shows_the_evidence(client: Client, profile: ModelProfile, charlie: User):
    client.force_login(charlie)
    evidence = {"status": 400, "rule": "does-not-support", "body": "<b>no tools</b>"}
    entry = event_log.record(event_log.HistoryEvent("refusal", profile.pk, "tools", evidence=evidence))
    part = client.get(f"/history/{entry}/", headers=HTMX).content.decode()
    assert "does-not-support" in part and "&lt;b&gt;no tools" in part and "<html" not in part
    test = detections.open_test(DetectionRequest(profile.pk, "page")).id
    assert detections.claim("worker") == test
    detections.add_trial(test, "worker", TrialRecord("declared", 1, {}, {}, True, "a claim"))
    detections.add_trial(test, "worker", TrialRecord("called", 1, {"ask": "call it"}, {"said": "no"}, False, "no call"))
    detections.conclude(test, "worker", DetectionResult("ignored", values={"tools": False}))
    told = HistoryEntry.objects.get(kind="detection")
    page = client.get(f"/history/{told.pk}/").content.decode()
    assert "call it" in page and "no call" in page and "<html" in page
    assert "Server claim, trial 1: claimed" in page and "passed" not in page, "a claim is no result"
    assert client.get("/history/987654321/").status_code == 404


def read(answer: StreamingHttpResponse) -> str:
    async def whole() -> bytes:
        return b"".join([piece async for piece in answer])

    return async_to_sync(whole)().decode()


# D11
def test_the_history_is_saved_as_csv_and_as_json(client: Client, profile: ModelProfile, reviewer: User):
    overrides.add(NewOverride(profile.pk, "tools", True, reason='=HYPERLINK("x")'))
    decided(ModelProfileFactory(name="other:1b"))
    saved = client.get(f"/history/export.csv?profile={profile.pk}")
    rows = list(csv.DictReader(io.StringIO(read(saved))))  # type: ignore[arg-type]
    assert [(row["model"], row["after"], row["text"]) for row in rows] == [("strange:1b", "yes", '\'=HYPERLINK("x")')]
    assert saved.headers["Content-Disposition"] == 'attachment; filename="history.csv"'
    both = json.loads(read(client.get("/history/export.json")))  # type: ignore[arg-type]
    assert [row["model"] for row in both] == ["other:1b", "strange:1b"]
    assert json.loads(read(client.get("/history/export.json?kind=drift"))) == []  # type: ignore[arg-type]
    assert client.get("/history/export.xls").status_code == 404


def run_tests(profiles: list[ModelProfile], verdict: str = "native") -> None:
    """A test of each model, all started together."""
    opened = detections.open_tests([DetectionRequest(profile.pk, "bulk") for profile in profiles])
    for test in opened:
        assert detections.claim("worker") == test.id
        values = {"tools": True, "parallel": True, "multi_turn": True}
        detections.conclude(test.id, "worker", DetectionResult(verdict, values=values))


# D11
def test_a_test_is_one_entry_with_its_findings_inside(client: Client, profile: ModelProfile, charlie: User):
    client.force_login(charlie)
    run_tests([profile])
    assert (HistoryEntry.objects.count(), len(unread_by(charlie))) == (4, 1)
    for address in ("/history/?show=all", f"/history/?profile={profile.pk}", "/history/?source=auto_detected"):
        page = client.get(address).content.decode()
        assert page.count("data-row") == 1 and "3 findings" in page
    entry = HistoryEntry.objects.get(kind="detection")
    opened = client.get(f"/history/{entry.pk}/", headers=HTMX).content.decode()
    assert all(title in opened for title in ("Parallel", "Multi-turn")) and opened.count("<li>") == 3
    # Files have a row for each value, and so has the address of a finding.
    assert len(next(timeline.batches(TimelineFilter()))) == 4
    assert client.get(f"/history/{HistoryEntry.objects.filter(lead=entry)[0].pk}/").status_code == 200


# D11
def test_a_bulk_test_is_one_entry_that_opens_to_its_tests(client: Client, profile: ModelProfile, charlie: User):
    client.force_login(charlie)
    others = ModelProfileFactory.create_batch(3)
    run_tests([profile, *others])
    assert len(unread_by(charlie)) == 1
    page = client.get("/history/?show=all").content.decode()
    assert page.count("data-row") == 1 and "Test of 4 models: 4 proven" in page and "#ev-proven" in page
    lead = HistoryEntry.objects.get(lead=None)
    opened = client.get(f"/history/{lead.pk}/", headers=HTMX).content.decode()
    assert opened.count("data-row") == 4 and others[2].name in opened
    # One model's test is found by itself, with its own findings, also where it leads the bundle.
    for one in (profile, others[0]):
        page = client.get(f"/history/?profile={one.pk}").content.decode()
        assert page.count("data-row") == 1 and "Test of 4" not in page and "3 findings" in page
    # Tests with different results have no state in common.
    HistoryEntry.objects.filter(kind="detection", profile=others[0]).update(verdict="ignored")
    page = client.get("/history/?show=all").content.decode()
    assert "3 proven, 1 broken" in page and "#ev-" not in page.partition('id="entries"')[2]
    alone = client.get(f"/history/{lead.pk}/?alone=1", headers=HTMX).content.decode()
    assert "Test of 4" not in alone and alone.count("<li>") == 3


# D11
def test_an_entry_is_read_when_it_is_opened_or_all_are_marked(client: Client, profile: ModelProfile, charlie: User):
    client.force_login(charlie)
    first, second, third = decided(profile), decided(profile), decided(profile)
    client.get("/history/")
    assert read_marks.unread_among(charlie.pk, [first, second, third]) == {first, second, third}
    for part in ({}, HTMX):
        opened = client.get(f"/history/{second}/", headers=part).content.decode()
        assert f'hx-post="/history/{second}/read/" hx-trigger="load"' in opened
    assert read_marks.unread_among(charlie.pk, [second]) == {second}, "an address that is fetched changes nothing"
    assert client.post(f"/history/{second}/read/").status_code == 204
    assert read_marks.unread_among(charlie.pk, [first, second, third]) == {first, third}
    assert client.post("/history/987654321/read/").status_code == 404
    client.post(f"/history/{first}/read/")
    client.post(f"/history/{third}/read/")
    # Nothing is unread: one mark stands for all three.
    assert (len(unread_by(charlie)), ReadEntry.objects.count()) == (0, 0)
    decided(profile)
    assert len(unread_by(charlie)) == 1
    client.post("/history/read/")
    assert len(unread_by(charlie)) == 0


# D10, D11
def test_open_proposals_are_listed_and_answered_there(client: Client, profile: ModelProfile, alice: User):
    proposal = decided(profile, actor=alice.pk, proposed=True)
    answered = decided(ModelProfileFactory(name="answered:1b"), proposed=True)
    client.force_login(UserFactory(role="reviewer"))
    act(client, answered, do="reject")
    part = client.get("/history/?review=1", headers=HTMX).content.decode()
    assert "strange:1b" in part and "answered:1b" not in part and ">Agree<" in part
    part = act(client, proposal, do="accept")
    assert 'value="reopened"' in part and effective_values.known(profile)["tools"].value is True
    # An answered proposal does not wait again: its value is withdrawn, and restored.
    part = act(client, proposal, do="reopened")
    assert "Undone. The previous value applies again." in part and 'value="restore"' in part and ">Agree<" not in part
    assert effective_values.known(profile)["tools"].value is None
    part = act(client, proposal, do="restore")
    assert "Restored." in part and 'value="reopened"' in part and ">Agree<" not in part
    assert effective_values.known(profile)["tools"].value is True
    assert "Undone." in act(client, proposal, do="reopened") and "Restored." in act(client, proposal, do="restore")
    assert "Nothing to review" in client.get("/history/?review=1").content.decode()
    client.force_login(alice)
    decided(profile, actor=alice.pk, proposed=True)
    part = client.get("/history/?review=1", headers=HTMX).content.decode()
    assert "strange:1b" in part and ">Agree<" not in part


# D10: a disagreement that nobody has answered waits as well
def test_an_unanswered_objection_is_to_review(client: Client, profile: ModelProfile, reviewer: User):
    entry = decided(profile)
    act(client, entry, do="disagree", note="It never calls one.")
    assert "It never calls one." in client.get("/history/?review=1").content.decode()
    act(client, entry, do="agree")
    assert "Nothing to review" in client.get("/history/?review=1").content.decode()


def test_a_bundle_of_decisions_is_undone_at_once(client: Client, profile: ModelProfile, reviewer: User):
    bundle = event_log.HistoryBundle()
    other = ModelProfileFactory()
    lead = decided(profile, bundle=bundle)
    decided(other, bundle=bundle)
    assert "Revert all" in client.get("/history/?show=all").content.decode()
    assert "Reverted" in act(client, lead, do="undo")
    assert [effective_values.known(one)["tools"].value for one in (profile, other)] == [None, None]
    assert HistoryEntry.objects.filter(kind="withdrawal", lead=None).count() == 1
    assert "already withdrawn" in act(client, lead, do="undo")


# D11: the page opens on what waits: a test that changed something, and proposals; one row for what belongs together
def test_the_history_opens_on_what_waits_and_agreement_is_taken_back(client: Client, profile: ModelProfile, bob: User):
    others = ModelProfileFactory.create_batch(2)
    run_tests([profile, *others])
    proposal = decided(profile, actor=UserFactory(username="ben").pk, proposed=True)
    client.force_login(bob)
    page = flat(client.get("/history/").content.decode())
    assert "4 changes to review" in page and "Test of 3 models: 3 proven" in page and "Show 3 entries" in page
    assert "ben proposes" in page and "Agree with all 4…" in page and "Revert" in page
    tests = list(HistoryEntry.objects.filter(kind="detection").values_list("pk", flat=True))
    part = act(client, tests[0], do="agree")
    assert "Agreed." in part and 'value="reopened"' in part and "Disagree" not in part
    assert "Back to review." in act(client, tests[0], do="reopened")
    part = act(client, tests[0], do="revert")
    assert "Reverted." in part and 'value="restore"' in part
    assert "Restored." in act(client, tests[0], do="restore")
    assert inbox.count(100) == 4
    # An answer on the page of what waits renews its counts, and that of the top bar; the others of its bundle stay.
    part = flat(
        client.post(f"/history/{tests[0]}/act/?alone=1&review=1", {"do": "agree"}, headers=HTMX).content.decode()
    )
    assert "3 changes to review" in part and "Agree with all 3…" in part and 'waiting-count" hx-swap-oob' in part
    assert f'id="entry-{tests[0]}"' in part and 'id="bundle-' in page
    assert page.count('hx-target="closest [data-row]"') >= 4 * 2 and 'hx-target="#entry-' not in page
    assert "changes to review" not in act(client, tests[0], do="reopened")
    sent = {"entry": [*map(str, tests), str(proposal), "x", "9" * 30]}
    part = flat(client.post("/history/agree/", sent, headers=HTMX).content.decode())
    assert (
        "Agreed with 4 changes." in part
        and "waiting-count" in part
        and "Nothing to review" in part
        and "<html" not in part
    )
    # An agreement in bulk is taken back in bulk; a proposal that was answered stays answered.
    part = flat(client.post("/history/agree/", sent | {"do": "reopened"}, headers=HTMX).content.decode())
    assert "4 agreements undone." in part and "Test of 2 models: 2 proven" in part
    assert effective_values.known(profile)["tools"].value is True


def test_viewers_read_what_waits_and_answer_nothing(client: Client, profile: ModelProfile, charlie: User):
    run_tests([profile])
    client.force_login(charlie)
    page = client.get("/history/").content.decode()
    assert "1 change to review" in page and "data-do" not in page and "key-status" not in page
    entry = HistoryEntry.objects.get(kind="detection").pk
    assert client.post("/history/agree/", {"entry": entry}).status_code == 403
    assert client.post(f"/history/{entry}/act/", {"do": "reopened"}).status_code == 403
    assert inbox.count(100) == 1


def test_new_entries_are_announced_without_moving_the_list(client: Client, profile: ModelProfile, charlie: User):
    client.force_login(charlie)
    seen = timeline.newest_entry()
    assert "new entr" not in client.get(f"/history/news/?seen={seen}").content.decode()
    decided(profile)
    decided(profile)
    assert "2 new entries" in flat(client.get(f"/history/news/?seen={seen}").content.decode())
    assert client.get("/history/news/?seen=x").status_code == client.get("/history/news/").status_code == 200


def test_only_filters_in_use_stay_in_sight(client: Client, profile: ModelProfile, reviewer: User):
    decided(profile)
    every = ["profile", "server", "kind", "source", "verdict", "actor", "since", "until"]

    def parts(address: str) -> tuple[list[str], list[str]]:
        form = client.get(address).content.decode().partition('<form class="stack"')[2].partition("</form>")[0]
        seen, _, folded = form.partition("<details")
        assert folded.startswith(' class="fold">')
        fields = r'name="(profile|server|kind|source|verdict|actor|since|until|format)"'
        return re.findall(fields, seen), re.findall(fields, folded)

    assert parts("/history/") == ([], every)
    assert parts("/history/?show=all") == ([], every)
    rest = [name for name in every if name not in ("profile", "since")]
    assert parts(f"/history/?profile={profile.pk}&since=2026-01-01") == (["profile", "since"], rest)
    assert parts("/insights/") == ([], ["profile", "format", "since", "until"])
    assert parts("/insights/?since=2026-01-01&until=2026-02-01") == (["until"], ["profile", "format", "since"])
