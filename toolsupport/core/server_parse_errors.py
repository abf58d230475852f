"""The phrases by which a server reports that it could not read a call that the model wrote.

The model is asked again after these. An error about the request, its messages, its tools or the settings of the server
is none of them, however similar its words.
"""

from __future__ import annotations

import re
from re import Match

from toolsupport.core.server_refusal_patterns import MALFORMED, RefusalRule, of_tools, rule

# Errors of JSON decoders: Go's, then those of Python and others.
_GO_JSON = (
    r"unexpected end of json input|invalid character .{1,20} (?:looking for beginning of|after (?:object|array|top)"
    r"|in (?:string|numeric|literal|\\u))|json: cannot unmarshal \w{1,20} into go (?:value of type map|struct field"
    r" [\w.]{0,40}arguments)"
)
_DECODER = re.compile(
    _GO_JSON + r"|jsondecodeerror|expecting (?:value|property name|'[,:]'|',' delimiter|':' delimiter)|extra data: line"
    r"|unterminated string|unexpected (?:character|token|end of|eof|eos)|invalid (?:control character|\\?escape|syntax)"
    r"|indices must be|index out of range|expected [`'\"]?[,:{}\[\]]|eof while parsing|zero-length, empty document"
)
# Codes of errors that only a server of models gives: they count also through a gateway that adds a status of its own.
LOST_CALL_CODES = frozenset(
    {"tool_use_failed", "output_parse_failed", "malformed_function_call", "tool_call_parse_error"}
)
_ABOUT_REQUEST = re.compile(
    r"\bmessages?[\[.]|\bmessages? \d|request body|\byour request|\bhistory\b|\bcall_id\b|\bmcp\b"
)
_PARSER = re.compile(r"\b\w*?tool[ _-]?(?:call(?:ing)?[ _-]?)?pars(?:er|ing)\b")
_BROKE = re.compile(
    r"exception|error|fail(?:ed|ure|s)?\b|crash|rais(?:ed|es)|thr(?:ew|ows)|(?:could not|couldn't|cannot|unable to) "
    r"(?:parse|read|extract|decode)|no attribute|not subscriptable|to unpack|out of range"
)
# The parser itself is missing or was not chosen: a setting.
_NOT_THERE = re.compile(
    r"--\w|not (?:registered|found|set|configured|installed|supported|defined|available|enabled|recogni[sz]ed|specified"
    r"|exist|valid)|\brequire|\b(?:invalid|unknown|unsupported|no|missing) (?:such )?tool|locate|import|\bload"
    r"|initiali[sz]|start|launch|cho[os]se|must be|please|tokenizer"
)


def _parser_failed(match: Match[str]) -> bool:
    """Return whether the text is about an exception in a parser that is there."""
    beside = match.string[max(0, match.start() - 80) : match.end() + 160]
    broke = _BROKE.search(beside) or _DECODER.search(beside)
    return broke is not None and not _NOT_THERE.search(beside) and not _ABOUT_REQUEST.search(match.string)


_CALL = re.compile(r"\b(?:tool|function)[ _-]?call(?:s|ing)?\b")


def _decoder_failed(match: Match[str]) -> bool:
    """Return whether an error of a decoder follows the words, which are not about the request."""
    after = match.string[match.end() : match.end() + 160]
    return _DECODER.search(after) is not None and not _ABOUT_REQUEST.search(match.string)


CALLS_THAT_FAILED = (
    rule(
        MALFORMED,
        "unreadable-call",
        r"(?:error|fail\w*|unable|could not|cannot)[\w ]{0,20} (?:pars|extract|decod|generat|unmarshal"
        r"|deseriali[sz])\w*"
        r" (?:an? |the )?(?:tool|function)[ _]calls?",
        r"(?:could not|cannot|couldn't|failed to) be (?:parsed|decoded|read) (?:as|into) (?:an? )?(?:tool"
        r"|function) call",
        r"(?<![\w.\]] )(?<![\w.\]])(?:tool|function) calls?(?: arguments)? (?:is|are|was|were) not (?:valid"
        r"|well-formed) json",
        r"(?:unexpected|premature) end of (?:the )?(?:tool|function) call",
        r"failed to parse (?:the )?(?:input at pos|model output|generated|response)",
        r"failed to parse fc related info",
        r"invalid diff: ",
        # llama-server, which names its parser: peg-native, peg-gemma4, peg-constructed …
        r"model produced output that does not match the expected [\w.-]+ format",
        r"output_parse_failed",
        r"model generated output that (?:could not|cannot) be parsed",
        r"(?:pars|decod|read)\w* (?:the )?arguments (?:for|of) (?:the )?(?:tool|function)\b",
        r"\bmodel (?:\w+ )?(?:produced|wrote|generated|returned|emitted) (?:an? )?(?:invalid|malformed|broken)"
        r" (?:json|arguments)[\w ]{0,20} (?:for|of|to|in) (?:the |an? )?(?:tool|function)",
        r"\b(?:call|called|use|used) (?:an? |the )?(?:tool|function) with (?:arguments that (?:are|were) not"
        r"|(?:invalid|malformed|unreadable) (?:json|arguments))",
        r"(?:unparse?able|unreadable|undecodable|garbled|broken) (?:json in )?(?:an? |the )?(?:tool|function) call",
        r"(?:工具|函数|函數)(?:调用|呼叫|調用)[^。]{0,12}(?:无法|無法|不能)[^。]{0,4}(?:解析|读取|讀取)",
        r"解析(?:工具|函数|函數)(?:调用|呼叫|調用)(?:失败|失敗|出错|错误|時?发生错误)",
    ),
    rule(
        MALFORMED,
        "unreadable-markup",
        # Ollama reads the calls of some families as XML, and passes on the words of Go's parser.
        r"xml syntax error on line \d",
        r"failed to parse xml\b",
        r"invalid character entity &",
        r"expected (?:a )?(?:closing|opening|end|start) tag </?\w",
        r"expected element type <[^<>]{1,80}> but have <",
        r"mismatched arg_key and arg_value",
        r"(?:incomplete|unterminated|truncated|unclosed) (?:[\w.-]+ )?(?:tool|function)[ _]calls?\b",
    ),
    rule(
        MALFORMED,
        "unreadable-json",
        # Go's parser, which Ollama uses. A body that a server cannot read gets the words after the colon alone.
        rf"^failed to parse json: (?:{_GO_JSON})",
        r"repair failed to produce valid json",
    ),
    rule(
        MALFORMED,
        "harmony",
        r"harmonyerror\W{1,3}(?!error (?:down)?loading|.{0,80}\bvocab|.{0,80}\bdownload)",
        # Requests have no other roles than these; a model writes others where the receiver belongs.
        r"^unknown role: (?!(?:developer|tool|tools|function|system|user|assistant|model|latest_reminder)(?![\w<.|]))",
        r"while expecting start token",
        r"no channel value found in header",
        r"un(?:expected|known) (?:eos|eof|end)\b[^.]{0,30} (?:message header|channel|recipient)",
        r"(?<!initialize )(?<!load )(?<!create )(?:the )?harmony (?:message |output |response )?(?:parser|parsing)"
        r"(?: error| failed| failure)?: ",
        r"(?:pars|read|decod)ing (?:an? |the )?harmony\b",
    ),
    RefusalRule(MALFORMED, "parser-failed", _PARSER, _parser_failed),
    RefusalRule(MALFORMED, "decoder", _CALL, _decoder_failed),
    of_tools(
        MALFORMED,
        "no-call",
        r"\bno (?:tool|function)[ _]?calls? (?:was |were |is |are |could be )?found"
        r"(?! (?:for|with)\b|.{0,40}\b(?:messages?|history|conversation|request|call_id)\b)",
        r"\bno (?:function|tool) name (?:was )?(?:found )?in (?:the |its )?(?:tool|function|generated)",
        r"^(?:[\w ]{0,30}: )?(?:the )?(?:[\w.-]+ )?(?:tool|function) call (?:is |was )?(?:missing|without|has no)"
        r" (?:an? |the |its )?(?:name|function|arguments|clos|end)",
        r"missing (?:tool|function) call (?:name|arguments)",
        r"^(?:[\w ]{0,30}: )?invalid (?:tool|function) call: ",
        r"\bexpected [^.]{1,40} in (?:the )?(?:tool|function) call\b",
    ),
    of_tools(
        MALFORMED,
        "bad-arguments",
        r"returned invalid (?:tool|function) call",
        r"invalid (?:tool|function) call (?:was )?(?:generated|produced|emitted|written|made)",
        r"invalid (?:tool|function) call arguments for",
    ),
    of_tools(
        MALFORMED,
        "unknown-name",
        r"undeclared \w* ?function",
        r"call(?:ed)? (?:a )?tool .{0,300}(?:was|is) not in request",
        r"(?:call|called|use|used|invoke|invoked) (?:an? )?(?:unavailable|unknown|undefined|undeclared"
        r"|nonexistent) "
        r"(?:tool|function)",
        r"unexpected_tool_call",
    ),
    rule(
        MALFORMED,
        "failed-generation",
        r"tool_use_failed",
        r"failed to call a function",
        r"malformed[ _](?:function|tool)[ _]call",
        r"no valid (?:tool|function) call",
        r"not a valid (?:tool|function) call(?! (?:id|type|object))",
        r"generate a valid (?:tool|function) call",
        r"(?:generated|emitted|produced|wrote) (?:an? )?(?:tool|function) call with (?:invalid|malformed|broken)",
        r"unexpected tokens remaining in message header",
        r"(?:tool|function) call (?:that )?(?:could not|cannot|failed to) be parsed",
        r"(?:produced|generated|emitted|wrote|output|returned) (?:an? )?(?:invalid|malformed) (?:json in )?"
        r"(?:an? |the |its )?(?:tool|function) call",
        r"(?:produced|generated|emitted|wrote) (?:an? )?(?:invalid|malformed) [\w ]{1,24}"
        r" (?:tool|function) ?(?:use|call)",
        r"(?:tool|function) call validation failed",
        r"(?:tool|function)[ _-]?call(?:ing)? pars(?:er?|ing)[\w ]{0,12} (?:failed|error)",
        r"(?:tool|function) call(?:'s)? (?:arguments|json|output|markup) (?:could not|cannot|failed to) be parsed",
    ),
)

# A server that fails, also in the middle of its stream, has read the request: what it could not read is the reply.
# These words count for no other status.
_CALL_OR_ITS_NAME = re.compile(
    r"(?<!calling )\b(?:(?:tool|function)[ _-]?(?:calls?|use)|(?:tool|function) name|message header|harmony output"
    r"|model output)\b"
)
_FAULT = re.compile(
    r"\bpars(?:e|ing|ed)\b|decod|extract|unmarshal|malformed|invalid|not valid|unclosed|not closed|unterminated"
    r"|incomplete|truncated|missing|\bempty\b|unexpected|must be an? (?:json )?object|\bexpected\b"
)
_ANOTHER_REASON = re.compile(
    r"support|template|jinja|schema|\bids?\b|_id\b|pattern|must match|duplicate|reserved|time(?:d )?-?out|deadline"
    r"|memory|\bcuda\b|connect|\bload|disabled|enabled|require|tool_choice|grammar|--\w|permission|denied"
    r"|tools?\[|exceed"
)


def _is_about_the_reply(match: Match[str]) -> bool:
    """Return whether a fault of reading stands beside the words, and no other reason in the text."""
    text = match.string
    beside = text[max(0, match.start() - 80) : match.end() + 80]
    return bool(_FAULT.search(beside)) and not (_ANOTHER_REASON.search(text) or _ABOUT_REQUEST.search(text))


WHERE_THE_SERVER_FAILED = (
    rule(MALFORMED, "unreadable-json", rf"^(?:{_GO_JSON})"),
    # llama-server, where text follows a call, or the call has another form.
    rule(MALFORMED, "unreadable-call", r"unexpected empty grammar stack after accepting"),
    RefusalRule(MALFORMED, "server-failed", _CALL_OR_ITS_NAME, _is_about_the_reply),
)
