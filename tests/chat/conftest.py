"""A running site for every file of tests that needs one, with somebody signed in to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import httpx
import pytest

from tests.serving import Site, serving, sign_in


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site with the simulated models, on a data directory of its own."""
    with serving(tmp_path_factory.mktemp("site")) as running:
        yield running


@pytest.fixture(scope="module")
def ana(site: Site) -> Iterator[httpx.Client]:
    """The administrator of that site, signed in."""
    with closing(sign_in(site)) as client:
        yield client
