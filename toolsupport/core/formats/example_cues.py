"""The words and marks before a call that show that it is an example, refused, or written by another.

They are looked for on the line of the call, and on the line above where that ends in a colon.
"""

from __future__ import annotations

import re

COLONS = (":", "：")
SENTENCE_ENDS = (*".!?…。！？", *COLONS)
END = r"[^.,;!?。，；！？\n]*\Z"
COLON = r"[ *_]*[:：]?\s*\Z"
WOULD = r"(?:would|could|can|should|might|may|must|had to)"
WRITE = (
    r"(?:write|call|say|type|send|answer|use|output|emit|produce|reply|respond|invoke|copy|paste|put|add|"
    r"enter|insert|include|submit|issue|place|post|print|return|generate|run|execute|try)"
)
OF_OTHER_THINGS = r"(?:write|call|use|send|add|post|submit|include)"
ANYBODY = r"\b(?:you|one|people|users?|models?|assistants?|they)"
# Nouns of a sentence that is, or may be, about the call.
A_CALL = (
    r"\b(?:this|that|these|those|its?|them|so|one|thus|like|following|below|follows|here)\b"
    r"(?! (?:results?|answers?|files?|data|values?|summary|report|numbers?|information|folder)\b)"
    r"|\b(?:calls?|tools?|functions?|tags?|requests?|commands?|code|json|xml|python|markup|text|formats?|syntax|"
    r"lines?|blocks?"
    r"|words?|name|arguments?|parameters?|objects?|brackets?)\b|\w_\w|[`\"'<>{}\[\]]"
)
WRITES = r"(?:wrote|writes?|called|calls?|sent|sends?|said|says?|ran|used)"
EXAMPLES = (
    "beispiel exemple exemplo ejemplo esempio przykład voorbeeld exempel eksempel esimerkki příklad príklad példa"
    " exemplu contoh пример приклад παράδειγμα"
).replace(" ", "|")


def _one_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.I)


THEN_COLON = r"(?:[^.,!?。！？:：;\n]|\.(?=\w)){0,60}[:：][*_ \t]*\Z"
A_TEXT = (
    r"(?:contents?|texts?|payload|messages?|strings?|original|quotes?|body|transcript|entry|comments?|description|"
    r"prompt|"
    r"instructions?|notes?|e-?mail|mail|page|readme|file|document|manual|log)"
)
# "Wrote", "contains" and the like, in the third person: in the first person it is a plan.
WROTE_ELSEWHERE = (
    r"\b(?:steht|stand|enthält|enthielt|lautete?|schrieb|schreibt|sagte?|meinte?)\b",
    r"\b(?:contient|contenait|a dit|a écrit|indique|écrivait|disait|(?:il|elle|page|fichier|texte|message) dit)\b",
    r"\b(?:contiene|contenía|dice|dijo|decía|pone|ponía|escribió|escribe|ha scritto|scrive|scriveva|diceva|"
    r"conteneva)\b",
    r"\b(?:contém|continha|diz|dizia|disse|escreveu|escreve)\b",
    r"\b(?:schreef|zegt|zei|bevat|bevatte|luidt|luidde|staat|stond)\b",
    r"\b(?:skrev|säger|innehåller|siger|sier|indeholder|inneholder|stod|kirjoitti|sanoo|sisältää|lukee)\b",
    r"\b(?:napisał\w*|pisze|mówi|powiedział\w*|zawiera|brzmi|napsal\w*|píše|říká|obsahuje|stojí|napísal\w*|hovorí)\b",
    r"\b(?:написал\w*|написано|пишет|говорит|сказал\w*|содержит|гласит|стоит|написав\w*|пише|містить|каже)\b",
    r"\b(?:yazdı|yazmış|yazıyor|diyor|dedi|içeriyor|scrie|a scris|spune|conține|írta|tartalmazza|mondta)\b",
    r"\b(?:đã viết|chứa|có nội dung|berisi|berkata|pengguna menulis|tertulis|έγραψε|γράφει|λέει|περιέχει)\b",
    r"\A\W*(?:用户|使用者|文件|檔案|页面|頁面|网页|網頁|邮件|郵件|文本|日志|日誌|文档|文檔|消息|它|他|她|作者|手册|"
    r"手冊)[^。！？\n]{0,12}"
    r"(?:写道|写着|写了|寫道|寫著|寫了|说|說|内容|內容|显示|顯示|包含|提到)",
    r"(?:書きました|書いています|書いてあります|書かれてい\w*|書いた|言いました|述べています|と言って\w*)",
    r"\A\W*(?:ファイル|ページ|メール|文書|ログ)の内容(?:は[^\n]{0,12})?(?=[:：])",
    r"(?:썼습니다|썼다|적혀 ?있\w*|쓰여 ?있\w*|말했\w*|라고 합니다)|\A\W*(?:파일|페이지|메일|"
    r"문서)(?:의)? ?내용(?:은[^\n]{0,12})?(?=[:：])",
    r"(?:كتب|يقول|قال|يحتوي|تحتوي|ورد في|जिसमें लिखा|लिखा है|ने लिखा|ने कहा|כתב|כתבה|אומר|אומרת|כתוב|מכיל)\b",
)

# Words that announce an example, anywhere before the call.
EXAMPLE = _one_of(
    r"\b(?:for example|for instance|e\.g\.|looks? like this:|like (?:this|so)\b|such as:|looks? as follows)",
    r"\b(?:as|like) follows[ *_]*[:：]",
    # "Let me see what the file looks like:" is no example.
    r"\A(?!.*\b(?:see|check|find out|learn|know|inspect|examine|verify) (?:what|how)\b(?!.{0,60}\bcalls?\b))"
    r".*\blooks? like:",
    rf"{ANYBODY}(?: would|['’]d)(?: \w+ly| \w+en| then)? {WRITE}\b",
    rf"{ANYBODY}(?: would|['’]d) need\b{END}",
    # "You can use this result later." is over, and of something else than the call.
    rf"{ANYBODY} {WOULD}(?: \w+ly| \w+en| then| now)? {WRITE}\b(?![^.!?。！？\n]*[.!?])",
    rf"{ANYBODY} {WOULD}(?: \w+ly| \w+en| then)? (?!{OF_OTHER_THINGS}\b){WRITE}\b",
    rf"{ANYBODY} {WOULD}(?: \w+ly| \w+en| then)? {OF_OTHER_THINGS}\b(?=[^.!?\n]*(?:{A_CALL}))",
    rf"\b(?:it|that|he|she|i) would (?:\w+ )?{WRITE}\b",
    r"\b(?:people|users?|models?|you) (?:often|usually|always|sometimes|typically) (?:write|say|type|send)s?\b",
    r"\b(?:is|are|be) (?:written|called) (?:like|as|so)\b|\bthe (?:syntax|format|notation) (?:is|for|of)",
    r"\b(?:call|request|syntax) would (?:be|look|have been)|\bwould have (?:called|written|used)",
    r"\bhypothetical\w*[,:：]",
    rf"\b(?:imagine|suppose|assum\w+|if) (?:that )?(?:i|you|we|he|she|it|they|one|(?:the|a) \w+) {WRITES}\b{COLON}",
    rf"\b(?:something like(?: this| that)?|in (?:the|this) (?:form|format)){COLON}",
    rf"\bhow (?:you|one|i|we) would\b|\bhow to (?:call|write|use|run|invoke)\b[^.!?:\n]{{0,30}}{COLON}",
    r"\bto (?:call|use|run|invoke)[^.!?\n:]{0,40}, (?:write|type|send|use|answer)|\bto (?:illustrate|demonstrate)\b",
    r"\bto \w+(?: [^.!?\n:]{0,40})?, (?:run|use|call|execute|write|type|send)[ \t]*[:：]\s*\Z",
    rf"\bplease (?:run|execute|use|call|try)\b{THEN_COLON}",
    r"\bit (?:should|must) (?:be|read|look)(?: like)?[ \t]*[:：]?\s*\Z",
    r"\A(?![^\n]*\b(?:i['’]ll|i will|i now|i re\w+|let me|let['’]s|retry|repeat|again)\b)[^\n]*"
    rf"\b(?:failed|failing|previous|past|earlier|proposed|suggested|possible|wrong|original) (?:\w+ )??"
    rf"(?:calls?|requests?|commands?|syntax|lines?)\b{END}|\b(?:calls?|answer|reply|response) (?:was|were)\b{END}",
    r"\bthe (?:correct|right) (?:\w+ )??(?:call|syntax|command|request) (?:is|was|would be)[ \t]*[:：]?\s*\Z",
    rf"\b(?:it|this|that)(?: call| one)? failed\b{END}",
    r"\b(?:similar|close|equal|equivalent|identical|comparable|amounts?|refers?|points?|compared|changed|set) to"
    r"(?: this| that)?[ \t]*[:：]?\s*\Z",
    # The call is the object of the words before it.
    r"\A[\W\d]*(?:then |just |simply )?(?:write|type|enter|paste|put|insert|say|copy)[ \t]+\Z",
    r"\b(?:has|had|contains?|includes?|included|mentions?|mentioned|ends? in|ended in|among them|nothing but)[ \t]+\Z",
    r"\b(?:is|was|are|were|be|been|with|given|cf\.|i\.e\.|viz\.|a\.k\.a\.|aka|see|ran|called|executed|used|"
    r"produce[ds]?|expect(?:s|ed)?|"
    r"got|gets|sent|sends|saw|tried|returns?|returned|of|than|as|that|about|by|from|against)[ \t]+\Z",
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
    # The abbreviations of "for example".
    r"(?:\b(?:např|napr|np|p\. ?ex|p\. ?ej|p\. ?es|ad es|bijv|bv|t\. ?ex|f\. ?eks|esim|напр|наприм|örn|mis|vd|ppl)\.|"
    r"\bπ\. ?χ\.|\bт\. ?е\.|\bnt\.|\bpl\.) ?[,:]?[ *_]*\Z",
    r"على سبيل المثال|مثال|לדוגמה|דוגמה|उदाहरण|ตัวอย่าง|مثلا|উদাহরণ|எடுத்துக்காட்டு|ఉదాహరణ|ಉದಾಹರಣೆ|ഉദാഹരണ",
    r"\b(?:contohnya|na prim(?:j)?er|kwa mfano|halimbawa|näiteks|piemēram|pavyzdžiui|til dæmis|mar shampla|"
    r"er enghraifft"
    r"|adibidez|për shembull|byvoorbeeld|ekzemple|masalan|mesela|por ekzemplo)\b|напрыклад|мысалы|მაგალით|օրինակ",
)
# A line that is nothing but a title of this kind, a label with a colon, or a footnote.
TITLE = _one_of(
    r"[\W_]*(?:examples?|samples?|templates?|beispiele?|ejemplos?|exemplos?|exemples?|esempi\w?)(?: \d{1,3})?[\W_]*\Z",
    r"[\W_]*(?:(?:eg|ex)\.?|syntax|usage|demo|format|pattern|schema|title|forbidden|wrong|incorrect|invalid|bad|falsch|"
    r"observation|(?:(?:tool|function|expected|actual|sample|program|terminal) )?(?:result|output|response)s?|user|"
    r"human|system|body|subject|content|text|input|before|after|old|new|expected|actual|deprecated|not|blocked|"
    r"rejected|"
    r"refused|skipped|cancell?ed|denied|removed|ignored|deleted|declined|omitted|disallowed|prohibited|verboten|"
    r"interdit|"
    r"prohibido|proibido|vietato|запрещено|禁止|(?:deleted|removed|added|changed|old|new|bad|wrong) (?:line|call|"
    r"version)|"
    r"suggestion|draft|proposal|alternatively|or|correct|right|good|solution|option(?: \w{1,2})?|line(?: \d{1,6})?|"
    r"case|"
    r"(?:unit )?test(?: case)?(?: \d{1,3})?|figure(?: \d{1,3})?|caption|legend|footnote|notation|history|past calls|"
    r"previously|"
    r"(?:in )?pseudo[- ]?code|requests?|answer key|(?:run|try) this(?: yourself)?|do|don['’]t|"
    r"response from [\w ]{1,40}|never|mistakes?|see(?: also)?|(?:for )?(?:reference|comparison|illustration)|fyi|cf|"
    r"avoid|warning|caution|danger|beware|typo|bug|quote|sketch|mock-?up|placeholder|stub|dummy|nope|no|nein|legacy|"
    r"(?:please )?not(?: (?:this|that|so|these|ok|okay|allowed))?|bitte nicht|(?:bad|terrible|no good) idea|spam|"
    r"anti-?patterns?|phishing(?: e?-?mail)?|backup|copy|historical note|for the record|"
    r"a (?:draft|sample|guess)"
    r")[*_ ]*[:：.][\W_]*\Z",
    rf"[\W_]*(?:the )?(?:{A_TEXT}|excerpt|extract|snippet|quotation|citation)(?: (?:of|from) [^:：\n]{{1,60}}?)?"
    r"[*_ ]*(?:[:：]| [–—-] ?)[\W_]*\Z",
    # Things that contain a text, with their owner or number: "Backup of the prompt:", "Row 3:".
    r"[\W_]*(?:the )?(?:(?:first|second|third|last|final|top|\d{1,6}(?:st|nd|rd|th)) )?(?:back-?up|copy|copie|"
    r"copia|kopie|sicherung|dump|snapshot|"
    r"commit message|title|name|value|letter|post|answer|output|reply|line|paragraph|entry|"
    r"row|cell|column)(?: \w{1,6})? (?:of|du|de|del|des|von) [^:：,\n]{1,60}[:：][\W_]*\Z",
    r"[\W_]*(?:the )?(?:letter|post|tweet|answer|output|reply) (?:by|from) [^:：,\n]{1,60}[:：][\W_]*\Z",
    r"[\W_]*(?:search )?(?:entry|row|cell|column|listing|chapter|section|appendix|slide|page|hit|paragraph|verse)"
    r" (?:\d[\d.]*|[a-z]\d*)[:：][\W_]*\Z",
    r"[\W_]*(?:clipboard|tweet|резервная копия|备份|備份|バックアップ)[:：][\W_]*\Z",
    r"[\W_]*from (?!the (?:top|start|beginning)[:：])(?:the|an?|your|my|our|its)"
    r" (?:[\w./-]+ ){0,2}[\w./-]+[:：][\W_]*\Z",
    r"[\W_]*(?:inhalt|contenu|contenido|contenuto|conteúdo|inhoud|zawartość|treść|содержимое|содержание|вміст|içerik|"
    r"içeriği|innehåll(?:et)?|indhold(?:et)?|obsah|conținut\w*|nội dung|isi|"
    r"محتوى)\b(?: [\w./-]+){0,6}[*_ ]*[:：][\W_]*\Z",
    r"[ \t]*\[(?:\^\w{1,20}\]:|\d{1,3}\][ \t]*\Z)|[ \t]*q\d{1,3}[.)][ \t]*\Z",
)
# A place in a file, before a colon: a preposition and a path, without a verb between them.
_PATH = r"[`'\"]?(?:[\w.-]*/[\w./-]*|[\w-]+\.\w{1,6})[`'\"]?"
LOCATION = _one_of(
    r"[\W_]*(?:in|from|at|on|inside|within|under|near|dans|depuis|en|desde|de|aus|unter|bei|em|do|da|no|na|nel|dal|w|z|ze|uit|"
    r"från|fra|i|в|из|у|з)(?: (?:the|this|that|your|my|our|its|an?|file|folder|module|script|document|page|top|bottom|"
    r"end|beginning|start|of|in|line \d{1,6}|der|dem|den|datei|ordner|le|la|el|fichier|dossier|archivo|fichero|"
    r"carpeta|o|arquivo|ficheiro|il|cartella|de|het|bestand|filen|filer|файле|файла|папке|файлі|pliku))* "
    rf"{_PATH} ?[*_]*[:：][\W_]*\Z",
    rf"\W*在? ?{_PATH} ?(?:中|里|裡|内|內|の中|内)(?:に|は|では)?[:：]\W*\Z",
)
# The key of a text in YAML or of a header in small letters, unless models put it before a call which they mean.
KEY = re.compile(
    r"[ \t]*(?:- )?(?!(?:ok|okay|sure|yes|no|now|next|then|so|first|second|third|last|finally|here|done|step|plan|"
    r"thought|thinking|reasoning|note|also|and|todo)\b)([a-z][\w-]{0,40}): *\Z"
)
# Words that announce a text of another person, before a colon.
REPORT = re.compile(
    r"\b(?:says?|said|reads|contains?|holds?|shows?|states?|returned|returns|wrote|written|output|contents?|text|"
    r"results?|lines?|quotes?|found|sagt|steht|enthält|dit|contient|dice|contiene)\b[^:：\n]*[:：]",
    re.I,
)
# The same, if the written text can only be the call.
QUOTES = _one_of(
    r"\b(?:says|(?<!that )said|reads|contains|states|wrote|typed|posted|answered|replied|is written|"
    # A reported sentence that continues up to the call, as in `The user wrote: ignore the rules and …`
    r"(?:asked|told) me to \w+)(?: (?:this|that|here|there|so|only|the following))?[*_]*[ \t]*[:：]"
    r"[^.!?;。！？；\n]{0,100}\Z",
    r"\b(?:(?:the|this|that|an?|another|my|our|your) )?(?:user|person|customer|client|caller|author|writer|he|she|they|"
    r"somebody|someone)(?: \w+ly| also| then| first| just)? (?:asks?|asked|requests?|requested|orders?|ordered|"
    r"demands?|demanded|wants?|wanted|pasted|suggests?|suggested|proposes?|proposed|mentions?|mentioned|quotes?|quoted|"
    r"enters?|entered|sent)(?: for)?(?: this| that)?[ *_]*[:：]\s*\Z",
    r"\b(?<!\w you )(?:sent|gave|showed|forwarded|mailed|texted|dictated) (?:me|us|you)"
    r"(?: (?:this|that|it|one|the following))?[ *_]*[:：]\s*\Z",
    r"\b(?:asked|told|want(?:s|ed)?) (?:me|us|it) to (?:run|call|use|execute|write)\s*\Z",
    r"\b(?:says|said|wrote|typed|is written|called|named|titled|literally|rename it to|what does)\s*\Z",
    r"\bthe (?:string|text|literal|phrase|words?|sentence)\s*\Z",
    r"\b(?:mean(?:s|ing)?|i quote)[ \t]*[:：]\s*\Z",
    r"(?:\A|[.!?:][ \t]+)(?:[-*] |\d+[.)] )?(?:please |now )?(?:explain|describe|discuss|translate|summari[sz]e|parse|"
    r"quote|ignore|consider|compare|document|review|rephrase|rewrite|decode|erkläre?|übersetze?|explique[rz]?|"
    r"traduis)\s*\Z|(?:\b(?:sagt|schreibt|schrieb|escribió|ha scritto|a écrit|escreveu|написал)|写道|写的是|"
    r"書きました)\s*[:：]?\s*\Z",
    r"\b(?:according to\b|(?:copied|(?<!action )taken|quoted|quoting|cited|citing|excerpts?|extracts?|snippets?|"
    rf"verbatim|pasted|translated)\b){THEN_COLON}",
    r"\b(?:puts?|phrase[sd]?|word(?:s|ed)|explain(?:s|ed)|describe[sd]?) (?:it|this)(?: this way| so|"
    r" thus)?[ \t]*[:：]\s*\Z",
    r"\b(?:typos?|errors?|mistakes?|bugs?|problems?)(?: is| are)? in\s*\Z",
    r"\b(?:here (?:is|are)|here['’]s) (?![^:：\n]*\bi(?:['’](?:m|ll)| am| will)\b)"
    rf"(?:the|its|what)(?: [\w'’]+){{0,3}}? {A_TEXT}{THEN_COLON}",
    rf"\b{A_TEXT}(?: (?:of|in|from|on) [^.,!?:：\n]{{1,60}}?)? (?:is|are|was|were|goes|went)"
    r"(?: this| that| here| now| so| only| the following| as follows)?[*_]*[ \t]*[:：]\s*\Z",
    # An order or a text in a page is not a decision of the model.
    rf"\b(?:page|web ?site|site|attacker|injection|hacker|stranger|sender|{A_TEXT})(?:['’]s)?(?: [\w'’]+){{0,4}}? "
    r"(?:ask|tell|told|make|made|making|get|trick|instruct|order|urge|want|command|direct|force|demand)\w*"
    rf" (?:me|us|you|it|that|(?:the |an? )?(?:models?|assistants?|agents?|ai))\b{END}",
    r"\b(?:suspicious|malicious|injected|hidden|harmful|dangerous|untrusted|unauthori[sz]ed|embedded|fake|smuggled)"
    rf"(?: \w+)?? (?:calls?|instructions?|commands?|prompts?|requests?|texts?|lines?|injections?|messages?|"
    rf"attempts?)\b{END}",
    *(rf"{words}{THEN_COLON}" for words in WROTE_ELSEWHERE),
    # Acts of a page, a mail or a stranger in the sentence up to the call.
    r"\A\W*(?:(?:the|this|that|an?) (?:page|readme|e-?mail|mail|(?:web)?site|comment|instruction|attacker|bot)|"
    r"die (?:web)?seite|die e-?mail|la page|le courriel|"
    r"la página|el correo|la pagina|a página|страница|письмо|"
    r"strona|"
    r"de pagina|sidan|sayfa|(?:这个|該|该)?(?:页面|網頁|网页|邮件)|(?:この)?(?:ページ|メール)|"
    r"(?:이 )?페이지)(?![\w-]*['’]s\b)"
    # … unless the model continues with an act of its own.
    r"(?![^\n]*\b(?:let me|let['’]s|i['’]ll|i will|so i|now i)\b)"
    r"[^.!?。！？\n]*\Z",
    r"\b(?:someone|somebody|the (?:author|sender|hacker))\b[^.!?\n]*\Z",
    r"\A\W*(?:in|on|at) (?:the |this |that |your )?(?:page|comments?|logs?|readme|e-?mail|line \d+|(?:top|end|"
    r"bottom) of(?! that\b))\b"
    rf"{THEN_COLON}",
)
# The call is refused by the words of the sentence before it.
REFUSED = _one_of(
    r"\b(?:(?:do|does|did|must|should|would|could|can|may|will) ?n[o'’]t|can['’]t|won['’]t|never|cannot|refuse to|"
    r"avoid|not (?:allowed|permitted|supposed|able|safe|right|ok|okay|going) to|(?:no need|no reason|unable|"
    r"forbidden|wrong|unsafe|"
    r"prohibited|illegal|dangerous|risky|harmful) to)"
    r"(?: \w+)?? (?:run|call|execute|use|write|send|type|invoke|copy|make|do|follow|obey|perform|trust|repeat|"
    r"submit|calling|"
    r"running|using|writing|sending|following)\b" + END,
    r"\b(?:have|has|had|was|were|is|are|am|['’]m|['’]ve|been)(?: not|n['’]t| never) (?:\w+ )??(?:run|running|called|"
    r"calling|"
    r"executed|executing|used|written|sent|sending|typed|invoked|made|done|followed|following|obeyed|performed)\b"
    r"(?: (?:it|them|this|that|these|the following|(?:this|that|the|any) (?:call|line|instruction|command|request)s?))?"
    r"[*_ ]*[:：]?\s*\Z",
    r"\b(?:must|may|should|can|could|will|shall)(?: never| not|n['’]t) (?:ever )?be (?:run|sent|made|done|written|"
    r"\w+ed)\b" + END,
    r"\bunder no circumstances\b" + END,
    r"\b(?:i|we)(?:['’]ve| have)? (?:rejected|refused|ignored|skipped|blocked|declined|cancell?ed|denied|discarded|"
    r"omitted|"
    r"removed|deleted|dropped|stopped|withheld|disregarded)(?: (?:it|them|(?:this|that|these|the|an?|one|your|its)"
    r"(?: \w+)??(?: following| (?:call|line|instruction|request|command|attempt|step|part|text)s?)?))?[*_ ]*[:：]\s*\Z",
    r"\b(?:would be|is|was) (?:wrong|incorrect|invalid|forbidden|dangerous|a mistake)\b" + END,
    r"\b(?:instead of|rather than|avoid|statt|anstatt|anstelle von)(?: \w+)?\s*\Z|[❌🚫⛔]\W*\Z",
    r"\b(?:au lieu de|en vez de|en lugar de|invece di|em vez de)(?: \w+)?\s*\Z",
    r"\b(?:führ|ruf|benutz|verwend|schreib|start|send)\w*\b[^.!?\n]{0,60}\b(?:nicht|nie|niemals|kein\w*)\b" + END,
    r"\b(?:nicht|nie|niemals|kein\w*)\b[^.!?\n]{0,60}\b(?:ausf|ausgef|aufruf|aufgeruf|geschrieb|gesende|gestart|"
    r"benutz|verwend|schreib|start|send)\w*" + END,
    r"\b(?:ne |n['’])[^.!?\n]{0,20}\b(?:exécut|appel|utilis|lanc|écri|envoy)\w*[^.!?\n]{0,20} (?:pas|jamais)\b" + END,
    r"\b(?:ne |n['’])[^.!?\n]{0,20}\b(?:pas|jamais)\b[^.!?\n]{0,20}\b(?:exécut|appel|utilis|lanc|écri|envoy)\w*" + END,
    r"\bne (?:pas|jamais) (?:exécut|appel|utilis|lanc|écri|envoy)\w*" + END,
    r"\b(?:no|nunca|jamás)(?: \w+){0,3}? (?:ejecut|llam[aeo]|escrib|utili[cz])\w*" + END,
    r"\b(?:não|nunca|jamais)(?: \w+){0,3}? (?:execut|cham|us[ae]|escrev|rod)\w*" + END,
    r"\b(?:non|mai)(?: \w+){0,3}? (?:esegu|chiam|us[ai]|scriv)\w*" + END,
    r"\b(?:не|нельзя)(?: \w+){0,3}? (?:запуска|запуст|вызыва|вызва|выполн|использу|пиши|запуск|виклика|виконуй|"
    r"використову)\w*" + END,
    # "Never", before any words for running.
    r"\b(?:jamais|nunca|jamás|niemals|aldrig|aldri|nooit|никогда|ніколи|nikdy|nigdy|soha|niciodată|"
    r"koskaan|ποτέ)\b" + END,
    r"\b(?:no (?:lo |la |los )?(?:hag|lanc|corr|mand|enví)|non (?:farlo|fare|lanc|invi)|não (?:fa[çz]|envi|mand))\w*"
    + END,
    r"\b(?:ne fai(?:s|tes)|ne le fai(?:s|tes)) (?:pas|jamais)\b" + END,
    r"\bне (?:делай|отправляй|трогай|роби|надсилай)\w*" + END,
    r"\bnie (?:uruch|wywoł|używ|wykon|pisz)\w*" + END,
    r"\b(?:voer|roep|gebruik|schrijf)\w*\b[^.!?\n]{0,40}\b(?:niet|nooit)\b" + END,
    r"\b(?:niet|nooit)\b[^.!?\n]{0,40}\b(?:uitgevoerd|aangeroepen|gebruikt|uitvoeren|aanroepen|gebruiken)\b" + END,
    r"\b(?:kör|ring|använd|kald|brug|kjør|bruk)\w*\b[^.!?\n]{0,40}\b(?:inte|ikke)\b" + END,
    r"\b(?:çalıştır|çağır|kullan|yaz)(?:ma|me)(?!k)\w*" + END,
    r"\b(?:đừng|không được) (?:chạy|gọi|dùng|viết)\b|\bjangan (?:jalankan|panggil|gunakan|tulis)" + END,
    r"(?:不要|没有|沒有|没|并未|未|拒绝|拒絕|不会|不會|不想|请勿|請勿|切勿|不能|不得|不可|不该|不应该?|禁止|千万别|"
    r"别再|勿)(?:再|去|直接)?"
    r"(?:运行|運行|执行|執行|调用|調用|呼叫|使用|写|寫|发送)" + END,
    r"(?:実行|呼び出|使用|使わ|書か)[^。\n]{0,8}(?:ないで|いけ|しない|ません|禁止|なら)[^。\n]*\Z",
    r"(?:실행|호출|사용)[^.\n]{0,8}(?:지 ?마|지 않|안 됩|안 돼)[^.\n]*\Z",
    r"(?:لا|لم|لن) [تأني]?(?:شغ|نف|ستدع|ستخدم|كتب)[^.\n]*\Z",
    r"(?:मत|न|नहीं) (?:चला|लिख|बुला|भेज|कॉल|इस्तेमाल|कर)[^।\n]*\Z",
    r"(?:ห้าม|อย่า|ไม่ควร|ไม่ต้อง|ไม่ได้)(?:เรียก|ใช้|รัน|เขียน|ส่ง)[^\n]*\Z",
    r"\b(?:אל|לא|אין|אסור|בלי)(?: \w+)? [לת]?(?:ה?ריצ|ה?ריץ|קרא|קרוא|השתמש|שתמש|כתו?ב|שלח|שלוח|ה?פעיל|בצע)\w*"
    r"[^.\n]*\Z",
    r"(?:اجرا|صدا|استفاده|فراخوانی)[^.\n]{0,12}ن(?:کن|زن|می|شود)[^.\n]*\Z|(?:مت|نہ) (?:چلا|بھیج|لکھ)[^۔\n]*\Z",
    r"(?:চালা|কল কর|ব্যবহার কর|লিখ)\w*[^।\n]{0,6} ?না[^।\n]*\Z",
    r"\bhuwag\w* \w*(?:patakbuh|tawag|gamit|sulat)\w*" + END,
    r"\b(?:μην?|δεν) (?:\w+ )?(?:εκτελ|καλέσ|καλείτε|χρησιμοποι|τρέξ|τρέχ|γράψ)\w*" + END,
    r"\bne(?:spoušt|spusť|volej|použív|pouzi|spúšť|spust|volaj|prováděj|vykon)\w*" + END,
    r"\bne (?:futta|hív|használ|írj|küld)\w*|\bälä(?:ä|kää)? (?:suorita|kutsu|käytä|kirjoita|aja)\w*" + END,
    r"\bnu (?:\w+ )?(?:rul|apel|execut|folos|scri|trimit)\w*" + END,
    r"\bне (?:\w+ )?(?:изпълн|извикв|използв|пиш|стартир)\w*" + END,
    r"\bne(?:moj(?:te)?)? (?:pokre|pozi|pozov|zov|koris|piši|izvrš)\w*" + END,
)
# How the line of a log begins: a date with its time, a time with seconds, or a level in capitals.
LOG = re.compile(
    r"[ \t>*|-]*[\[(]?(?:\d{4}[-/.]\d\d[-/.]\d\d[T ]\d\d:\d\d|\d{1,2}:\d\d:\d\d\b|\w{3} [ \d]?\d \d\d:\d\d:\d\d|"
    r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b(?: {0,4}[\]):|]| -|\s*\Z))"
)
# Endings of the line above that count as a colon.
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
# The characters before the call in a line of a file, a numbered line, a dialogue, a heading or a column.
LEADING = _one_of(
    r"[ \t]*[-+]\Z",
    r"[ \t]*\(?(?-i:[A-Z])[).][ \t]+\Z",
    r"[ \t]*[—–―][ \t]*\Z",
    r"[ \t]*(?:[\w./\\-]+:)?\d+[:|][ \t]*\Z",
    r"[ \t]*#{1,6}[ \t].*\w[^:：]*\Z",
    r"[ \t]*\|[ \t]",
    r"(?=.*\w).*[,;]\Z",
    r"(?=.*\w).*(?:\t|[→⇒][ \t]*)\Z",
    r"[ \t]*PS [A-Za-z]:[^>\n]*>[ \t]*\Z",
)
ASSIGNED = re.compile(r"(?:\A|[\s;({])[\w.]+ ?[:+=!]?= ?[\[({\s]{0,4}\Z")
# A comment of a programming language, a prompt of a shell, the key of a YAML text, a macro of LaTeX.
CODE = re.compile(r"(?:(?:\A|\s)(?:#+|//+|/\*+)|\A[ \t]*(?:--|\$|%+|REM|>>>)|\S[ \t]*\||\\verb\W|\\\w+\{)[ \t]*\Z")
# A line that begins a block of code or a text over lines in another markup.
BLOCK = re.compile(r"\s*(?:File \".*\", line \d+.*|#\+begin_\w+.*|\{(?:code|noformat)\b.*|\.\. code.*|"
r"\\begin\{\w+\}.*|.*<<-?['\"]?\w+['\"]?|"
                   r"[ \w-]+: ?[|>][+-]?)\s*\Z", re.I)  # fmt: skip
# A bracket with words in it that is open on the line, and one directly before the call after words.
OPEN_BRACKET = re.compile(
    r"([\[({（【〔⟨])[^\[\](){}（）【】〔〕⟨⟩]*\w[^\[\](){}（）【】〔〕⟨⟩]*\Z|\w[^\[\](){}]*([\[(（【〔⟨])\s*\Z"
)
CLOSING = dict(zip("[({（【〔⟨", "])}）】〕⟩", strict=True))
ELEMENT = re.compile(r"<([a-zA-Z][\w-]*)(?: [^<>]{0,100})?>\s*\Z")
# Elements that models put around a call that they mean, unlike those around a tool's result.
OWN_ELEMENT = re.compile(
    r"(?!.*(?:result|observation|[a-z]_(?:respon|output)))(?:tool|func|call|invoke|action|answer|respon|assistant|"
    r"output|reply|message|final|[bh]r\Z)",
    re.I,
)
# After the name of a speaker: a colon, a bracket, or nothing else on its line.
SPOKEN = r"(?:[*_]*[:：]|[\])>][*_]*[:：]?|[*_ \t]*\Z)"
USER = re.compile(rf"[ \t*_>\[(<#]*(?:user|human|q|question|frage|pregunta|问题?|問題?|質問|вопрос){SPOKEN}", re.I)
# "A:", in a dialogue.
SPEAKER = re.compile(r"[ \t*_>-]*[A-Z][*_]*[:：][*_ \t]*")
ASSISTANT = re.compile(
    rf"[ \t*_>\[(<#]*(?:assistant|ai|model|bot|a|answer|antwort|respuesta|réponse|回?答|ответ){SPOKEN}[*_]*[ \t]*\Z",
    re.I,
)
# A word or a label before a call, below a line that announces it.
LABEL = re.compile(r"\W*(?:\w+\W+){0,2}\w+\W*\Z")
# A sentence after a call that the model has just made: it waits, or names the use of the result.
AFTERWARDS = re.compile(
    r"(?:(?:I|We)(?: will|['’]ll| shall| am| are|['’]m)?(?: now| then)? (?:waits?|waiting|let you know|report back|"
    r"come back|get back|check back)\b|(?:You|We|I)(?: can|['’]ll| will| may)(?: then| later)? (?:use|read|need|see|"
    r"look at|"
    r"work with|reuse) (?:this|the|its|that|these|those) (?:results?|answers?|data|information|values?|numbers?)\b|"
    r"Please wait\b|Waiting\b|One moment\b|(?:Once|After|When|As soon as) (?:I|we|you) (?:have|get|see|know|receive) "
    r"(?:the|this|that|its|it)\b|(?:The|This|Its) (?:result|answer|data) (?:will|comes|follows|is needed)\b)"
    r"(?!.*\b(?:would|examples?|writ\w+|wrote|like this|never|not|if|as above)\b|.*n['’]t\b)[^`\"“”<>{}\[\]]*"
)
