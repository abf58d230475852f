"""Which quota applies, when it is exceeded, and when it starts again."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from toolsupport.core.quota_rules import Quota, QuotaShare, refused, restart, sentence, shares

NOW = datetime(2026, 12, 31, 23, 30, tzinfo=UTC)


def test_a_value_that_is_not_set_comes_from_the_weaker_quota() -> None:  # P5
    own, weaker = Quota(requests_day=5, tokens_day=0), Quota(requests_day=9, requests_month=90, tokens_day=7)
    assert own.over(weaker) == Quota(5, 90, 0, None)
    assert [share.name for share in shares(own.over(weaker), {})] == ["requests_day", "requests_month"]


@pytest.mark.parametrize(
    ("quota", "used", "wanted"),
    [
        (Quota(requests_day=5), {"requests_day": 5}, None),
        (Quota(requests_day=5), {"requests_day": 6}, "requests_day"),
        (Quota(tokens_day=5), {"tokens_day": 4}, None),
        (Quota(tokens_day=5), {"tokens_day": 5}, "tokens_day"),
        (Quota(requests_day=5, tokens_month=9), {"requests_day": 6, "tokens_month": 9}, "tokens_month"),
        (Quota(requests_day=0), {"requests_day": 6}, None),
        (Quota(), {"requests_day": 6}, None),
    ],
)
def test_what_exceeds_a_quota(quota: Quota, used: dict[str, int], wanted: str | None) -> None:  # P5
    over = refused(shares(quota, used))
    assert (over.name if over else None) == wanted


@pytest.mark.parametrize(
    ("kind", "name", "most", "text"),
    [
        ("person", "requests_day", 5, "Your quota is used up: 5 requests per day. {} tomorrow at 00:00 UTC."),
        ("key", "requests_day", 1, "The quota of this key is used up: 1 request per day. {} tomorrow at 00:00 UTC."),
        ("person", "tokens_month", 20_000, "Your quota is used up: 20,000 tokens per month. {} on 1 Jan at 00:00 UTC."),
    ],
)
def test_the_reason_names_the_limit_and_its_end(kind: str, name: str, most: int, text: str) -> None:  # P5
    assert sentence(kind, QuotaShare(name, most, most), NOW) == text.format("It resets")


def test_a_month_starts_again_on_its_first_day() -> None:
    assert restart(QuotaShare("tokens_month", 1, 1), NOW) == datetime(2027, 1, 1, tzinfo=UTC)
    assert restart(QuotaShare("tokens_day", 1, 1), NOW) == datetime(2027, 1, 1, tzinfo=UTC)
    assert restart(QuotaShare("requests_month", 1, 1), datetime(2027, 1, 31, tzinfo=UTC)).month == 2
