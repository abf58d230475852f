"""View of the calls that a point of the insights counts."""

from __future__ import annotations

from django import forms
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from chat.transcript.conversations import insight_calls
from chat.transcript.conversations.insight_calls import CallFilter
from toolsupport.core.insight_sentences import CAUSES
from toolsupport.registry.metrics import insights
from toolsupport.registry.people.permissions import Action
from toolsupport.web.view_permissions import AuthedRequest, requires


class CallsForm(forms.Form):
    """The filter for the calls that a point of the plots counts."""

    day = forms.DateField(required=False)
    since = forms.DateField(required=False)
    until = forms.DateField(required=False)
    state = forms.CharField(required=False, max_length=20)
    profile = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1)
    format = forms.CharField(required=False, max_length=40)


@require_GET
@requires(Action.CHAT)
def calls(request: AuthedRequest) -> HttpResponse:
    """List the person's own calls of some days, and the number of everyone's."""
    form = CallsForm(request.GET)
    if not form.is_valid() or not (form.cleaned_data["day"] or form.cleaned_data["since"]):
        raise Http404("No calls match this address.")
    given = form.cleaned_data
    since = given["day"] or given["since"]
    until = given["day"] or given["until"] or since
    wanted = CallFilter(since, until, given["profile"], given["format"], given["state"])
    everyone = _everyone(wanted)
    context = {"wanted": wanted, "everyone": everyone, "calls": insight_calls.calls(request.user, wanted)}
    context |= {"narrowed": _words(wanted.state), "of_them": everyone.outcomes[wanted.state]}
    return render(request, "chat/counted.html", context | {"most": insight_calls.LISTED})


def _words(state: str) -> str:
    """Return the common property of the calls in words; "" for all of them."""
    return "repaired" if state == "repaired" else CAUSES[state][1] if state in CAUSES else ""


def _everyone(wanted: CallFilter) -> insights.MetricPoint:
    return insights.total(insights.InsightsFilter(wanted.profile, wanted.format, wanted.since, wanted.until))
