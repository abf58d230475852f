"""View of the one-time link that signs a person in."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from toolsupport.core.errors import NotFound
from toolsupport.registry.people import security_events, sign_in_links
from toolsupport.web.authentication import device_cookie, session_origin
from toolsupport.web.client_ip import address_of
from toolsupport.web.pages.sign_in import refused
from toolsupport.web.view_permissions import public

PAGE = "toolsupport/sign_in_link.html"


@require_http_methods(["GET", "POST"])
@never_cache
@sensitive_post_parameters("token")
@public
def enter(request: HttpRequest) -> HttpResponse:
    """Ask for a press on the button, so that a preview of the link does not use it up; then sign in."""
    token = request.POST.get("token") or request.GET.get("token", "")
    try:
        person = sign_in_links.use(token) if request.method == "POST" else sign_in_links.person_of(token)
    except NotFound as error:
        return refused(request, "link_wrong", PAGE, {"why": str(error)})
    if request.method != "POST":
        return render(request, PAGE, {"name": person.username, "token": token})
    security_events.record("sign_in_link", address_of(request), person.username)
    session_origin.login(request, person, "the machine of the site")
    return device_cookie.remember(request, redirect("/"), person)
