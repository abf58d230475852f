"""The phrases by which an error tells what became of the tools, in the order in which they are judged.

A rule names the thing (tools), a verb, a negation and sometimes who it is said of. What is said of a part of the thing
only (a choice, a type, a message, a combination) is ruled out before anything may count as "this model takes no tools".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from re import Pattern

UNSUPPORTED = "tools_unsupported"
MISCONFIGURED = "tools_misconfigured"
MALFORMED = "tool_call_malformed"
OTHER = "other"


@dataclass(frozen=True, slots=True)
class Rule:
    """`pattern` is looked for in lower case text on one line, as `refusals._plain` makes it."""

    label: str
    name: str
    pattern: Pattern[str]


# The thing itself, in the field's many words: not tool_choice, tool_call_id or parallel_tool_calls.
TOOLS = r"tools?(?:[ -](?:use|usage|calls?|calling))?|functions?(?:[ -]calls?|[ -]calling)?|(?:tool|function)_calling"

_THING = rf"[`'\"]?(?<![\w-])(?:{TOOLS})[`'\"]?(?![\w-])"

# Longer names first: they may stand in front of a shorter one.
SHORT = {
    "THING": _THING,
    "CALLING": r"(?:tool|function)[ _-]?(?:calling|calls?|use)",
    # A bare "tool" or "function" is one of them, mostly named before; the ability needs more than that.
    "ABILITY": rf"(?!`?['\"]?(?:tool|function)[`'\"]?(?![\w -]| (?:use|usage|call)))(?:{_THING})",
    "A_MODEL": r"(?:(?:this|the|that|your|any|selected|requested|provided|chosen|given|current) )*(?:\w+ )?models?\b",
    "A_SERVER": r"(?:server|backend|inference engine|proxy|gateway|adapter|api version|build)",
    # What follows limits the sentence to something else than tools as such.
    "WITH_ELSE": r"(?:and (?!functions?|tools?)|when|while|together|combined|in combination|alongside|simultaneous"
    r"|at the same time|unless|without|with (?!A_MODEL)|if )",
    "SPECIAL": r"parallel|multiple|multi-\w+|nested|custom|strict|hosted|built-?in|server|mcp|computer|web|search"
    r"|forced|named|remote|code|image|file|shell|browser|maps|retrieval|streaming|requested|specified|some|certain|following|other",
    "SUPPORT_": r"(?:support|accept|allow|permit|handle|implement|advertise)\w* ",
    "SUPPORTED": r"(?:supported|available|allowed|permitted|implemented|accepted|offered|provided)",
    "IS_NOT": r"(?:is|are)(?: not|n't)(?: currently| yet| fully| natively)? ",
    "NOT_": r"(?:not|n't|never|cannot|unable to|no longer)(?: currently| yet| natively| directly)? ",
    "IS_UN": r"(?:(?:is|are)(?: currently)?(?: un| not(?: currently| yet| natively)? |n't )|cannot be |has not been )",
}


def _rule(label: str, name: str, *phrases: str) -> Rule:
    """Any of the phrases; the words of SHORT stand for their patterns."""
    pattern = "|".join(f"(?:{phrase})" for phrase in phrases)
    for _ in range(2):  # a short word may stand for a pattern that holds another one
        for short, full in SHORT.items():
            pattern = pattern.replace(short, full)
    return Rule(label, name, re.compile(pattern))


_CALLS_THAT_FAILED = (
    _rule(
        MALFORMED,
        "unreadable-call",
        r"(?:error|fail\w*|unable|could not|cannot)[\w ]{0,20} (?:pars|extract|decod|generat)\w+ (?:an? |the )?"
        r"(?:tool|function)[ _]calls?",
        r"failed to parse (?:the )?(?:input at pos|model output|generated|response)",
        r"invalid diff: ",
    ),
    _rule(
        MALFORMED,
        "bad-arguments",
        r"returned invalid (?:tool|function) call",
        r"invalid (?:tool|function) call arguments for",
    ),
    _rule(
        MALFORMED,
        "unknown-name",
        r"undeclared \w* ?function",
        r"call(?:ed)? (?:a )?tool .*(?:was|is) not in request",
        r"(?:call|called|use|used|invoke|invoked) (?:an? )?(?:unavailable|unknown|undefined|undeclared|nonexistent) "
        r"(?:tool|function)",
        r"unexpected_tool_call",
    ),
    _rule(
        MALFORMED,
        "failed-generation",
        r"tool_use_failed",
        r"failed to call a function",
        r"malformed[ _](?:function|tool)[ _]call",
        r"no valid (?:tool|function) call",
        r"(?:tool|function) call (?:that )?(?:could not|cannot|failed to) be parsed",
        r"(?:produced|generated|emitted|wrote|output|returned) (?:an? )?(?:invalid|malformed) (?:json in )?"
        r"(?:an? |the |its )?(?:tool|function) call",
        r"(?:produced|generated|emitted|wrote) (?:an? )?(?:invalid|malformed) [\w ]{1,24}"
        r" (?:tool|function) ?(?:use|call)",
        r"(?:tool|function) call validation failed",
    ),
)

_NOT_ABOUT_TOOLS = (
    _rule(
        OTHER,
        "come-back-later",
        r"rate.?limit|too many requests|\bquota\b|insufficient (?:balance|credit|funds)|overloaded|at capacity",
    ),
    _rule(OTHER, "model-missing", r"\bmodel\b.{0,120}\bnot found", r"no such model", r"unknown model"),
    _rule(
        OTHER,
        "bad-tool",
        r"failed to parse tools",
        r"invalid schema for function",
        r"schema conversion failed",
        r"(?:tool|function) .*invalid '?parameters",
        r"(?:tool|function)[ _-]?(?:name|description|schema|definition|parameter|argument|result|response|message)s?\b"
        r"[^.]{0,40} (?:IS_UN|NOT_SUPPORT_|(?:is|are) invalid)",
    ),
    _rule(
        OTHER,
        "about-messages",
        r"\b(?:messages?|roles?|content|blocks?|history|turns?)\b(?:'|`| '')?(?: of type \w+)?"
        r" (?:does |do |can |may )?NOT_SUPPORT_",
        r"THING IS_UNSUPPORTED (?:in|for|on|by) (?:an? |the |this )?(?:\w+ )?(?:message|role|content|block|turn)s?\b",
    ),
)

_IN_THE_WAY = (
    _rule(
        MISCONFIGURED,
        "flag",
        r"requires? (?:the )?(?:flag )?`?--\w",
        r"--(?:jinja|enable-auto-tool-choice|tool[-_](?:call[-_])?parser)\b",
        r"(?:start|launch|run|restart|compil|built|build)\w*[\w ]{0,30} with [^.]{0,40}\btool",
        r"(?:compil|buil)\w* without (?:support for )?tool",
        r"tool(?:[ _-]call)?[ _-]parser\b",
    ),
    _rule(
        MISCONFIGURED,
        "old-server",
        r"unsupported param(?:eter)?: [`'\"]?(?:tools|functions)[`'\"]?\.?$",
        r"[`'\"]?(?:tools|functions)[`'\"]? param(?:eter)? IS_NOTSUPPORTED(?!.*A_MODEL)",
        r"only named tools are supported",
        r"THING[^.]{0,80}(?:api[ -]version|(?:newer|later) version)",
        r"A_SERVER\b(?:(?!model)[\w .:/-]){0,40} (?:does |do |can )?NOT_SUPPORT_THING",
        r"THING (?:IS_UN|not |un)SUPPORTED (?:by|on|in) (?:this |the |your )?A_SERVER",
    ),
    _rule(
        MISCONFIGURED,
        "unknown-field",
        r"(?:unrecognized|unknown|unexpected)[ \w]{0,40}(?:argument|field|parameter|property|name|key|input(?= ['`\"]))"
        r"[^.]{0,40}(?<![\w.\[])(?:tools|functions)\b(?![.\[])",
        r"body\.(?:tools|functions): (?:extra|unexpected)",
        r"[`'\"](?:tools|functions)[`'\"] (?:is|was) "
        r"(?:unexpected|unknown|unrecognized|not (?:allowed|permitted|expected))(?!.*A_MODEL)",
        r"(?<![\w.\[])(?:tools|functions):? extra (?:inputs|fields) (?:are )?not permitted",
        r"extra (?:inputs|fields) (?:are )?not permitted,? (?:field|key)s?:? [`'\"]?(?:tools|functions)\b(?![.\[])",
        r"(?:extraneous|additional) (?:keys?|propert(?:y|ies)) [`'\"/\[]*(?:tools|functions)\b(?![./\[])",
    ),
    _rule(
        MISCONFIGURED,
        "gateway-table",
        r"not support param(?:eter)?s?:? .{0,200}[`'\"](?:tools|functions)[`'\"]",
        r"add_function_to_prompt",
    ),
    _rule(
        MISCONFIGURED,
        "stream",
        r"cannot use tools with stream",
        r"THING[^.]{0,40} (?:in|with|while|when|for) stream",
        r"stream\w* (?:with|of) THING IS_UN",
        r"stream\w*(?: mode| requests?| responses?)? (?:does |do |is |are )?NOT_"
        r"(?:SUPPORT_|supported with |supported for )THING",
    ),
    _rule(
        MISCONFIGURED,
        "template",
        r"parser for this template(?!.*(?:must|schema|roles)).*while (?:executing|rendering)",
        r"template: .*executing .*\.tools",
    ),
    _rule(
        MISCONFIGURED,
        "switched-off",
        r"THING (?:is|are|has been|have been) (?:disabled|switched off|turned off)",
        r"THING (?:IS_NOT|(?:has|have) not been )enabled (?:on|in|by|for) (?:this |the |your )?"
        r"(?:server|deployment|endpoint|project|account)",
        r"THING (?:IS_NOT|(?:has|have) not been )enabled(?! (?:for|on|in|with))"
        r"(?!,? (?:because|since|as) it is (?:un|not )SUPPORTED by)",
    ),
)

_A_PART_ONLY = (
    _rule(
        OTHER,
        "only-together",
        r"\bwith THING IS_UN",
        r"(?:SPECIAL)(?:[ -]\w+)? THING (?:IS_UN|not )SUPPORTED",
        r"NOT_SUPPORT_(?:SPECIAL)(?:[ -]\w+)? THING",
        r"(?:不支持|工具)[^。]{0,4}(?:并行|该工具|此工具|类型|多个|自定义|选择)",
        r"THING (?:IS_UN|not )SUPPORTED(?: by| for| in)?(?: A_MODEL)?,? WITH_ELSE",
        r"NOT_SUPPORT_(?:the use of |using |any )?THING WITH_ELSE",
    ),
    _rule(
        OTHER,
        "not-here",
        r"THING (?:IS_UN|not )SUPPORTED (?:in|on|for|with|under|by) (?:the |this |your |an? |our )?(?:[\w-]+ ){0,2}"
        r"(?:region|plan|tier|account|subscription|organi[sz]ation|key|mode|batch|language|request|version)s?\b(?!/)",
        r"\b(?:mode|plan|tier|region|account|subscription|batch|batche|job|request)s? (?:does |do )?NOT_SUPPORT_THING",
    ),
)

_TAKES_NO_TOOLS = (
    _rule(
        UNSUPPORTED,
        "does-not-support",
        r"NOT_SUPPORT_(?:the use of |using |use of |any |native |external |custom )?"
        r"(?!['`\"](?:tool|function)['`\"])THING"
        r"(?! (?:(?:use|usage|calls?|calling) )?(?:of|types?|with|results?|messages?|choices?|named|streaming|that"
        r"|outputs?|names?|ids?|parameters?)\b)"
        r"(?! (?:in|for|on) (?:the |this |an? )?(?:[\w-]+ ){0,2}(?:roles?|messages?|modes?|batch(?:es)?|requests?)\b)"
        r"(?! '')",
    ),
    _rule(
        UNSUPPORTED,
        "is-not-supported",
        r"(?<!with )(?<!role )ABILITY(?: features?| capabilit(?:y|ies)| functionality)? (?:IS_UN|not |un)SUPPORTED"
        r"(?! (?:parameter|value|type|tool|name))",
        r"(?<!with )ABILITY not (?:yet )?support(?:ed)?\b(?! (?:parameter|value|type))",
        r"THING (?:IS_NOT|(?:has|have) not been )enabled,? (?:because|since|as) it is (?:un|not )SUPPORTED by",
        r"THING IS_NOTenabled (?:for|on|in|with) (?:models/|A_MODEL|[\w./:-]*\d[\w./:-]*)",
        r"unsupported CALLING\b(?! (?:type|format|id|mode)|s? ?:)",
        r"(?:tools?|CALLING)_?not_?supported\b|unsupported_?(?:tools|CALLING)\b",
    ),
    _rule(
        UNSUPPORTED,
        "parameter-of-model",
        r"(?:parameters?|params?|arguments?|options?|fields?)\b[^.:]{0,40}(?:IS_UN|not |un)SUPPORTED"
        r" (?:for|by|with|in|on) A_MODEL:[^.]*(?<!\w)(?:tools|functions)\b",
        r"[`'\"](?:tools|functions)[`'\"] (?:param\w* )?IS_UNSUPPORTED (?:for|by|with|in|on) A_MODEL",
        r"unsupported param(?:eter)?s?:? [`'\"](?:tools|functions)[`'\"] (?:for|by|with|in) A_MODEL",
        r"A_MODEL[^.]{0,60}NOT_SUPPORT_the [`'\"]?(?:tools|functions|toolconfig)[`'\"]?"
        r" (?:param|argument|field|key|option)",
        r"\bmodel[ -]incompatible (?:request )?(?:argument|parameter)s?(?: supplied)?: "
        r"[`'\"]?(?:tools|functions)\b(?![.\[])",
    ),
    _rule(
        UNSUPPORTED,
        "only-others",
        r"no (?:endpoints?|providers?|models?)[^.]{0,40} (?:that |which )?supports? THING",
        r"THING (?:is|are) only SUPPORTED (?:by|for|on|with|in) ",
        r"^only (?!.*\b(?:api|plan|tier|version|stream\w*|requests?)\b).*(?:models?\b|\d).* supports? THING(?! \w)",
        r"(?:requires?|needs?|use|choose|pick|select|load|try|switch to) (?:an?|another|a different) (?:[\w-]+ )?"
        r"(?:model|llm) (?:that|which|with) (?:supports? )?THING(?! with)",
    ),
    _rule(
        UNSUPPORTED,
        "not-able",
        r"models?\b[^.]{0,80}(?:NOT_|in)(?:capable of|able to (?:use|call)|trained for|compatible with) THING",
        r"models?\b[^.]{0,60} (?:can ?not|can't) (?:use|call) THING(?! (?:when|while|with|if|in|together|on|for)\b)",
        r"not an? (?:tool|function)[- ]?(?:calling|use|capable)\b",
        r"\b(?:no|without|lacks?) (?:support for THING|(?:tool|function)(?:[ -]calling|[ -]use)? support)",
        r"^(?:A_MODEL(?: '')?|[\w./:-]+) (?:does|do)(?: not|n't) have (?:any |the |a )?CALLING"
        r" (?:support|capabilit|abilit)",
        r"models?\b[^.]{0,60} (?:has|have) no (?:tool|function)[ -]?(?:calling|use|call)? (?:support|capabilit)",
    ),
)

# The same sentences in the languages that hosts and forks of servers are seen to write.
_TOOLS_ELSEWHERE = {
    "chinese": r"(?:不|暂不|未|尚未|无法|没有)(?:支持|提供|具备)[^。,，;；]{0,8}(?:工具|函数|function|tools?\b)"
    r"|(?:工具|函数|function|tool)[\w ]{0,10}[^。,，;；]{0,6}(?:不支持|不被支持|未支持|不可用)",
    "japanese": r"(?:ツール|関数|function|tool)[^。]{0,16}"
    r"(?:サポートされていません|サポートしていません|対応していません|非対応|利用できません)",
    "korean": r"(?:도구|함수|툴)[^.]{0,16}(?:지원하지 않|지원되지 않)",
    "spanish": r"no (?:soporta|admite|permite|es compatible con)[\w ]{0,16}(?:herramientas|funciones|tools)",
    "portuguese": r"não (?:suporta|aceita|é compatível com)[\w ]{0,16}(?:ferramentas|funções|tools)",
    "french": r"(?:ne |n')(?:supporte|prend|accepte|gère)(?: pas)?[\w ']{0,24}(?:outils?|fonctions?|tools)",
    "german": r"unterstützt keine[\w ]{0,12}(?:werkzeuge?|tools|funktionsaufrufe?|tool-aufrufe)"
    r"|(?:werkzeuge|tools|funktionsaufrufe|tool-aufrufe) werden[\w ]{0,24}nicht unterstützt",
    "italian": r"non supporta[\w ]{0,16}(?:strumenti|funzioni|tools?\b)",
    "russian": r"не поддержива\w+[\w ]{0,20}(?:инструмент|вызов\w* функций|функци)",
}
_SAID_ELSEWHERE = tuple(Rule(UNSUPPORTED, f"in-{name}", re.compile(text)) for name, text in _TOOLS_ELSEWHERE.items())

RULES = (
    *_CALLS_THAT_FAILED,
    *_NOT_ABOUT_TOOLS,
    *_IN_THE_WAY,
    *_A_PART_ONLY,
    *_TAKES_NO_TOOLS,
    *_SAID_ELSEWHERE,
)
