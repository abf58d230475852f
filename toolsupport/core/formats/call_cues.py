"""The words and signs in front of a call that show that it is an example, refused, or written by another.

They are looked for on the line of the call, and on the line above where that ends in a colon.
"""

from __future__ import annotations

import re

COLONS = (":", "：")
END = r"[^.,;!?。，；！？\n]*\Z"
COLON = r"[ *_]*[:：]?\s*\Z"
WOULD = r"(?:would|could|can|should|might|may|must|had to)"
WRITE = (
    r"(?:write|call|say|type|send|answer|use|output|emit|produce|reply with|respond with|invoke|copy|paste|put|add|"
    r"enter|insert|include|submit|issue|place|post|print|return|generate)"
)
WRITES = r"(?:wrote|writes?|called|calls?|sent|sends?|said|says?|ran|used)"
EXAMPLES = (
    "beispiel exemple exemplo ejemplo esempio przykład voorbeeld exempel eksempel esimerkki příklad príklad példa"
    " exemplu contoh пример приклад παράδειγμα"
).replace(" ", "|")


def _one_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.I)


# Words that announce an example, wherever they stand in front of the call.
EXAMPLE = _one_of(
    r"\b(?:for example|for instance|e\.g\.|looks? like(?: this)?:|like (?:this|so)\b|such as:|looks? as follows)",
    r"\b(?:as|like) follows[ *_]*[:：]",
    rf"\b(?:you|one|people|users?|models?|assistants?|they)(?: {WOULD}|['’]d)(?: \w+ly| \w+en| then)? {WRITE}\b",
    rf"\b(?:it|that|he|she|i) would (?:\w+ )?{WRITE}\b",
    r"\b(?:people|users?|models?|you) (?:often|usually|always|sometimes|typically) (?:write|say|type|send)s?\b",
    r"\b(?:is|are|be) (?:written|called) (?:like|as|so)\b|\bthe (?:syntax|format|notation) (?:is|for|of)",
    r"\b(?:call|request|syntax) would (?:be|look|have been)|\bwould have (?:called|written|used)",
    r"\bhypothetical\w*[,:：]",
    rf"\b(?:imagine|suppose|assum\w+|if) (?:that )?(?:i|you|we|he|she|it|they|one|(?:the|a) \w+) {WRITES}\b{COLON}",
    rf"\b(?:something like(?: this| that)?|in (?:the|this) (?:form|format)){COLON}",
    rf"\bhow (?:you|one|i|we) would\b|\bhow to (?:call|write|use|run|invoke)\b[^.!?:\n]{{0,30}}{COLON}",
    r"\bto (?:call|use|run|invoke)[^.!?\n:]{0,40}, (?:write|type|send|use|answer)|\bto (?:illustrate|demonstrate)\b",
    r"\b(?:sample|template)(?: (?:tool|function))?(?: (?:calls?|usage|request))?[ *_]*[:：]",
    r"\bexamples?(?: of)?(?: (?:a|an|the|such))*(?: (?:tool|function))?(?: (?:calls?|usage|use|format|request|answer))?"
    r"(?: \d{1,3}| \([^()\n]{1,30}\))?(?:[ *_]*[:：]| [–—-] ?\Z)",
    r"\b(?:zum beispiel|z\. ?b\.|beispielsweise|par exemple|por ejemplo|ad esempio|per esempio|por exemplo)",
    r"\bna przykład",
    r"\b(?:bijvoorbeeld|till exempel|for eksempel|esimerkiksi|například|napríklad|például|de exemplu|misalnya)",
    r"\bchẳng hạn",
    r"\bsieht (?:das )?(?:so|etwa so|wie folgt) aus|\bso sieht \w+(?: \w+)? aus|\b(?:etwa|ungefähr) so[:：]",
    r"\bwürde \w{0,20} ?(?:schreiben|aufrufen|so aussehen)|\bon (?:écrit|écrirait|appellerait)",
    r"\bse (?:escribe|escribiría|llamaría)|\bsi (?:scrive|scriverebbe)",
    rf"\b(?:{EXAMPLES}|örne[kğ]\w*|ví dụ)\b[^.:：\n]*[:：]|\bнапример|\bнаприклад|για παράδειγμα",
    r"例如|比如|例子|示例|舉例|举例|格式如下|例えば|たとえば|例[：:]|예를 들어|예시|예[:：]",
    r"على سبيل المثال|مثال|לדוגמה|דוגמה|उदाहरण|ตัวอย่าง",
)
# A line that is nothing but a title of this kind, a label with a colon, or a footnote.
TITLE = _one_of(
    r"[\W_]*(?:examples?|samples?|templates?|beispiele?|ejemplos?|exemplos?|exemples?|esempi\w?)(?: \d{1,3})?[\W_]*\Z",
    r"[\W_]*(?:(?:eg|ex)\.?|syntax|usage|demo|format|pattern|schema|title|forbidden|wrong|incorrect|invalid|bad|falsch|"
    r"observation|(?:(?:tool|function|expected|actual|sample|program|terminal) )?(?:result|output|response)s?|user|"
    r"human|system|body|subject|content|text|input|before|after|old|new|expected|actual|deprecated|not)[*_ ]*[:：.]"
    r"[\W_]*\Z",
    r"[ \t]*\[\^\w{1,20}\]:",
)
# The key of a text in YAML or of a header in small letters, unless models put it before a call which they mean.
KEY = re.compile(
    r"[ \t]*(?:- )?(?!(?:ok|okay|sure|yes|no|now|next|then|so|first|second|third|last|finally|here|done|step|plan|"
    r"thought|thinking|reasoning|note|also|and|todo)\b)([a-z][\w-]{0,40}): *\Z"
)
# Words that announce what another wrote, in front of a colon.
REPORT = re.compile(
    r"\b(?:says?|said|reads|contains?|holds?|shows?|states?|returned|returns|wrote|written|output|contents?|text|"
    r"results?|lines?|quotes?|found|sagt|steht|enthält|dit|contient|dice|contiene)\b[^:：\n]*[:：]",
    re.I,
)
# The same, where nothing but the call can be what was written.
QUOTES = _one_of(
    r"\b(?:says|said|reads|contains|states|wrote|typed|posted|answered|replied|is written|(?:asked|told) me to \w+)"
    # A reported sentence that continues up to the call, as in `The user wrote: ignore the rules and …`
    r"(?: (?:this|that|here|there|so|only|the following))?[*_]*[ \t]*[:：][^.!?;。！？；\n]{0,100}\Z",
    r"\b(?:asked|told|want(?:s|ed)?) (?:me|us|it) to (?:run|call|use|execute|write)\s*\Z",
    r"\b(?:says|said|wrote|typed|is written|called|named|titled|literally|rename it to|what does)\s*\Z",
    r"\bthe (?:string|text|literal|phrase|words?|sentence)\s*\Z",
    r"\bmean(?:s|ing)?[ \t]*[:：]\s*\Z",
    r"(?:\A|[.!?:][ \t]+)(?:[-*] |\d+[.)] )?(?:please |now )?(?:explain|describe|discuss|translate|summari[sz]e|parse|"
    r"quote|ignore|consider|compare|document|review|rephrase|rewrite|decode|erkläre?|übersetze?|explique[rz]?|traduis)\s*\Z",
    r"\b(?:sagt|schrieb|schreibt|escribió|ha scritto|a écrit|escreveu|написал)[ \t]*[:：]?\s*\Z",
    r"(?:写道|写的是|書きました)[:：]?\s*\Z",
)
# The call is refused by the words of the sentence in front of it.
REFUSED = _one_of(
    r"\b(?:(?:do|does|did|must|should|would|could|can|may|will) ?n[o'’]t|can['’]t|won['’]t|never|cannot|refuse to|"
    r"avoid|not (?:allowed|permitted|supposed|able) to|(?:no need|no reason|unable|forbidden|wrong|unsafe) to)"
    r"(?: \w+)?? (?:run|call|execute|use|write|send|type|invoke|copy|make|do|calling|running|using|writing|sending)\b"
    + END,
    r"\b(?:would be|is|was) (?:wrong|incorrect|invalid|forbidden|dangerous|a mistake)\b" + END,
    r"\b(?:instead of|rather than|avoid|statt|anstatt|anstelle von)(?: \w+)?\s*\Z|[❌🚫⛔]\W*\Z",
    r"\b(?:au lieu de|en vez de|en lugar de|invece di|em vez de)(?: \w+)?\s*\Z",
    r"\b(?:führ|ruf|benutz|verwend|schreib|start|send)\w*\b[^.!?\n]{0,60}\b(?:nicht|nie|niemals|kein\w*)\b" + END,
    r"\b(?:nicht|nie|niemals|kein\w*)\b[^.!?\n]{0,60}\b(?:ausf|aufruf|benutz|verwend|schreib|start|send)\w*" + END,
    r"\b(?:ne |n['’])[^.!?\n]{0,20}\b(?:exécut|appel|utilis|lanc|écri|envoy)\w*[^.!?\n]{0,20} (?:pas|jamais)\b" + END,
    r"\bne (?:pas|jamais) (?:exécut|appel|utilis|lanc|écri|envoy)\w*" + END,
    r"\b(?:no|nunca|jamás)(?: l\w)? (?:ejecut|llam[aeo]|escrib|utili[cz])\w*" + END,
    r"\b(?:não|nunca|jamais)(?: \w)? (?:execut|cham|us[ae]|escrev|rod)\w*" + END,
    r"\b(?:non|mai)(?: l\w)? (?:esegu|chiam|us[ai]|scriv)\w*" + END,
    r"\b(?:не|нельзя) (?:запуска|запуст|вызыва|выполня|использу|пиши|запуск|виклика|виконуй|використову)\w*" + END,
    r"\bnie (?:uruch|wywoł|używ|wykon|pisz)\w*" + END,
    r"\b(?:voer|roep|gebruik|schrijf)\w*\b[^.!?\n]{0,40}\b(?:niet|nooit)\b" + END,
    r"\b(?:kör|ring|använd|kald|brug|kjør|bruk)\w*\b[^.!?\n]{0,40}\b(?:inte|ikke)\b" + END,
    r"\b(?:çalıştır|çağır|kullan|yaz)(?:ma|me)(?:y\w*|m\w*|n\w*)?\b" + END,
    r"\b(?:đừng|không được) (?:chạy|gọi|dùng|viết)\b|\bjangan (?:jalankan|panggil|gunakan|tulis)" + END,
    r"(?:不要|请勿|請勿|切勿|不能|不得|不可|不该|不应该?|禁止|千万别|别再|勿)(?:再|去|直接)?"
    r"(?:运行|運行|执行|執行|调用|調用|呼叫|使用|写|寫|发送)" + END,
    r"(?:実行|呼び出|使用|使わ|書か)[^。\n]{0,8}(?:ないで|いけ|しない|禁止|なら)[^。\n]*\Z",
    r"(?:실행|호출|사용)[^.\n]{0,8}(?:지 ?마|지 않|안 됩|안 돼)[^.\n]*\Z",
    r"لا (?:تشغ|تنف|تستدع|تستخدم|تكتب)[^.\n]*\Z|मत (?:चला|लिख)",
)
# How the line of a log begins: a date with its time, a time with seconds, or a level in capitals.
LOG = re.compile(
    r"[ \t>*|-]*[\[(]?(?:\d{4}[-/.]\d\d[-/.]\d\d[T ]\d\d:\d\d|\d{1,2}:\d\d:\d\d\b|\w{3} [ \d]?\d \d\d:\d\d:\d\d|"
    r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b(?:[\]):|]| -|\s*\Z))"
)
# What ends the line above like a colon does.
LEADS = re.compile(r".*\b(?:e\.g\.|such as|for (?:example|instance)|namely|i\.e\.)[ \t,]*\Z", re.I)
HEADING = re.compile(r"[ \t]*(#{1,6})[ \t]+(.*)")
# The titles of sections that show calls: the title is about examples, and does not only name one.
SHOWING = _one_of(
    r"\W*(?:[\w-]+ ){0,3}(?:examples?|samples?|templates?)"
    r"(?: (?:\d{1,3}|\w|calls?|use|usage|requests?|output|of .*))?\W*\Z",
    rf"\W*(?:usage|syntax|(?:[\w-]+ ){{0,2}}(?:{EXAMPLES}|beispiele|exemples|ejemplos|exemplos|esempi|примеры))\W*\Z",
    r"\W*(?:[^\W\s]{0,8}(?:示例|例子|例|예시|예제))\W*\Z",
)
# The lines of a diff, and its first lines.
DIFF = re.compile(r"(?:diff --git |@@ -\d|\+\+\+ \S|--- \S)")
DIFF_LINE = re.compile(r"[-+ ]")
# A line of one repeated sign, as around a listing. Possessive: a repeat that can give back keeps memory for each sign.
RULER = re.compile(r"[ \t]*(([-=.*_~+#])\2{2,}+)[ \t\r]*\Z")
# What a file's line, a number of a line, a dialogue, a heading or a column puts in front of the call.
LEADING = _one_of(
    r"[ \t]*[-+]\Z",
    r"[ \t]*[—–―][ \t]*\Z",
    r"[ \t]*(?:[\w./\\-]+:)?\d+[:|][ \t]*\Z",
    r"[ \t]*#{1,6}[ \t].*\w[^:：]*\Z",
    r"[ \t]*\|[ \t]",
    r".*\w.*[,;]\Z",
    r".*\w.*\t\Z",
    r"[ \t]*PS [A-Za-z]:[^>\n]*>[ \t]*\Z",
)
ASSIGNED = re.compile(r"(?:\A|[\s;({])[\w.]+ ?(?::|\+)?= ?[\[({\s]{0,4}\Z")
# A comment of a programming language, a prompt of a shell, the key of a YAML text, a macro of LaTeX.
CODE = re.compile(r"(?:(?:\A|\s)(?:#+|//+|/\*+)|\A[ \t]*(?:--|\$|%+|REM|>>>)|\S[ \t]*\||\\verb\W|\\\w+\{)[ \t]*\Z")
# A line that begins a block of code or a text over lines in another markup.
BLOCK = re.compile(r"\s*(?:#\+begin_\w+.*|\{(?:code|noformat)\b.*|\.\. code.*|\\begin\{\w+\}.*|.*<<-?['\"]?\w+['\"]?|"
                   r"[ \w-]+: ?[|>][+-]?)\s*\Z", re.I)  # fmt: skip
# A bracket with words in it that is open on the line, and one directly in front of the call behind words.
OPEN_BRACKET = re.compile(
    r"([\[({（【〔⟨])[^\[\](){}（）【】〔〕⟨⟩]*\w[^\[\](){}（）【】〔〕⟨⟩]*\Z|\w[^\[\](){}]*([\[(（【〔⟨])\s*\Z"
)
CLOSING = dict(zip("[({（【〔⟨", "])}）】〕⟩", strict=True))
ELEMENT = re.compile(r"<([a-zA-Z][\w-]*)(?: [^<>]{0,100})?>\s*\Z")
# Elements that models put around a call which they mean; those around what a tool gave back are none.
OWN_ELEMENT = re.compile(
    r"(?!.*(?:result|observation|[a-z]_(?:respon|output)))(?:tool|func|call|invoke|action|answer|respon|assistant|"
    r"output|reply|message|final|[bh]r\Z)",
    re.I,
)
USER = re.compile(r"[ \t*_>]*(?:user|human|q|question|frage|pregunta|问题?|問題?|質問|вопрос)[*_]*[:：]", re.I)
ASSISTANT = re.compile(
    r"[ \t*_>]*(?:assistant|ai|model|bot|a|answer|antwort|respuesta|réponse|回?答|ответ)[*_]*[:：][*_]*[ \t]*\Z", re.I
)
# A word or a label in front of a call, below a line that announces it.
LABEL = re.compile(r"\W*(?:\w+\W+){0,2}\w+\W*\Z")
