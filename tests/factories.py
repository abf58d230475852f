"""Rows for tests: people by role, servers, models, claims, conversations."""

from __future__ import annotations

from typing import Any

import factory
from django.contrib.auth.models import Group, User
from django.utils import timezone

from chat.models import Conversation
from toolsupport.core import remote_tools
from toolsupport.models import McpServer, McpTool, ModelProfile, Override, Server

PASSWORD = "a long enough passphrase"


def _set_role(user: User, create: bool, role: str | None, **_: Any) -> None:
    # get_or_create: a test that flushes the tables flushes the groups of the migration too.
    if create and role:
        user.groups.add(Group.objects.get_or_create(name=role)[0])


class UserFactory(factory.django.DjangoModelFactory):
    """A person; `UserFactory(role="reviewer")` puts them into the group."""

    class Meta:
        model = User
        skip_postgeneration_save = True

    username = factory.Sequence(lambda n: f"person{n}")
    password = factory.django.Password(PASSWORD)
    role = factory.post_generation(_set_role)


class ServerFactory(factory.django.DjangoModelFactory):
    """A reachable Ollama server."""

    class Meta:
        model = Server

    name = factory.Sequence(lambda n: f"server{n}")
    kind = "ollama"
    base_url = factory.Sequence(lambda n: f"http://127.0.0.1:{20000 + n}")
    version = "0.13.0"
    reachable = True


class ModelProfileFactory(factory.django.DjangoModelFactory):
    """A model of a server, with a build of its own."""

    class Meta:
        model = ModelProfile

    server = factory.SubFactory(ServerFactory)
    name = factory.Sequence(lambda n: f"model{n}:latest")
    digest = factory.Sequence(lambda n: f"{n:064x}")
    last_seen = factory.LazyFunction(timezone.now)


class OverrideFactory(factory.django.DjangoModelFactory):
    """A claim, as a bare row: nothing is written into the history (use registry.overrides.add for that)."""

    class Meta:
        model = Override

    profile = factory.SubFactory(ModelProfileFactory)
    seq = factory.LazyAttribute(lambda row: Override.objects.filter(profile=row.profile).count() + 1)
    capability = "tools"
    value = True
    source = "user_confirmed"
    build_key = factory.LazyAttribute(lambda row: row.profile.build.key)


class ConversationFactory(factory.django.DjangoModelFactory):
    """A conversation with a model chosen."""

    class Meta:
        model = Conversation

    owner = factory.SubFactory(UserFactory, role="user")
    profile = factory.SubFactory(ModelProfileFactory)
    title = factory.Sequence(lambda n: f"Conversation {n}")


class McpServerFactory(factory.django.DjangoModelFactory):
    """A reachable MCP server of kind http; nothing listens at its address."""

    class Meta:
        model = McpServer

    name = factory.Sequence(lambda n: f"box{n}")
    kind = "http"
    url = "http://127.0.0.1:9/mcp"
    reachable = True


class McpToolFactory(factory.django.DjangoModelFactory):
    """An approved tool."""

    class Meta:
        model = McpTool

    server = factory.SubFactory(McpServerFactory)
    name = factory.Sequence(lambda n: f"tool{n}")
    definition = factory.LazyAttribute(lambda row: {"name": row.name, "inputSchema": {"type": "object"}})
    digest = factory.LazyAttribute(lambda row: remote_tools.digest(row.definition))
