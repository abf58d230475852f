"""Page of the quotas for administrators."""

from __future__ import annotations

from collections.abc import Sequence

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from toolsupport.core.errors import ConfigError, NotFound
from toolsupport.core.quota_rules import FIELDS, LABELS, LARGEST, Quota
from toolsupport.registry.people import quota_overview, quotas
from toolsupport.registry.people.permissions import Action
from toolsupport.registry.people.quota_overview import QuotaOverview
from toolsupport.web.view_permissions import AuthedRequest, requires


class QuotaForm(forms.Form):
    """The quota of one subject."""

    subject = forms.ChoiceField(label="For")

    def __init__(self, choices: Sequence[tuple[str, str]], given: HttpRequest | None, chosen: str = "") -> None:
        kind, _, subject = chosen.partition(":")
        known = quotas.table.rows().get((kind, subject), Quota())
        own = {name: getattr(known, name) for name in FIELDS}
        super().__init__(given.POST if given else None, initial={"subject": chosen, **own})
        self.fields["subject"].choices = choices  # type: ignore[attr-defined]
        for name in FIELDS:
            field = forms.IntegerField(label=LABELS[name], min_value=0, max_value=LARGEST, required=False)
            self.fields[name] = field


@require_GET
@requires(Action.ADMINISTER)
def listed(request: AuthedRequest) -> HttpResponse:
    """Show all quotas and the form; `for` chooses the subject to edit."""
    found = quota_overview.overview()
    return _answer(request, found, QuotaForm(found.choices, None, request.GET.get("for", "")))


@require_POST
@requires(Action.ADMINISTER)
def save(request: AuthedRequest) -> HttpResponse:
    """Set the quota of one subject; without any value it is removed."""
    found = quota_overview.overview()
    form = QuotaForm(found.choices, request)
    if not form.is_valid():
        return _answer(request, found, form, 422)
    kind, _, subject = form.cleaned_data["subject"].partition(":")
    try:
        quotas.put(kind, subject, Quota(**{name: form.cleaned_data[name] for name in FIELDS}))
    except (ConfigError, NotFound) as error:
        form.add_error(None, str(error))
        return _answer(request, found, form, 422)
    return redirect("quotas")


def _answer(request: AuthedRequest, found: QuotaOverview, form: QuotaForm, status: int = 200) -> HttpResponse:
    context = {"listed": found.listed, "form": form, "everyone": quotas.of_environment()}
    return render(request, "toolsupport/quotas.html", context, status=status)
