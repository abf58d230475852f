"""Servers' reports are stored; people's decisions stay."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from tests.effective_values import holding
from tests.factories import ModelProfileFactory, ServerFactory, UserFactory
from toolsupport.core.types import Capability
from toolsupport.models import ModelProfile, Override, Server
from toolsupport.providers import ModelDetails, ModelReport, ServerReport
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.models import survey_truncation, surveys, user_models_merge
from toolsupport.registry.servers import reachability
from toolsupport.registry.settings import context_sizes

pytestmark = pytest.mark.django_db


def _report(*names: str, version: str = "0.13.0", **facts: Any) -> ServerReport:
    return ServerReport(version, tuple(ModelReport(name, **{"digest": f"d-{name}", **facts}) for name in names))


def _standing(profile: ModelProfile, capability: str = "tools") -> Capability:
    return holding(profile, capability)


def test_new_models_get_rows_with_standings():  # M2, M3
    server = ServerFactory(reachable=None)
    wanted = surveys.record_survey(server.pk, _report("qwen3:8b", "strange:1b", size_bytes=5, loaded=True))
    qwen, strange = ModelProfile.objects.get(name="qwen3:8b"), ModelProfile.objects.get(name="strange:1b")
    assert set(wanted) == {(qwen.pk, "qwen3:8b"), (strange.pk, "strange:1b")}
    assert (qwen.family, strange.family, qwen.loaded, qwen.size_bytes) == ("qwen3", "", True, 5)
    assert (_standing(qwen).value, _standing(qwen).source) == (True, "profile")
    assert (_standing(strange).value, _standing(strange).source) == (None, "default")
    server.refresh_from_db()
    assert server.reachable is True
    assert server.last_seen_at == server.checked_at is not None


def test_a_model_that_is_gone_is_kept_and_comes_back():
    server = ServerFactory()
    surveys.record_survey(server.pk, _report("a", "b", loaded=True))
    surveys.record_survey(server.pk, _report("a"))
    gone = ModelProfile.objects.get(name="b")
    assert gone.gone_since is not None
    assert gone.loaded is False
    since = gone.gone_since
    surveys.record_survey(server.pk, _report("a"))
    gone.refresh_from_db()
    assert gone.gone_since == since
    surveys.record_survey(server.pk, _report("a", "b"))
    gone.refresh_from_db()
    assert gone.gone_since is None


def test_a_survey_never_touches_what_a_person_decided():  # M2
    server = ServerFactory()
    kept = {"default_context": 16384, "enabled": False, "description": "ours", "options": {"think": True}}
    profile = ModelProfileFactory(server=server, name="a", digest="old", **kept)
    overrides.add(NewOverride(profile.pk, "tools", True, actor=UserFactory().pk))
    surveys.record_survey(server.pk, _report("a", family="other", quantization="Q4"))
    profile.refresh_from_db()
    assert {name: getattr(profile, name) for name in kept} == kept
    assert (profile.digest, profile.quantization) == ("d-a", "Q4")
    standing = _standing(profile)
    assert (standing.value, standing.source, standing.stale) == (True, "user_confirmed", True)


def test_only_what_changed_or_was_never_described_is_described():
    server = ServerFactory(version="0.13.0")
    surveys.record_survey(server.pk, _report("a", "b"))
    a, b = ModelProfile.objects.get(name="a"), ModelProfile.objects.get(name="b")
    surveys.record_details(server.pk, {a.pk: ModelDetails(template_hash="t"), b.pk: ModelDetails(context_length=4096)})
    assert surveys.record_survey(server.pk, _report("a", "b")) == ()
    assert surveys.record_survey(server.pk, _report("a", "b", digest="new")) == ((a.pk, "a"), (b.pk, "b"))
    # Nobody answered the description: it is asked for again.
    assert len(surveys.record_survey(server.pk, _report("a", "b", digest="new"))) == 2
    surveys.record_details(server.pk, {a.pk: ModelDetails(template_hash="t"), b.pk: ModelDetails(template_hash="u")})
    assert surveys.record_survey(server.pk, _report("a", digest="new")) == ()
    assert surveys.record_survey(server.pk, _report("a", digest="new", version="0.14.0")) == ((a.pk, "a"),)


def test_the_contexts_are_filled_in_and_what_a_file_brought_stays():  # M6
    server = ServerFactory()
    surveys.record_survey(server.pk, _report("a", "b"))
    a, b = ModelProfile.objects.get(name="a"), ModelProfile.objects.get(name="b")
    brought = [{"name": "long", "num_ctx": 100_000}]
    ModelProfile.objects.filter(name="b").update(extra={"context_profiles": brought, "colour": "red"})
    for length in (4096, 40_960):
        told = ModelDetails(template_hash="t", context_length=length)
        surveys.record_details(server.pk, {a.pk: told, b.pk: told})
    filled = [{"name": "default", "num_ctx": 8192}, {"name": "trained", "num_ctx": 40_960}]
    assert ModelProfile.objects.get(name="a").extra == {"context_profiles": filled}
    assert ModelProfile.objects.get(name="b").extra == {"context_profiles": brought, "colour": "red"}
    out = {entry.id: list(entry.context_profiles) for entry in user_models_merge.exported().entries}
    assert out == {"a": filled, "b": brought}


def test_a_new_build_makes_measurements_stale():  # M3
    server = ServerFactory()
    surveys.record_survey(server.pk, _report("strange"))
    profile = ModelProfile.objects.select_related("server").get(name="strange")
    overrides.add(NewOverride(profile.pk, "tools", True, "auto_detected"))
    assert _standing(profile).source == "auto_detected"
    surveys.record_survey(server.pk, _report("strange", digest="other"))
    assert (_standing(profile).source, _standing(profile).value) == ("auto_detected_stale", True)


def test_a_digest_that_could_not_be_read_is_no_sign_of_a_new_build():
    # A llama-server or LM Studio whose further answer failed, such as while it loads a model.
    server = ServerFactory()
    surveys.record_survey(server.pk, _report("strange"))
    profile = ModelProfile.objects.select_related("server").get(name="strange")
    overrides.add(NewOverride(profile.pk, "tools", True, "auto_detected"))
    surveys.record_survey(server.pk, _report("strange", digest=None))
    assert _standing(profile).source == "auto_detected"
    surveys.record_survey(server.pk, _report("strange", digest=""))
    assert _standing(profile).source == "auto_detected_stale"


def test_a_failure_keeps_its_first_moment_and_an_answer_ends_it():
    server = ServerFactory()
    reachability.record_failure(server.pk, "refused")
    server.refresh_from_db()
    since = server.down_since
    assert (server.reachable, server.last_error, since is not None) == (False, "refused", True)
    reachability.record_failure(server.pk, "timed out")
    server.refresh_from_db()
    assert (server.down_since, server.last_error) == (since, "timed out")
    surveys.record_survey(server.pk, _report())
    server.refresh_from_db()
    assert (server.reachable, server.down_since, server.last_error) == (True, None, "")


@pytest.mark.parametrize(
    ("listed", "claims"),
    [
        (None, {}),
        ((), {"tools": False, "thinking": False, "vision": False}),
        (("completion", "tools"), {"tools": True, "thinking": False, "vision": False}),
        (("tools", "thinking", "vision"), {"tools": True, "thinking": True, "vision": True}),
    ],
)
def test_a_missing_list_claims_nothing(listed: tuple[str, ...] | None, claims: dict[str, bool]):
    assert surveys.declared(listed) == claims


def test_declarations_are_rows_only_on_change():
    profile = ModelProfileFactory()

    def declare(*words: str) -> int:
        told = ModelDetails(template_hash="t", capabilities=words, parameter_count=8_200_000_000)
        surveys.record_details(profile.server_id, {profile.pk: told})
        return Override.objects.filter(profile=profile, source="declared").count()

    assert declare("completion", "tools") == 3
    assert declare("completion", "tools") == 3
    assert declare("completion") == 4
    assert _standing(profile).value is False
    profile.refresh_from_db()
    assert (profile.abilities, profile.parameter_count) == (["completion"], 8_200_000_000)


def test_details_are_for_models_of_that_server_only():
    profile, other = ModelProfileFactory(), ServerFactory()
    surveys.record_details(other.pk, {profile.pk: ModelDetails(template_hash="t")})
    profile.refresh_from_db()
    assert profile.template_hash == ""


def test_three_hundred_models_take_few_queries(django_assert_max_num_queries: DjangoAssertNumQueries):
    server = ServerFactory()
    report = _report(*(f"m{n}" for n in range(300)))
    surveys.record_survey(server.pk, report)
    with django_assert_max_num_queries(20):
        surveys.record_survey(server.pk, report)
    assert Server.objects.count() == 1
    assert ModelProfile.objects.count() == 300


def test_a_template_that_takes_one_call_is_a_no_until_another_one_is_there():
    profile = ModelProfileFactory()

    def told(one_call: bool | None) -> object:
        details = ModelDetails(template_hash="t", capabilities=("tools",), one_call=one_call)
        surveys.record_details(profile.server_id, {profile.pk: details})
        return holding(profile, "parallel").value

    assert [told(one_call) for one_call in (None, False, True, None, False)] == [None, None, False, False, True]


def test_the_context_of_a_modelfile_is_asked_for_until_somebody_chose_another():  # F8
    server = ServerFactory()
    surveys.record_survey(server.pk, _report("a"))
    profile = ModelProfile.objects.get(name="a")

    def described(parameters: str) -> ModelProfile:
        surveys.record_details(server.pk, {profile.pk: ModelDetails("t", parameters=parameters)})
        return ModelProfile.objects.get(pk=profile.pk)

    assert described("").default_context == 8192
    assert described("num_ctx 32768\ntemperature 0.7").default_context == 32_768
    assert described("num_ctx 16384").default_context == 16_384
    assert described("").default_context == 8192
    chosen = described("num_ctx 16384")
    context_sizes.choose(chosen, 12_000)
    chosen.save()
    assert described("num_ctx 65536").default_context == 12_000


def test_models_described_before_modelfiles_were_read_are_described_once_more():
    server = ServerFactory(version="0.13.0")
    surveys.record_survey(server.pk, _report("a"))
    profile = ModelProfile.objects.get(name="a")
    surveys.record_details(server.pk, {profile.pk: ModelDetails(template_hash="t")})
    assert surveys.record_survey(server.pk, _report("a")) == ()
    ModelProfile.objects.update(modelfile=None)
    assert surveys.record_survey(server.pk, _report("a")) == ((profile.pk, "a"),)


LONG = "x" * 10_000


def test_what_a_hostile_server_reports_fits_into_the_columns():
    server = ServerFactory()
    odd = ("\0 null", "\ud800", "a\u202eb", LONG, "", " blank")
    facts = {"digest": LONG, "quantization": "\0" + LONG, "family": LONG, "capabilities": ("\0", LONG) * 1000}
    report = _report("a", *odd, *(f"m{number}" for number in range(6_000)), version="\0" + LONG, **facts)
    surveys.record_survey(server.pk, report)
    row = ModelProfile.objects.get(name="a")
    surveys.record_details(
        server.pk, {row.pk: ModelDetails(quantization=LONG, system="\0" + LONG, capabilities=("\ud800" * 99,))}
    )
    row.refresh_from_db()
    row.full_clean()
    Server.objects.get(pk=server.pk).full_clean()
    assert "\0" not in f"{row.modelfile}{row.abilities}{row.quantization}" and len(row.abilities) == 1
    # Only the other names: one with a null character cannot even be searched for in PostgreSQL.
    assert not {*odd} & {*ModelProfile.objects.values_list("name", flat=True)}
    assert ModelProfile.objects.count() == survey_truncation.MOST_MODELS
