"""Defines the vocabulary of the rules in server_refusal_rules.py."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from re import Match, Pattern

UNSUPPORTED = "tools_unsupported"
MISCONFIGURED = "tools_misconfigured"
MALFORMED = "tool_call_malformed"
OTHER = "other"

# Further matches in the same text add nothing.
MOST_MATCHES = 20


@dataclass(frozen=True, slots=True)
class RefusalRule:
    """`pattern` is searched in lower-case text on one line, as `refusals._plain` makes it.

    `holds` accepts or rejects a match by the text around it. A text without one of the words `needed` cannot match, and
    looking for a word costs next to nothing.
    """

    label: str
    name: str
    pattern: Pattern[str]
    holds: Callable[[Match[str]], bool] = bool
    needed: tuple[str, ...] = ("",)

    def found(self, text: str) -> bool:
        if not any(word in text for word in self.needed):
            return False
        return any(self.holds(match) for match in islice(self.pattern.finditer(text), MOST_MATCHES))


# The thing itself, in the field's many words: not tool_choice, tool_call_id or parallel_tool_calls.
TOOLS = (
    r"tools?(?:[ -](?:use|usage|calls?|calling|invocations?))?"
    r"|functions?(?:[ -]calls?|[ -]calling|[ -]tools?)?|(?:tool|function)_calling"
)

_THING = rf"[`'\"]?(?<![\w-])(?:{TOOLS})[`'\"]?(?![\w-])"

# Longer names first: they may stand before a shorter one.
SHORT = {
    "THING": _THING,
    # A word of a sentence, not a part of a model's name: zephyr-7b-beta, deepseek-r1:free.
    "WORD": r"(?<![\w/@-])(?<!\w[.:])",
    "END": r"(?![\w/@-]|:\w)",
    # Text before and after a sentence that counts: a model, or nothing. Any other text limits it.
    "HEAD": r"(?:^|[^\w '`\"] ?['`\"]?|\b(?:(?<!of )(?:the|this|that|its)|native|external|because|since|as|but|so"
    r"|any|error|use of(?: the)?|using|feature|capability) )",
    "OF_IT": r"(?: (?:features?|capabilit(?:y|ies)|functionality|support|abilit(?:y|ies)|parameters?))?"
    r"(?: (?:for|by|with|in|on|of|from) (?:A_MODEL(?:'s)?:?(?: (?:''|[`\"']?[\w./:@-]+[`\"']?))?"
    r"|(?:the )?[`'\"]?(?!A_MACHINE)[\w./:@-]*[\d/:][\w./:@-]*[`'\"]?|it(?! ')|NAMED))?"
    r"(?= ?(?:$|[^\w '`\"-]| - |['`\"]+(?:$|[^\w '])| (?:yet|natively|currently|directly|either|and|but|so"
    r"|please|because|since"
    r"|which|however|though|try|see|use|choose|status|details|request id)\b))",
    "CALLING": r"(?:tool|function)[ _-]?(?:calling|calls?|use)",
    # A bare "tool" or "function" is one of them, mostly named before; the ability needs more than that.
    "ABILITY": rf"(?!`?['\"]?(?:tool|function)[`'\"]?(?![\w -]| (?:use|usage|call)))(?:{_THING})",
    "A_MODEL": r"(?:(?:this|the|that|your|any|selected|requested|provided|chosen|given|current) ){0,4}"
    r"(?:\w{1,40} )?models?\b",
    # A name that only a model has: its maker or tag, and a digit.
    "A_NAME": r"[`'\"]?(?!https?:|(?:api|v\d\w*)/)[a-z][\w.-]*[/:][\w./:@-]*\d[\w./:@-]*",
    "A_MACHINE": r"(?:[cgnt]pus?|cuda|rocm|vulkan|metal|h\d{2,3}|a\d{2,3}|mi\d{3})\b",
    "CONDITION": r"(?:in|with|when(?:ever)?|if|while|for|on|under|using|without|during|unless|until|once|where|after"
    r"|before|because|since|as|given|provided|due to|through|via|outside|inside|within|except|despite|from|at|by"
    r"|out of|although|upon)",
    "A_SERVER": r"(?:server|backend|inference engine|proxy|gateway|adapter|api version|build)",
    # The words after this limit the sentence to something other than tools in general.
    "WITH_ELSE": r"(?:and (?!functions?|tools?)|when|while|together|combined|in combination|alongside|simultaneous"
    r"|at the same time|unless|without|with (?!A_MODEL|A_NAME)|if )",
    # Nothing after the words for tools narrows them: another feature, a moment, or the name of one tool.
    "UNLIMITED": r"(?! ?[+&]| (?:with (?!A_MODEL|it\b)|(?:when|while|if|in|and(?! (?:tool|function))|that|which|more"
    r"|together|combined|alongside|during|use|usage|calls?|calling|invocations?|tools?)\b)| \w*_\w)",
    "SPECIAL": r"parallel|multiple|multi-\w+|nested|custom|strict|hosted|built-?in|server|mcp|computer|web|search"
    r"|forced|named|remote|code|image|file|shell|browser|maps|retrieval|streaming|requested|specified|some"
    r"|certain|following|other",
    "SUPPORT_": r"(?:support|accept|allow|permit|handle|implement|advertise)\w* ",
    "SUPPORTED": r"(?:supported|available|allowed|permitted|implemented|accepted|offered|provided)",
    "GIVE_": r"(?:(?:support|accept|allow|permit|handle|implement|advertise|offer|provide)\w* )",
    # Any name of a model, as the last word. Not a kind of people, requests or media.
    "NAMED": r"(?!A_MACHINE|(?:[a-z]+(?:s|ing|ed|ion|ly|er)|audio|batch|video|images?|text|json|you|us|me|free|guest)"
    r"\b)[\w.-]+[.}'\"]*$",
    "IS_NOT": r"(?:is|are)(?: not|n't)(?: currently| yet| fully| natively)? ",
    "NOT_": r"(?:not|n't|never|cannot|unable to|no longer)(?: currently| yet| natively| directly)? ",
    "IS_UN": r"(?:(?:is|are)(?: currently)?(?: un| not(?: currently| yet| natively)? |n't )|cannot be "
    r"|(?:has|have) (?:not|never) been )",
}


def rule(label: str, name: str, *phrases: str) -> RefusalRule:
    """Build a rule that matches any of the phrases; the words of SHORT are replaced by their patterns."""
    pattern = "|".join(f"(?:{phrase})" for phrase in phrases)
    for _ in range(3):  # a short word may stand for a pattern that holds another one
        for short, full in SHORT.items():
            pattern = pattern.replace(short, full)
    return RefusalRule(label, name, re.compile(pattern))


def of_tools(label: str, name: str, *phrases: str) -> RefusalRule:
    """Build such a rule whose phrases all name tools or functions."""
    return replace(rule(label, name, *phrases), needed=("tool", "function"))
