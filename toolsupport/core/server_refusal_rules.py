"""The phrases by which errors about tools are classified, in the order in which they are applied.

A rule names the thing (tools), a verb, a negation and sometimes the subject. A sentence about a part of the thing
only (a choice, a type, a message, a combination) is excluded before anything may count as "this model takes no tools".
"""

from __future__ import annotations

import re
from dataclasses import replace

from toolsupport.core.grammatical_subject import is_a_model
from toolsupport.core.inflected_refusals import SENTENCES
from toolsupport.core.refusal_languages import CONTRACT, CURRENTLY, LANGUAGES, PARTS, PASSING, of_the_model_only
from toolsupport.core.server_parse_errors import CALLS_THAT_FAILED
from toolsupport.core.server_refusal_patterns import (
    MALFORMED,
    MISCONFIGURED,
    OTHER,
    TOOLS,
    UNSUPPORTED,
    RefusalRule,
    of_tools,
    rule,
)
from toolsupport.core.streaming_refusals import STREAM_CONFLICT

__all__ = ["MALFORMED", "MISCONFIGURED", "OTHER", "RULES", "TOOLS", "UNSUPPORTED", "RefusalRule"]

# Something between here and the server wrote a page, and something else put it into an envelope.
_PAGE = rule(OTHER, "page", r"<!doctype html", r"<html[^<>]{0,200}> ?<(?:head|body|title|meta|center|h1)\b")
# A page without its beginning. What a model wrote may hold such tags too: its calls are looked for before.
_PART_OF_A_PAGE = rule(
    OTHER,
    "part-of-a-page",
    r"<(?:br|hr|p|h[1-6]|center|title|div) ?/?>",
    r"</(?:p|h[1-6]|center|title|div|body|html) ?>",
)

_NOT_ABOUT_TOOLS = (
    # Refusals of the text that a person wrote.
    rule(
        OTHER,
        "moderation",
        r"\b(?:flagged|moderation|jailbreak|content (?:filter|policy)|safety (?:filter|system)|blocked (?:text"
        r"|content))\b|\bin your (?:prompt|message|input|question|text)\b",
    ),
    rule(
        OTHER,
        "come-back-later",
        r"rate.?limit|too many requests|\bquota\b|insufficient (?:balance|credit|funds)|overloaded|at capacity",
    ),
    rule(OTHER, "model-missing", r"\bmodel\b.{0,120}\bnot found", r"no such model", r"unknown model"),
    rule(
        OTHER,
        "bad-tool",
        r"failed to parse tools",
        r"invalid schema for function",
        r"schema conversion failed",
        r"(?:tool|function) .{0,300}invalid '?parameters",
        r"(?:tool|function)[ _-]?(?:name|description|schema|definition|parameter|argument|result|response"
        r"|message)s?\b"
        r"[^.]{0,40} (?:IS_UN|NOT_SUPPORT_|(?:is|are) invalid)",
    ),
    rule(
        OTHER,
        "about-messages",
        r"\b(?:messages?|roles?|content|blocks?|history|turns?)\b(?:'|`| '')?(?: of type \w+)?"
        r" (?:does |do |can |may )?NOT_SUPPORT_",
        r"THING (?:IS_UN|not )SUPPORTED (?:in|for|on|by) (?:an? |the |this )?(?:\w+ )?(?:message|role|content|block"
        r"|turn|system|developer)s?\b",
    ),
)

_FLAGS = (
    rule(
        MISCONFIGURED,
        "flag",
        r"\btools?\b.{0,200}(?:requires?|pass|set|add|use|needs?) (?:the )?(?:flag )?`?--\w",
        r"--(?:jinja|enable-auto-tool-choice|tool[-_](?:call[-_])?parser)\b",
        r"(?:start|launch|run|restart|compil|built|build)\w*[\w ]{0,30} with [^.]{0,40}\btool",
        r"(?:compil|buil|deploy|start|launch)\w* without (?:support for )?tool",
        r"grammar support is disabled[^.]{0,40}\btools?\b",
        r"\btools?\b[^.]{0,40}(?:grammar support is disabled|requires? a chat[ _-]template)",
        r"tool(?:[ _-]call)?[ _-]parser\b",
    ),
)

# States that end on their own, or limits of a contract, place or trial: they show nothing about the model itself.
_NOT_FOR_EVER = (
    rule(
        OTHER,
        "for-now",
        r"WORD(?:temporar(?:y|ily)|momentarily|intermittent(?:ly)?|now|today)END",
        r"at (?:the|this) (?:moment|time)\b",
        r"\b50[234] (?:bad gateway|service (?:temporarily )?unavailable|gateway time-?out)|\b50[234] ?:",
        r"^error code: 1\d{3}\b",
        r"(?:^|[.!?;:(] ?)(?:during|throughout|amid|pending) (?:the |an? |this |our )?[a-z -]{1,60},",
        r"\b(?:status|code|returned|responded|answered|error)(?: code)?:? (?:with )?(?:http )?50[234]\b",
        r"WORD(?:maintenance|outage|incident|degraded|high load|heavy load|overload(?:ed)?|rollout)END",
        r"(?:retry|try again|come back|check back) (?:later|soon|shortly|in (?:an? |\d|some |few ))",
        r"WORDcurrently (?:un|not )available",
        r"(?:un|not )available[^.]{0,40} try again",
        r"THING[^.]{0,60} (?:are|is) currently (?:disabled|switched off|turned off|paused|suspended|down)",
        r"until (?:further notice|\d|tomorrow)",
        *PASSING,
    ),
    rule(
        OTHER,
        "for-some",
        r"\bfor this route\b",
        r"WORD(?:plans?|tiers?|subscriptions?|billing|licen[cs]es?|quotas?|regions?|countr(?:y|ies)|jurisdictions?"
        r"|beta|early access|private preview|waitlist|allowlist|whitelist|entitlements?|trial)END",
        r"WORD(?:free|paid|trial) (?:users?|accounts?|keys?)END",
        r"WORD(?:your|this|the) (?:account|organi[sz]ation|workspace|api key|team)END",
        r"\bin (?:the )?(?:eu|us|uk|europe|china)\b",
        *CONTRACT,
    ),
)

_IN_THE_WAY = (
    of_tools(
        MISCONFIGURED,
        "old-server",
        r"unsupported param(?:eter)?: [`'\"]?(?:tools|functions)[`'\"]?\.?$",
        r"[`'\"]?(?:tools|functions)[`'\"]? param(?:eter)? IS_NOTSUPPORTED(?!.*A_MODEL)",
        r"only named tools are supported",
        r"THING(?! (?:calling )?modes?\b)[^.]{0,80}(?:api[ -]version|(?:newer|later) version)",
        r"THING (?:requires?|needs?) (?:[\w.-]+ ){0,3}v?\d[\w.]* or (?:newer|later|higher|above)",
        r"A_SERVER\b(?:(?!model)[\w .:/-]){0,40} (?:does |do |can )?NOT_SUPPORT_THING",
        r"THING (?:IS_UN|not |un)SUPPORTED (?:by|on|in) (?:this |the |your )?A_SERVER",
    ),
    of_tools(
        MISCONFIGURED,
        "unknown-field",
        r"(?:unrecognized|unknown|unexpected)[ \w]{0,40}(?:argument|field|parameter|property|name|key"
        r"|input(?= ['`\"]))"
        r"[^.]{0,40}(?<![\w.\[])(?:tools|functions)\b(?![.\[])",
        r"body\.(?:tools|functions): (?:extra|unexpected)",
        r"(?<![\w.\[])(?:tools|functions): (?:unknown|unexpected|unrecognized) (?:field|argument|parameter|key)",
        r"[`'\"](?:tools|functions)[`'\"] (?:is|was) "
        r"(?:unexpected|unknown|unrecognized|not (?:allowed|permitted|expected))(?!.*A_MODEL)",
        r"(?<![\w.\[])(?:tools|functions):? extra (?:inputs|fields) (?:are )?not permitted",
        r"extra (?:inputs|fields) (?:are )?not permitted,? (?:field|key)s?:? [`'\"]?(?:tools|functions)\b(?![.\[])",
        r"(?:extraneous|additional) (?:keys?|propert(?:y|ies)) [`'\"/\[]*(?:tools|functions)\b(?![./\[])",
    ),
    of_tools(
        MISCONFIGURED,
        "gateway-table",
        r"not support param(?:eter)?s?:? .{0,200}[`'\"](?:tools|functions)[`'\"]",
        r"add_function_to_prompt",
    ),
    STREAM_CONFLICT,
    rule(
        MISCONFIGURED,
        "template",
        r"parser for this template(?!.*(?:must|should|schema|roles|exception:)).*while (?:executing|rendering)",
        r"template: .*executing .*\.tools",
        r"\btemplates? (?:'' )?(?:(?:does|do|can) ?)?NOT_SUPPORT_THING",
    ),
    of_tools(
        MISCONFIGURED,
        "switched-off",
        r"THING (?:is|are|has been|have been) (?:disabled|switched off|turned off)",
        r"(?:tool|function)[ -](?:calling |use )?support (?:is|has been) (?:disabled|switched off|turned off)",
        r"THING (?:IS_NOT|(?:has|have) not been )enabled (?:on|in|by|for) (?:this |the |your )?"
        r"(?:server|deployment|endpoint|project|account)",
        r"THING (?:IS_NOT|(?:has|have) not been )enabled(?! (?:for|on|in|with))"
        r"(?!,? (?:because|since|as) it is (?:un|not )SUPPORTED by)",
    ),
)

# After the obstacle: "streaming is currently not supported with tools" names a setting.
_CURRENTLY = (
    rule(
        OTHER,
        "currently",
        r"WORD(?:currently|presently|at present|for now|for the time being|as of now)END",
        *CURRENTLY,
    ),
)

_A_PART_ONLY = (
    of_tools(
        OTHER,
        "older-name",
        r"\bfunctions?\b.{0,80}\b(?:use|switch to|migrate to|replaced (?:by|with)|superseded by|in favou?r of)"
        r" (?:the )?[`'\"]?tools\b",
        r"\bdeprecated\b.{0,60}\b(?:functions?|function_call|tools)\b",
    ),
    of_tools(
        OTHER,
        "only-together",
        r"(?<!request )(?<!requests )\bwith THING IS_UN",
        r"(?:SPECIAL)(?:[ -](?!feature|capabilit|abilit)\w+)? THING (?:IS_UN|not )SUPPORTED",
        r"NOT_SUPPORT_(?:SPECIAL)(?:[ -]\w+)? THING",
        r"THING (?:IS_UN|not )SUPPORTED(?: by| for| in)?(?: A_MODEL)?,? WITH_ELSE",
        r"NOT_SUPPORT_(?:the use of |using |any )?THING WITH_ELSE",
    ),
    rule(OTHER, "part-elsewhere", *PARTS),
    rule(
        OTHER,
        "on-condition",
        # A condition before the refusal limits it: in JSON mode, with audio output, if logprobs are requested.
        r"(?:^|[.!?;:(] ?)CONDITION (?:(?!\b(?:models?|llms?|tools?|functions?)\b|\b[a-z][\w/@-]*\d)[^.!?;:]){1,80}"
        r"[ ,](?:(?:this|the|that|your) (?:\w+ )?(?:model|llm)\b|it |THING (?:IS_UN|not |un)SUPPORTED)",
        r"\bmodels?(?: '')?, CONDITION [^.,;:]{1,60}, (?:does|do|can|is|are)\b",
        r"WORD(?:batch|real-?time|live|assistants?|json|pdf|documents?|files?|audio|video|vision|voice|speech|images?"
        r"|thinking|reasoning|guided|structured|cach\w+|legacy|preview|offline|async\w*|embeddings?|completions?)END"
        r"(?: (?:api|mode|endpoint|requests?|jobs?|inputs?|outputs?|calls?|decoding|queue))?[)\]]?(?: ?:| -|(?<=\]))"
        r" ?[^.:]{0,60}THING",
    ),
    of_tools(
        OTHER,
        "not-here",
        # A subject other than a model: this project, your workspace, the sandbox.
        r"\b(?:this|that|your|our|the) (?!(?:[\w-]+ ){0,3}(?:models?|llm)\b)(?:[\w-]+ ){1,2}"
        r"(?:of [\w./:@-]+ )?(?:does |do |can )?NOT_GIVE_THING",
        # Another model that has a part in the answer.
        r"\b(?:draft|speculative|assistant|fallback|backup|secondary|moderation|guard|safety|judge|router|routing)"
        r"[ -]model (?:does |do |can )?NOT_GIVE_THING",
        r"THING (?:IS_UN|not )SUPPORTED (?:in|on|for|with|under|by) (?:the |this |your |an? |our )?(?:[\w-]+ ){0,2}"
        r"(?:key|mode|batch|language|request|version|route|audio|output)s?\b(?!/)",
        r"\b(?:mode|account|batch|batche|job|request|route|path|operation|method)s? (?:(?:does|do|can) ?)?"
        r"NOT_SUPPORT_THING",
        r"(?<![\w/.:@-])(?:endpoint|route|path|url|uri|api|interface|node|host|instance|replica|worker|machine|pod"
        r"|cluster|shard|peer|tokenizer|client|library|sdk|session|plugin|protocol|device|platform)s?"
        r"(?: [\w./:{}-]+)? (?:(?:does|do|can) ?)?NOT_GIVE_THING",
        # A tool's name.
        r"\bnot SUPPORTED (?:tool|function)s? ?[:=('\"`]",
        r"THING (?:IS_UN|not )SUPPORTED (?:in|on|for|with|under|by|via|through|at|over) (?:[\w-]+ ){0,2}[`'\"]?"
        r"(?:/?(?:[\w-]+/)*(?:v\d\w*|api|completions?|messages|responses|chat|generate|embeddings)\b"
        r"|(?:endpoint|route|path|url|uri|node|host|instance|replica|worker|api)\b(?!-))",
    ),
)

_TAKES_NO_TOOLS = (
    replace(
        of_tools(
            UNSUPPORTED,
            "does-not-support",
            r"NOT_GIVE_(?:the use of |using |use of |any |native |external |custom )?"
            r"(?!['`\"](?:tool|function)['`\"])"
            # One tool, by its name.
            r"(?!(?:tool|function) (?!use|usage|call|tools?\b|invo|and|or|in|for|on|by|at|as|yet)[\w`'\"])THING"
            r"OF_IT",
        ),
        holds=is_a_model,
    ),
    of_tools(
        UNSUPPORTED,
        "is-not-supported",
        # Something unavailable that is not of a model may return.
        r"(?!.{0,60}available(?!.*A_MODEL| (?:for|with) A_NAME))HEADABILITY(?: features?| capabilit(?:y|ies)"
        r"| functionality)? (?:IS_UN|not (?:yet |currently )?|un)SUPPORTEDOF_IT",
        r"\bmodel features? ABILITY not support",
        r"THING (?:IS_NOT|(?:has|have) not been )enabled,? (?:because|since|as) it is (?:un|not )SUPPORTED by",
        r"THING IS_NOTenabled (?:for|on|in|with) (?:models/|A_MODEL|[\w./:-]*\d[\w./:-]*)",
        r"unsupported CALLING\b(?! (?:type|format|id|mode)|s? ?:)",
        r"(?:tools?|CALLING)_?not_?supported\b|unsupported_?(?:tools|CALLING)\b",
    ),
    of_tools(
        UNSUPPORTED,
        "parameter-of-model",
        r"(?:parameters?|params?|arguments?|options?|fields?)\b[^.:]{0,40}(?:IS_UN|not |un)SUPPORTED"
        r" (?:for|by|with|in|on) A_MODEL:[^.]*(?<!\w)(?:tools|functions)\b",
        r"(?<!choice )(?<!function )(?<!tool )(?<!name )[`'\"](?:tools"
        r"|functions)[`'\"] (?:param\w* )?IS_UNSUPPORTED (?:for|by|with|in|on) A_MODEL",
        r"unsupported param(?:eter)?s?:? [`'\"](?:tools|functions)[`'\"] (?:for|by|with|in) A_MODEL",
        r"(?<![\w.])(?:tools|functions) param(?:eter)? IS_UNSUPPORTED (?:for|by|with|in|on) A_MODEL",
        r"[`'\"](?:tools|functions)[`'\"] (?:is|are)(?: not|n't) an? SUPPORTED (?:param\w*|argument|option|field)"
        r" (?:for|by|with|in|on|of) A_MODEL",
        r"A_MODEL[^.]{0,60}NOT_SUPPORT_(?:the )?(?:parameter|param|argument|field|option|key|property):? ?[`'\"]?"
        r"(?:tools|functions)\b(?![.\[_-])",
        r"A_MODEL[^.]{0,60}NOT_SUPPORT_the [`'\"]?(?:tools|functions|toolconfig)[`'\"]?"
        r" (?:param|argument|field|key|option|feature|capabilit|abilit)",
        r"\bmodel[ -]incompatible (?:request )?(?:argument|parameter)s?(?: supplied)?: "
        r"[`'\"]?(?:tools|functions)\b(?![.\[])",
    ),
    of_tools(
        UNSUPPORTED,
        "only-others",
        r"no (?:endpoints?|providers?|models?)[^.]{0,40} (?:that |which )?supports? "
        r"(?:THINGUNLIMITED|the (?:provided|requested|given) THING(?: parameters?)?(?:\.|$))",
        r"HEADABILITY (?:is|are) only SUPPORTED (?:by|for|on|with|in) (?!(?:[\w./-]+ ){0,3}(?:apis?|endpoints?|routes?"
        r"|completions?|responses|modes?|tool_choice|json\w*|\w*_?formats?|customers?|users?|accounts?|versions?"
        r"|requests?|messages?|sdks?|clients?)\b)",
        r"^only (?!.*\b(?:api|mode|plan|tier|version|stream\w*|requests?)\b)"
        r".{0,200}(?:models?\b|\d).{0,200} supports? THING(?! \w)",
        r"(?:requires?|needs?|use|choose|pick|select|load|try|switch to) (?:an?|another|a different) (?:[\w-]+ )?"
        r"(?:model|llm) (?:that|which|with) (?:supports? )?THINGUNLIMITED",
    ),
    of_tools(
        UNSUPPORTED,
        "not-able",
        r"(?:models?|llms?)\b[^.]{0,80}(?:NOT_|in|un)(?:capable of|able to (?:use|call)|(?:trained|built|made"
        r"|designed) for|compatible with) THINGUNLIMITED",
        r"THING (?:is|are)(?: not|n't) (?:something|anything|a feature) (?:that )?A_MODEL",
        r"models?\b[^.]{0,60} (?:can ?not|can't) (?:use|call|do|make|handle|perform|process) THING"
        r"UNLIMITED(?! (?:on|for)\b)",
        r"THING (?:can ?not|can't) be (?:used|attached|given|passed) (?:with|by|in|on|to) (?:it\b|A_MODEL)",
        r"models?\b[^.]{0,60} (?:can ?not|can't) be used with THING(?=[.!](?: |$)|$)",
        r"\brequests? with THING IS_UNSUPPORTED (?:for|by|on|with) A_MODEL",
        r"^(?:A_MODEL(?: '')?|[\w.:-]*[\d/][\w./:-]*) (?:is|are)(?: not|n't) (?:supported|available"
        r"|enabled) for CALLING",
        r"not an? (?:tool|function)[- ]?(?:calling|use|capable)\b",
        r"\b(?:no|without|lacks?) (?:support for THING|(?:tool|function)(?:[ -]calling|[ -]use)? support)",
        r"A_MODEL(?: (?:''|`[^`]*`))? (?:does|do)(?: not|n't) have (?:any |the |a )?(?:native )?"
        r"(?:tools?|functions?) support",
        r"THING (?:were|was|are|is) (?:provided|given|sent|passed|set),? but A_MODEL "
        r"(?:has no support for|can(?:not|'t) use|does(?: not|n't) support) (?:them|it|these|those)(?=[.!]?(?: |$))",
        r"^(?:A_MODEL(?: '')?|[\w./:-]+) (?:does|do)(?: not|n't) have (?:any |the |a )?(?:native )?CALLING"
        r" (?:support|capabilit|abilit)",
        r"(?:models?|llms?)\b[^.]{0,60} (?:has|have) no (?:tool|function)[ -]?(?:calling|use|call)? (?:support"
        r"|capabilit|abilit)",
    ),
)

_STATED_ELSEWHERE = tuple(
    RefusalRule(UNSUPPORTED, f"in-{name}", re.compile(text), of_the_model_only) for name, text in LANGUAGES.items()
)

RULES = (
    _PAGE,
    *CALLS_THAT_FAILED,
    _PART_OF_A_PAGE,
    *_NOT_ABOUT_TOOLS,
    *_FLAGS,
    *_NOT_FOR_EVER,
    *_IN_THE_WAY,
    *_CURRENTLY,
    *_A_PART_ONLY,
    *_TAKES_NO_TOOLS,
    *_STATED_ELSEWHERE,
    SENTENCES,
)
