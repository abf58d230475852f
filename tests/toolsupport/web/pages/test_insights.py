"""The page of the plots, and the table that they are drawn from."""

from __future__ import annotations

from datetime import date, timedelta
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from tests.factories import ModelProfileFactory, ServerFactory
from tests.markup import flat
from toolsupport.models import CallMetric, ModelProfile
from toolsupport.registry.metrics import call_metrics, insights, reply_times
from toolsupport.registry.metrics.call_metrics import CallCount
from toolsupport.registry.metrics.insights import InsightsFilter

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def profile() -> ModelProfile:
    made: ModelProfile = ModelProfileFactory(name="strange:1b", server=ServerFactory(name="box"))
    return made


def counted(profile: ModelProfile, outcome: str = "ready", calls: int = 1, **fields: object) -> None:
    row = {"format": "native", "day": timezone.now().date(), "latency_ms": 500 * calls, "tokens": 20 * calls} | fields
    CallMetric.objects.create(profile=profile, outcome=outcome, calls=calls, **row)


def days_ago(days: int) -> date:
    return timezone.now().date() - timedelta(days=days)


# D15
def test_a_point_sums_up_a_day_of_a_model_in_a_format(profile: ModelProfile) -> None:
    counts = {"ready": 6, "repaired": 2, "rejected": 1, "unknown": 1, "schema": 1, "prose": 1, "refused": 4}
    for outcome, calls in counts.items():
        counted(profile, outcome, calls)
    counted(profile, "ready", 1, format="hermes")
    hermes, native = sorted(insights.found(InsightsFilter()).points, key=lambda point: point.format)
    assert (native.calls, native.valid, native.repaired) == (16, 6, 2)
    assert (native.unreadable, native.unknown, native.misfit) == (1, 1, 1)
    assert (native.in_prose, native.refused, native.success) == (1, 4, 50)
    assert (native.seconds, native.tokens_each) == (0.5, 20)
    assert (hermes.model, hermes.success) == ("box/strange:1b", 100)


def test_filters_by_model_format_and_time(profile: ModelProfile) -> None:
    other = ModelProfileFactory()
    for days in range(5):
        counted(profile, day=days_ago(days))
    counted(profile, format="hermes")
    counted(other)
    assert len(insights.found(InsightsFilter()).points) == 7
    assert {point.profile for point in insights.found(InsightsFilter(profile=other.pk)).points} == {other.pk}
    assert {point.format for point in insights.found(InsightsFilter(format="hermes")).points} == {"hermes"}
    some = insights.found(InsightsFilter(since=days_ago(3), until=days_ago(2))).points
    assert [point.day for point in some] == [days_ago(2), days_ago(3)]


def test_the_page_begins_with_a_sentence_and_numbers_that_lead_to_calls(
    client: Client, profile: ModelProfile, alice: User, charlie: User
) -> None:
    for days in range(3):
        counted(profile, calls=8, day=days_ago(days))
    counted(ModelProfileFactory(name="other:1b"), "unknown", 6)
    counted(profile, "repaired", 2)
    counted(profile, "ready", 16, day=days_ago(40))
    client.force_login(alice)
    page = flat(client.get("/insights/").content.decode())
    assert "In the last 30 days, 32 tool calls were made, and 81.2 % could run. 2 calls were repaired first." in page
    assert "All of the 6 failures were calls to unknown tools" in page and "most of them by <a" in page
    assert "+100 % on the period before" in page and "100 % in the period before" in page
    query = f"since={days_ago(29)}&amp;until={days_ago(0)}"
    assert f'"/insights/calls/?{query}">32</a>' in page and f"{query}&amp;state=repaired" in page
    # Bars of one scale, in the colours of the evidence; a line from three days on.
    assert '<svg class="bar" data-ev="proven"' in page and '<svg class="bar" data-ev="broken"' in page
    assert '<rect width="100.0" height="8"/>' in page and 'class="trace" d="M0.0 0.0L50.0 0.0L100.0 37.5"' in page
    assert 'class="trace"' not in client.get(f"/insights/?since={days_ago(1)}").content.decode()
    client.force_login(charlie)
    page = client.get("/insights/").content.decode()
    assert "81.2\u00a0% could run" in page and "/insights/calls/" not in page


def test_the_times_of_replies_are_a_median_and_what_most_stay_within(
    client: Client, profile: ModelProfile, alice: User
) -> None:
    counted(profile, calls=3)
    client.force_login(alice)
    page = flat(client.get("/insights/").content.decode())
    assert "Measured from the next reply" in page and "Median reply time" in page
    call_metrics.add(profile.pk, [CallCount("native", "ready", 20, times=(*[400] * 18, 9000, 9000))])
    call_metrics.add(profile.pk, [CallCount("native", "ready", times=(400,))])
    call_metrics.add(ModelProfileFactory().pk, [CallCount("hermes", "ready", times=(20_000,))])
    [own, other] = sorted(reply_times.by_model(InsightsFilter()).values(), key=lambda one: -one.replies)
    assert (own.replies, own.median, own.most) == (21, 0.4, 9.2)  # in steps of a twentieth
    assert (other.replies, other.median) == (1, 20.0)
    assert reply_times.by_model(InsightsFilter(format="native", profile=profile.pk)) == {profile.pk: own}
    assert reply_times.by_model(InsightsFilter(until=days_ago(1))) == {}
    page = flat(client.get("/insights/").content.decode())
    assert ">400</a> <small>ms</small>" in page and "95 % within 9.2 s · 22 replies" in page
    for heading, cell in {"Replies": "21", "Median time": "400 ms", "95 % within": "9.2 s"}.items():
        assert f'data-label="{heading}" class="num">{cell}</td>' in page


def test_each_cause_leads_to_its_calls(client: Client, profile: ModelProfile, alice: User) -> None:
    for outcome in ("rejected", "unknown", "schema", "prose", "refused"):
        counted(profile, outcome)
    client.force_login(alice)
    page = flat(client.get("/insights/").content.decode())
    query = f"since={days_ago(29)}&amp;until={days_ago(0)}"
    for outcome in ("rejected", "unknown", "schema", "prose"):
        assert f"/insights/calls/?{query}&amp;state={outcome}" in page, outcome
    assert f"/history/?kind=refusal&amp;{query}" in page


def test_too_many_points_are_cut_after_whole_ones(profile: ModelProfile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(insights, "MOST_POINTS", 2)
    for days in range(3):
        counted(profile, day=days_ago(days))
        counted(profile, "repaired", day=days_ago(days))
    found = insights.found(InsightsFilter())
    assert found.cut and [(point.day, point.calls) for point in found.points] == [(days_ago(0), 2), (days_ago(1), 2)]


def test_the_sentence_the_bars_and_the_file_hold_what_the_table_leaves_out(
    client: Client, profile: ModelProfile, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(insights, "MOST_POINTS", 2)
    for days in range(5):
        counted(profile, calls=10, requests=10, day=days_ago(days))
        counted(profile, "schema", 10, requests=10, format="hermes", day=days_ago(days))
    client.force_login(alice)
    page = flat(client.get("/insights/").content.decode())
    assert "In the last 30 days, 100 tool calls were made, and 50 % could run." in page
    assert "All of the 50 failures were calls with wrong arguments" in page
    assert "Of 100 requests that led to calls." in page
    assert "The table has the newest 2 rows." in page
    assert len(client.get("/insights/export.csv").content.decode().splitlines()) == 11


def test_each_format_has_a_bar_where_there_are_several(client: Client, profile: ModelProfile, alice: User) -> None:
    counted(profile, calls=3)
    client.force_login(alice)
    assert "could run, by format" not in client.get("/insights/").content.decode()
    counted(profile, "rejected", format="hermes")
    counted(ModelProfileFactory(), "ready", 3, format="hermes")
    counted(profile, "refused", 9, format="")
    page = (
        flat(client.get("/insights/").content.decode())
        .partition("Calls that could run, by format")[2]
        .partition("</table>")[0]
    )
    assert page.index("Hermes") < page.index("Native")
    assert "75 %" in page and "100 %" in page and "4 calls" in page and "3 calls" in page and "9 calls" not in page


def test_large_numbers_are_written_alike(client: Client, profile: ModelProfile, alice: User) -> None:
    counted(profile, "schema", 12_345)
    counted(profile, "ready", 1_000, format="hermes")
    client.force_login(alice)
    page = client.get("/insights/").content.decode()
    assert "13,345" in page and "Why 12,345 calls" in page and "1,000 calls" in page
    assert "12345" not in page.partition("Show all days")[0]


def test_the_small_lines_have_days_without_calls(client: Client, profile: ModelProfile, alice: User) -> None:
    for days, calls in ((4, 10), (3, 20), (0, 5)):
        counted(profile, calls=calls, day=days_ago(days))
    client.force_login(alice)
    tiles = (
        flat(client.get("/insights/").content.decode()).partition('class="headline-words"')[2].partition("<table")[0]
    )
    assert 'class="trace" d="M0.0 50.0L25.0 0.0L50.0 100.0L75.0 100.0L100.0 75.0"' in tiles
    assert tiles.count('class="trace"') == 2  # nothing was repaired


def test_everybody_sees_counts_and_who_chats_gets_to_calls(
    client: Client, profile: ModelProfile, alice: User, charlie: User
) -> None:
    counted(profile, "rejected", 3)
    client.force_login(alice)
    page = client.get("/insights/").content.decode()
    link = f"/insights/calls/?day={days_ago(0)}&amp;profile={profile.pk}&amp;format=native"
    assert "box/strange:1b" in page and link in page
    client.force_login(charlie)
    page = client.get("/insights/").content.decode()
    assert "box/strange:1b" in page and "/insights/calls/" not in page


def test_the_last_thirty_days_are_shown_unless_others_are_asked_for(
    client: Client, profile: ModelProfile, charlie: User
) -> None:
    counted(profile, day=days_ago(30))
    client.force_login(charlie)
    assert "No calls in the last 30 days" in client.get("/insights/").content.decode()
    older = client.get("/insights/", {"since": days_ago(40).isoformat()}, headers=HTMX).content.decode()
    assert "box/strange:1b" in older and "<html" not in older
    none = client.get("/insights/", {"format": "native", "until": days_ago(31).isoformat()}).content.decode()
    assert "No call fits this filter" in none


@pytest.mark.parametrize("query", ["since=x", "profile=x", "profile=99999999999999999999", "until=1"])
def test_a_filter_that_makes_no_sense_is_left_open(
    client: Client, profile: ModelProfile, charlie: User, query: str
) -> None:
    counted(profile)
    client.force_login(charlie)
    answer = client.get(f"/insights/?{query}")
    assert (answer.status_code, "box/strange:1b" in answer.content.decode()) == (200, True)


def test_the_table_is_exported_with_its_filter_and_without_formulas(client: Client, charlie: User) -> None:
    evil: ModelProfile = ModelProfileFactory(name="x", server=ServerFactory(name="=1+1"))
    for profile in (evil, ModelProfileFactory(name="other", server=ServerFactory(name="box"))):
        counted(profile, "ready", 3)
        counted(profile, "repaired", 1, day=days_ago(2))
    counted(evil, "ready", 9, day=days_ago(60))
    client.force_login(charlie)
    page = client.get("/insights/").content.decode()
    link = page.partition('href="/insights/export.csv?')[2].partition('"')[0]
    whole = client.get(f"/insights/export.csv?{unescape(link)}")
    assert whole.headers["Content-Disposition"] == 'attachment; filename="insights.csv"'
    head, *rows = whole.content.decode().splitlines()
    assert head.startswith("day,model,format,calls,could_run_percent") and len(rows) == 4
    own = (
        client.get("/insights/export.csv", {"profile": str(evil.pk), "since": str(days_ago(1))})
        .content.decode()
        .splitlines()
    )
    assert own[1:] == [f"{days_ago(0)},'=1+1/x,Native,3,100,3,0,0,0,0,0,0,0.5,20"]
