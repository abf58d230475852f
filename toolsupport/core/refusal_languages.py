"""The phrases of server_refusal_rules.py in the languages that hosts and forks of servers write besides English.

A language has the words for tools (only the plural or the ability where there is a plural: one tool is not all of
them), what stands before them in "does not support tools", and what follows them in "tools are not supported". Between
the two stand listed words only: anything else may be the name of one tool.
"""

from __future__ import annotations

import re
from re import Match

_FOREIGN = r"(?:tools|functions|(?:tool|function)[ _-]?(?:calling|calls?|use))(?![a-z0-9_])"
# The model's own name may stand anywhere: it has a digit, a colon or a slash, and no underscore.
_NAMED = r"(?>(?<![\w.:/-])[a-z](?=[a-z.:/-]*[\d:/])[a-z\d.:/-]*(?!\w))"


def _sentences(before: str, between: str, things: str, after: str) -> str:
    """Build the patterns `before` + `things` and `things` + `after`."""
    things = rf"(?:{things}|{_FOREIGN})"
    between = rf"(?:{between}|{_NAMED})*"
    return rf"(?:{before}){between}{things}|{things}{between}(?:{after})"


LANGUAGES = {
    "chinese": _sentences(
        r"(?:没有|沒有|缺乏|缺少)(?=.{2,10}(?:能力|功能|支持))|(?:不|暂不|尚不|未|尚未|无法|無法|沒有|没有)(?:能)?(?:支持|支援|提供|具备|具備|使用|调用)",
        r"使用|调用|調用|呼叫|原生|任何|外部|进行|進行|传入|功能|的|参数|參數|能力| |`|“|”|「|」|该模型|此模型|在"
        r"|当前模型|被|目前",
        r"(?<![不该此每个])(?:工具|函数|函數|函式)(?! ?[:：]|名|选|選|类|類|数量|數量"
        r"| ?[「“\"'`]?(?!tool|function|call)[a-z]\w*)",
        r"(?:不|暂不|尚不|未|尚未)被?(?:(?:该|此|当前|所选)?模型)?(?:支持|支援)(?!空格|中文|字符|字元)|不可用",
    ),
    "japanese": _sentences(
        r"(?:サポートしていない|非対応の|使えない)",
        r"呼び出し|の使用|使用|利用|コール|機能|は|が|を|に|には|も|、| |(?:この|その|現行の|選択した)?モデル"
        r"|では?",
        r"(?<![こそあ]の)(?<!した)(?<!れた)(?<!該当)(?<!当該)(?:ツール|関数)(?!名)",
        r"(?:サポートされていません|サポートしていません|サポートしません"
        r"|対応していません|非対応|未対応|利用できません|使用できません|使えません)",
    ),
    "korean": _sentences(
        r"지원하지 않는",
        r"호출|사용|기능|을|를|은|는|이|가|에서|에서는|이|해당|모델| |에",
        r"(?<!\b이 )(?<!\b그 )(?<!해당 )(?<![한된] )(?:도구|함수|툴)(?! ?이름)",
        r"(?:지원하지 않|지원되지 않|지원 안|사용할 수 없)",
    ),
    "spanish": _sentences(
        r"\bno (?:soporta|admite|permite|acepta|es compatible con|tiene soporte para|puede (?:usar|utilizar"
        r"|llamar a))",
        r" |el|la|las|los|de|a|uso|usar|llamadas?|llamar|invocación|ninguna?s?",
        r"\b(?:herramientas|funciones|(?:llamadas?|invocación|uso) (?:a|de) (?:funci|herramient)\w+)\b",
        r" no (?:son|es|están?) (?:compatibles?|soportad[ao]s?|admitid[ao]s?|permitid[ao]s?|disponibles?)",
    ),
    "portuguese": _sentences(
        r"\bnão (?:suporta|aceita|permite|(?:é capaz de|pode|consegue) (?:usar|chamar|utilizar)|é compatível com"
        r"|(?:oferece|tem|possui) suporte (?:a|para|ao))",
        r" |o|a|as|os|de|à|às|uso|usar|chamadas?|chamar|nenhuma?s?",
        r"\b(?:ferramentas|funções|(?:chamadas?|uso) (?:a|de) (?:funç|ferrament)\w+)\b",
        r" não (?:são|é|está|estão) (?:suportad[ao]s?|compatíve(?:l|is)|permitid[ao]s?|disponíve(?:l|is))",
    ),
    "french": _sentences(
        r"\b(?:ne |n')(?:supporte|prend|accepte|gère|permet|autorise)(?: pas)?(?: en charge)?"
        r"|\bn'est pas compatible avec|\best incapable d(?:e|')",
        r" |le|la|les|l'|d'|des?|du|aux?|appels?|appeler|utilisation|utiliser|usage|avec|par|modèle|aucune?",
        r"\b(?:outils|fonctions|(?<=aucun )outil|(?<=aucune )fonction"
        r"|(?:appels?|utilisation|usage) (?:d'|de |des )(?:outil|fonction)s?)\b",
        r" (?:ne sont|n'est|n'ont|n'a) pas (?:été )?(?:(?:pris|prise|prises) en charge|supportée?s?"
        r"|disponibles?|gérée?s?|acceptée?s?)| (?:est|sont) (?:impossibles?|indisponibles?)",
    ),
    "german": _sentences(
        r"unterstützt (?:derzeit |leider )?(?:keine?n?|nicht)|\bkann keine",
        r" |die|das|den|der|nutzung|verwendung|von|durch|werden|wird|ist|sind|diese[mrs]?|modell|vom|mit|für"
        r"|native[ns]?",
        r"\b(?:werkzeuge|tools|funktionsaufrufe?|(?:werkzeug|tool|funktions)-?aufrufe?|(?:werkzeug"
        r"|tool)-?nutzung)\b",
        r" nicht (?:unterstützt|verfügbar|möglich)",
    )
    + r"|unterstützt (?:das"
    r" |die )?(?:werkzeuge|tools|(?:function|tool)[ -]calling|(?:werkzeug|tool|funktions)-?aufrufe?)"
    r" nicht",
    "italian": _sentences(
        r"\bnon (?:supporta|accetta|consente|gestisce|è compatibile con|è in grado di|può)",
        r" |gli|le|la|il|l'|di|degli|delle|a|uso|utilizzo|chiamat[ae]|usare|utilizzare|chiamare",
        r"\b(?:strumenti|funzioni|(?:chiamat[ae]|uso|utilizzo) (?:di |a |degli |alle |delle )?(?:funzion"
        r"|strument)\w+)\b",
        r" non (?:sono|è) (?:supportat[aeio]|disponibil[ei]|consentit[aeio]|compatibil[ei])",
    ),
    "dutch": _sentences(
        r"(?:ondersteunt|kan) (?:geen|niet)",
        r" |het|de|gebruik|van|aanroepen|door|dit|model|worden|wordt|zijn|is",
        r"\b(?:hulpmiddelen|gereedschap(?:pen)?|functies|(?:functie|tool)-?aanroep(?:en)?|tool-?gebruik)\b",
        r" niet ondersteund| niet beschikbaar",
    ),
    "polish": _sentences(
        r"\bnie (?:ma obsługi|obsługuje|wspiera|akceptuje|pozwala na|potrafi|umie|może)",
        r" |używać|wywoływać|korzystać|użyci[ae]|używani[ae]|korzystani[ae]|wywoływani[ae]|wywołań|wywołania|z",
        r"\b(?:narzędzi(?!e\b)\w*|narzędziami|funkcji|(?:wywoływani[ae]|wywołania|użycie) (?:funkcji"
        r"|narzędzi))(?! \w+_)\b",
        r" (?:nie (?:jest|są) (?:przez \w+ model )?(?:obsługiwan[ea]|wspieran[ea]|dostępn[ea])"
        r"|(?:jest|są) nie(?:obsługiwan|wspieran|dostępn)[ea])",
    ),
    "russian": _sentences(
        r"\bне (?:поддерживает|поддерживают|умеет|может)",
        r" |использовани[ея]|вызовы?|вызова|(?:вызыв|использов|работ)ать|пользоваться|работу|с|в|этой|модел(?:и|ью)",
        r"\b(?:инструмент(?:ы|ов|ами)|функции|функций|(?:вызовы?|использование) (?:функци|инструмент)\w+)\b",
        r" не поддержива(?:ется|ются)| недоступ(?:ен|н[аыо])|(?<=поддержка инструментов) в .{0,20}отсутствует",
    ),
    "ukrainian": _sentences(
        r"\bне (?:підтримує|підтримують)",
        r" |використання|викликів?|виклику|роботу|з",
        r"\b(?:інструмент(?:и|ів|ами)|функції|функцій|(?:виклики?|використання) (?:функці|інструмент)\w+)\b",
        r" не підтриму(?:ється|ються)| недоступн[іо]",
    ),
    "czech": _sentences(
        r"\bnepodporuje",
        r" |volání|použití|používání|tímto|modelem|tento|model|jsou|je|v|tomto|modelu",
        r"\b(?:nástroj(?:e|ů)|funkc(?:e|í)|volání (?:funkcí|nástrojů)|použití nástrojů)\b",
        r" (?:nejsou|není) (?:tímto modelem )?(?:podporován[oayi]?|k dispozici|dostupn\w)| nepodporován[oayi]?"
        r"| (?:tímto modelem )podporován[oayi]",
    ),
    "slovak": _sentences(
        r"\bnepodporuje",
        r" |volanie|použitie|používanie",
        r"\b(?:nástroj(?:e|ov)|funkci(?:e|í)|volanie (?:funkcií|nástrojov)|použitie nástrojov)\b",
        r" (?:nie sú|nie je) (?:týmto modelom )?(?:podporovan\w|dostupn\w)",
    ),
    "scandinavian": _sentences(
        r"\b(?:stöder|stödjer) (?:inte|inga)|\bstøtter (?:ikke|ingen)|\bunderstøtter (?:ikke|ingen)|\bsaknar stöd för",
        r" |användning|av|brug|bruk",
        r"\b(?:verktyg|verktygsanrop|funktionsanrop|værktøjer|(?:værktøjs|funktions)kald|verktøy|(?:verktøy|funksjons)kall)"
        r"\b(?! \w+_)",
        r" (?:stöds|støttes|understøttes|är|er) (?:inte|ikke)(?: (?:tillgängliga|tilgjengelige|tilgængelige))?",
    ),
    "finnish": _sentences(
        r"\bei tue",
        r" ",
        r"\b(?:työkaluja|funktioita|(?:työkalu|funktio)kutsuja)\b",
        r" ei(?:vät)? (?:tueta|ole tuettuja)",
    ),
    "hungarian": _sentences(
        r"\bnem támogatja",
        r" |az?",
        r"\b(?:eszközöket|függvényeket|(?:eszköz|függvény)hívás\w*)",
        r" nem támogatott\w*",
    ),
    "romanian": _sentences(
        r"\bnu (?:acceptă|suportă|permite|are suport pentru)",
        r" |apeluri(?:le)?|apelarea|utilizarea|folosirea|de",
        r"\b(?:instrumente(?:le|lor)?|funcții(?:le|lor)?)\b",
        r" nu sunt (?:acceptate|suportate|disponibile)",
    ),
    "greek": _sentences(
        r"δεν υποστηρίζει",
        r" |τις|την|τη|τα|κλήσεις|κλήση|χρήση|των",
        r"(?:εργαλεί(?:α|ων)|συναρτήσε(?:ις|ων))(?!\w)",
        r" δεν υποστηρίζονται",
    ),
    "turkish": _sentences(
        r"desteklemeyen",
        r" |bu|model|ile|tarafından|çağırma\w*|çağrı\w*|kullanım\w*|modelde|seçilen",
        r"(?<!\bbu )\b(?:araçlar\w*|araç(?= (?:desteği|kullana|çağıra))|araç (?:çağ|kullan)\w+"
        r"|fonksiyon (?:çağ|kullan)\w+|işlev (?:çağ|kullan)\w+)",
        r" desteklen?m(?:iyor|ez|emektedir|ektedir)| desteği (?:yok|bulunmuyor|içermiyor)"
        r"|(?<=araç) (?:kullan|çağır)a(?:maz|mıyor)",
    ),
    "vietnamese": _sentences(
        r"(?:không|chưa) (?:hỗ trợ|được hỗ trợ|có khả năng|có hỗ trợ|thể (?:sử dụng|gọi))",
        r" |gọi|sử|dụng|việc|các|tính|chức|năng|bất|kỳ|cho|được",
        r"(?:công cụ|hàm|gọi hàm|gọi công cụ)(?! (?:\w+_|này\b|đó\b|ấy\b|trên\b))\b",
        r" (?:không|chưa) được (?:mô hình này |mô hình )?hỗ trợ",
    ),
    "indonesian": _sentences(
        r"(?:tidak|belum) (?:mendukung|didukung|(?:memiliki|mempunyai|punya) dukungan (?:untuk )?"
        r"|(?:dapat|bisa) (?:menggunakan|memanggil))",
        r" |pemanggilan|penggunaan|panggilan|oleh|model|ini",
        r"\b(?:alat|fungsi|pemanggilan (?:fungsi|alat)|panggilan fungsi)(?! (?:\w+_|ini\b|itu\b|tersebut\b))\b",
        r" (?:tidak|belum) (?:didukung|tersedia)",
    ),
}

# States that end on their own.
PASSING = (
    r"暂时|暫時|现在|目前不可用|稍后|稍後|维护|維護|繁忙|一時的|メンテナンス|일시적|점검|현재 사용",
    r"temporairement|pour le moment|actuellement indisponible|tymczasowo|chwilowo|obecnie niedostępn"
    r"|temporariamente",
    r"no momento|temporalmente|por el momento|en este momento|temporaneamente|al momento|vorübergehend|wartung"
    r"|zurzeit",
    r"tillfälligt|för närvarande|midlertidig\w*|for øjeblikket|for tiden|i øjeblikket|tilapäisesti|toistaiseksi"
    r"|átmenetileg|jelenleg|temporar|momentan|προσωρινά|αυτή τη στιγμή|dočasne|momentálne|práve teraz",
    r"tijdelijk|momenteel|временно|тимчасово|dočasně|geçici|şu anda|tạm thời|hiện tại|sementara|saat ini",
)

# "Now" makes no claim about later; "the current model" does not count as such a word.
CURRENTLY = (
    r"[暂暫](?!停)|目前(?!的?模型)|[当當]前(?!的?(?:模型|所|选|選|使用))|今は|今のところ|ただ今|ただいま|現時点|当面"
    r"|現在(?!の|選択|使用)|현재(?!의| ?모델| ?선택| ?사용 중)|지금|당분간",
    r"\b(?:actuellement|présentement|momentanément|pour l'instant|à l'heure actuelle|en ce moment)\b",
    r"\b(?:derzeit|aktuell|momentan|gegenwärtig|zur zeit|im moment|vorerst|jetzt)\b",
    r"\b(?:actualmente|atualmente|ahora|agora|por enquanto|de momento|neste momento|attualmente|adesso|per ora"
    r"|in questo momento|momentaneamente)\b",
    r"\b(?:op dit moment|vooralsnog|thans|obecnie|aktualnie|teraz|na razie|w tej chwili)\b",
    r"\b(?:сейчас|в (?:данный|настоящ\w+) (?:момент|время)|на данный момент|пока что|наразі|зараз|поки що"
    r"|на даний момент)\b",
    r"\b(?:momentálně|nyní|teď|aktuálně|prozatím|v současné době|v tuto chvíli|şu an|şimdilik|halihazırda"
    r"|hiện nay|hiện(?= không)|lúc này|tạm|sekarang|kini|untuk saat ini)\b",
)

# Who pays, and where they are.
CONTRACT = (
    r"套餐|方案|订阅|訂閱|额度|額度|配额|配額|地区|地區|区域|區域|账户|帳戶|账号|公测|内测|内測|路由|プラン|地域|アカウント|요금제|지역|계정|베타",
    r"\bvotre (?:forfait|abonnement|compte|offre|région)|\bforfait\b|\babonnement\b|\bquota\b|\brégion\b"
    r"|\btwój\b|\btwoim\b",
    r"\b(?:region(?:ie|u)|taryf\w+|pakiet\w*|seu plano|sua (?:conta|região|assinatura)|su (?:plan|cuenta|región"
    r"|suscripción))\b",
    r"\b(?:suo|tuo) (?:piano|account|abbonamento)|\bpiano\b|\bihr(?:em|en)? (?:tarif|konto|abonnement|region"
    r"|plan)|\btarif\b",
    r"тариф|подписк|регион|підписк|регіон|аккаунт|tarif|předplatn|oblast|planınız|bölge|aboneli|gói|khu vực"
    r"|paket|langganan|wilayah",
)

# Only a part of the tools.
PARTS = (
    r"并行|並行|平行|该工具|此工具|該工具|类型的?工具|工具类型|多个工具|自定义工具|工具选择|工具選擇|并发|並列|병렬",
    r"(?:名称|名字|名稱|\.name|参数类型|描述|数量|數量|个数|結果|结果)[^。]{0,6}(?:不支持|不支援|超)|(?:不支持|不支援)[^。]{0,4}(?:类型|類型|多个|多個|图|圖)",
    r"名に|最多|最大|이름|최대|結果|이미지|画像",
    r"\bparallelle?|\bsamtidig|\brinnakka|\bpárhuzamos|παράλληλ",
    r"\b(?:parall[eèé]l\w*|paralel\w*|równoległ\w+|parallele?n?|параллельн\w+|паралельн\w+|song song)\b",
    r"\bnombre de (?:la |una )?(?:herramienta|función)|\bnome d[aeio]\w*|\bnom (?:de |d')|\bnazw\w+"
    r"|werkzeugnamen?|\bimagen|\bimages? "
    r"(?:dans|nei|nas)|\bимен\w+|\bназв\w+|\bnázev|\bnázvy|\baraç ad\w+|\btên (?:công cụ|hàm)|\bnama (?:alat"
    r"|fungsi)",
    r"\bplus de \d|\bmás de \d|\bmais de \d|\bmehr als \d|\bpiù di \d|\bmeer dan \d|\bwięcej niż \d|\bболее \d"
    r"|\bбільше \d|\bvíce než \d",
)

# What may stand beside a refusal in its sentence: the model, which one it is, and the names of errors. Anything else
# limits the refusal to something that is not the model.
_MODEL = re.compile(
    r"\b(?:modell(?:en|et|ul)?|modellell|malli|modelul(?:ui)?|modelom)\b(?!\w*[-_]\w)|μοντέλο"
    r"|(?:mod[eè]l(?:l[oe]?|o|e|u|em|en|de|inin|in|i)?|mô hình)(?!\w*[-_]\w)|(?:моделлю|моделью|модел[ьиі]|モデル|모델"
    r"|模型)(?: ?[「“'\"`]?[a-z][\w.:-]*(?<=[!-~])[」”'\"`]?)?|\w*[a-z]\w*[-/:]\w+|[a-z]+\d"
)
_BESIDE = re.compile(
    r"\b(?:ce|cet|le|la|las|los|lo|gli|die|der|les|l|sélectionnée?|choisi|actuel|demandé|par|pour|avec|ce|de|du"
    r"|el|este|esta|o|os|as|a|no|ao|pelo"
    r"|por|para|com|con|en|em|neste|selec?cionado|escolhido|elegido|solicitado|at?ctual|atual|que|você|usado"
    r"|questo|il|da|per"
    r"|selezionato|scelto|dieses|das|dem|diesem|ausgewählte[ns]?|gewählte[ns]?|aktuelle[ns]?|angegebene|von|vom"
    r"|mit|leider"
    r"|dit|het|door|voor|aanroepen|gebruiken?|verwenden|nutzen|aufrufen|gekozen|geselecteerde|ten|tego|tym|w|przez|dla|wybrany|wybranego|bieżący|tento|tímto|vybraný"
    r"|vybraným|zvolený"
    r"|для|эт(?:а|ой|у)|данн(?:ая|ой)|выбранн(?:ая|ой)|текущая|ця|цією|дана|обран(?:а|ою)|вибран(?:а|ою)|bu|seçilen"
    r"|tarafından"
    r"|này|đã|chọn|bởi|cho|của|tính năng|chức năng|khả năng|được|lỗi|xin"
    r"|rất|tiếc|fitur|untuk|kesalahan|maaf|anda pilih|pilih|hata|üzgünüz|üzgünüm|maalesef|seçtiğiniz|ile"
    r"|ini|yang|dipilih|oleh|for|with|by|this|the|error|errors?|fehler|erreur|erro|errore|fout|błąd|ошибка|code|bad|request|invalid"
    r"|parameter|message"
    r"|upstream|provider|api|tools?|function|calling|call|calls|tool-calling|use|sie|das|il|natif|nativ\w*"
    r"|den|det|denna|denne|detta|dette|här|her|där|valda|valgte|för|för|av|af|tämä|valittu|ez|a|az|kiválasztott"
    r"|acest|acestui|selectat|de|către|αυτό|το|αυτ\w|επιλεγμένο|týmto"
    r"|jeszcze|encore"
    r"|derzeit|actuellement|ainda|todavía|aún|ancora|nog|ещё|пока|ще)\b"
    r"|该|該|此|这个|這個|所选的?|所選的?|您|选择的?|選擇的?|当前|當前|目前|你|使用的|的|对|在|被|参数|參數|能力|功能|调用|呼叫|使用|字段"
    r"|この|その|現在の|選択した|選択された|指定された|現行の|は|が|では|で|に|を|も|이|해당|선택한|선택된|현재의|에서는|에서|은|는|가|을|를|ます|습니다|니다|다|음|아요|어요|です"
)
_NAME = re.compile(r"[\w.@-]*(?:\w[./:@_-]\w|\d)[\w./:@-]*", re.ASCII)
_ENDS = re.compile(r"[.!?;](?= |$)|[。！？；]")
_PAUSES = re.compile(r"[.!?;:,(\[](?= |\w|$)|[。！？；：，（、]|\Z")
_AVAILABLE = re.compile(
    r"dispon|dostępn|dostupn|verfügbar|beschikbaar|недоступ|利用できません|使用できません"
    r"|使えません|사용할 수 없|不可用|tersedia"
)


def of_the_model_only(found: Match[str]) -> bool:
    """Return whether the sentence names nothing but a model: no route, plan, hour, number or tool."""
    text = found.string
    begin = max((end.end() for end in _ENDS.finditer(text, 0, found.start())), default=0)
    pause = _PAUSES.search(text, found.end())
    before, after = text[begin : found.start()], text[found.end() : pause.start() if pause else None]
    # Something unavailable that is not of a model may return.
    if _AVAILABLE.search(found[0]) and not _MODEL.search(f"{before} {found[0]} {after}"):
        return False
    return not any(
        re.search(r"[^\W\d_]", _BESIDE.sub("", _MODEL.sub("", _NAME.sub("", part)))) for part in (before, after)
    )
