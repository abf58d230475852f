"""Which passwords are among the first guesses, and which only look like them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import every
from toolsupport.core import guessable_passwords

COMMON = frozenset(
    {"password", "dragon", "letmein", "sunshine", "qwerty", "monkey", "1q2w3e4r", "iloveyou", "trustno1"}
)


def _common(password: str) -> bool:
    return guessable_passwords.is_common(password, COMMON.__contains__)


@every(
    "password",
    [
        *(
            "password",
            "PASSWORD",
            "PassWord1",
            "password2024!",
            "!password!",
            "p@ssw0rd",
            "P@$$W0RD2023",
            "passw0rd12345",
        ),
        *(
            "drowssap",
            "dragondragon",
            "Dragon99Dragon99",
            "qwerty123456789",
            "qwerty9876543210",
            "1q2w3e4r5",
            "1l0vey0u!",
        ),
        *("ｐａｓｓｗｏｒｄ", "monk3y-2022", "_letmein_", "trustno1!!", "Trustno12345"),
        *("dragon dragon", "monkey_monkey_monkey", "Sun-Shine 2024!", "p a s s w o r d"),
        *("aaaaaaaaaaaa", "abababababab", "abcabcabcabc", "abcdefghijkl", "lkjihgfedcba", "12345678901234", "11112222"),
        *("19840312", "12.03.1984", "1984-03-12", "03/12/2001", "xy12345678"),
    ],
)
def test_first_guesses(password: str):
    assert _common(password)


@every(
    "password",
    [
        *(
            "correct horse battery",
            "vivid-Otter-lamp-92",
            "xK9#mQ2vLp",
            "tiger7Rockets",
            "84719263",
            "dragon-teeth-soup",
        ),
        *(
            "a long enough passphrase",
            "Übergrößenträger",
            "пароль-из-двух-слов",
            "sunshine93847562",
            "my dragon eats kale",
        ),
        *("x" * 30 + "password", "qwertzuiopü+asdf", "2024 was a year of rain"),
    ],
)
def test_no_first_guesses(password: str):
    assert not _common(password)


@every(
    "password, rest",
    [
        ("alice-toolsupport-1", "--1"),
        ("T00lSupp0rtAl1ce", ""),
        ("chat.example.org1", "1"),
        ("toolsupport and nine otters", " and nine otters"),
        ("bo-likes-otters", "bo-likes-otters"),  # too short a name to count
        ("vivid-otter", "vivid-otter"),
    ],
)
def test_words_of_the_site_are_cut_out(password: str, rest: str):
    assert guessable_passwords.without(password, ["alice", "toolsupport", "bo", "chat.example.org", "example"]) == rest


@given(st.text(max_size=60), st.lists(st.text(max_size=12), max_size=4))
def test_any_text_is_judged(password: str, words: list[str]):
    _common(password)
    assert len(guessable_passwords.without(password, words)) <= len(guessable_passwords._folded(password))


@pytest.mark.parametrize("long", ["1" * 5000 + "a", "!" * 5000, "ab" * 2500, "-1" * 2500 + "x"])
def test_long_ones_cost_little(long: str):
    looked_up: list[str] = []

    def common(form: str) -> bool:
        looked_up.append(form)
        return False

    guessable_passwords.is_common(long, common)
    assert not looked_up
