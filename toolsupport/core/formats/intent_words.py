"""Words before a call that announce one that is meant, in many languages, and words for texts that contain one."""

from __future__ import annotations

import re


def _words(*patterns: str) -> re.Pattern[str]:
    return re.compile(r"(?<!\w)(?:" + "|".join(patterns) + r")(?!\w)", re.I)


def _parts(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


def _opening(*patterns: str) -> re.Pattern[str]:
    return re.compile(r"\A(?:" + "|".join(patterns) + r")(?!\w)", re.I)


# Words of the first person: pronouns, "Let me", and verbs that have an ending of their own for it.
FIRST_PERSON = _words(
    r"(?<![\w/])i(?![/.]\w)|i['’](?:ll|m|d|ve)|we|we['’](?:ll|re|d|ve)|let me|let['’]?s|let us|lemme|gonna|"
    r"allow me|bear with me|give me",
    # German, French, Spanish, Italian, Portuguese
    r"ich|wir|mal \w+en|(?<!\w )je|j['’]\w+|nous|on va|laissez-moi|laisse-moi|permettez-moi|(?:véri|regard|voy|all|"
    r"supprim|lis|cherch|commenç|essay|ouvr|exécut|continu|procéd|utilis|appel|lanc|récupér|examin|consult|"
    r"fais|écriv)\w*ons|yo|vamos|veamos|déjame|permíteme|nosotros|voy|io(?= \w+o\b)|noi|vediamo|proviamo|"
    r"procediamo|fammi|lasciami|vou|nós|deixe-me|deixa-me",
    # Dutch, Swedish, Norwegian, Danish, Finnish
    r"ik|wij|laat me|laten we|even \w+en|jag|vi(?= \w)|låt mig|jeg|la meg|lad mig|minä|anna kun",
    # Polish, Czech, Slovak, Romanian, Hungarian
    r"zobaczmy|sprawdźmy|já|podívejme|poďme|hai să|haideți|én|nézzük|lássuk",
    # Russian, Ukrainian, Bulgarian, Turkish, Greek
    r"я|мы|давай(?:те)?|ми|аз|нека|biz|hadi|bakalım|εγώ|ας",
    # Hebrew, Arabic, Persian, Urdu, Hindi, Bengali, Tamil, Telugu
    r"אני|אנחנו|בוא|أنا|نحن|دعني|دعونا|بگذارید|میں|मैं|मैंने|हम|মই|আমি|আমরা|நான்|నేను",
    # Indonesian, Vietnamese, Tagalog, Swahili
    r"saya|aku|kami|mari|akan|tôi|chúng tôi|hãy|đang|sẽ|ako|ko|nita\w+|nina\w+",
    # Verbs with an ending of their own for it, in languages that leave the pronoun out
    r"(?!меню|интервью|(?:так|кажд|друг|люб|сам|всяк|цел|перв|втор|стар|прост|хорош|плох|больш)ую|эту|\w+(?:ию|ью|[нвщ]ую|скую)(?!\w))\w{2,}(?:ю|юсь|ём|ем)|\w{3,}[жчшщ]у|ищу|\w*йду|иду|"
    r"беру|\w{3,}(?:в|р|д|н|ж)ам|"
    r"\w{2,}(?:yorum|yoruz|(?:aca|ece)ğ(?:ım|im|ız|iz)|[ae]y[ıi]m|[ae]l[ıi]m)|\w{2,}(?:uję|ujemy|[śćżłz]ę)|"
    r"robię|\w*(?:[mnwb]iam|dzam|uwam|ytam|ukam|ywam|[oy]łam|ieram|łączam)|\w{2,}(?:ám|ím|ujem|uju)|\w{3,}[ωώ]|"
    r"\w*(?:tatom|tetem|lök|löm|röm|rzöm|zöm|ézem|írom|nyitom|lvasom|resem|rdezem)|(?:gled|provjerav|čit|"
    r"pokreć|briš)[ae]m|rulez|verific|execut|citesc|caut|șterg|deschid|apelez|scriu|folosesc|încerc|suoritan|"
    r"katson|tarkistan|luen|poistan|haen|ajan|teen|kutsun|avaan|etsin|käytän|kirjoitan|سأ\w+|س?أ\w{3}|می\w*م|"
    r"هستم|کنم|हूँ|हूं|करता|करती|करते|দেখছি|করছি",
    r"(?:le|bus|borr|ejecut|hag|cre|invi|mand|env[ií]|consult|verific|revis|us|llam|abr|escrib|comprueb|elimin|mir|empiez|proced|"
    r"invoc|legg|cerc|cancell|controll|esegu|apr|scriv|chiam|guard|lei|apag|execut|procur|faç|escrev|cham|"
    r"exclu)o(?= (?:l[ao]s?|el|un[ao]?|il|i|le|gli|o|a|os|as|uma?|a|ora|ahora|agora|ya|subito|já|"
    r"enseguida)(?!\w)|\W*\Z)|eseguo|leggo|leio|hago|faccio|faço|procedo",
    r"(?:ley|borr|busc|ejecut|elimin|consult|abr|escrib|comprob|revis|cre|llam|lend|apag|procur|execut|verific|"
    r"legg|cerc|esegu|cancell|cham|escrev|exclu|obten|inici|le|analiz|calcul|descarg|baix)(?:[aei]ndo|iendo|"
    r"yendo)",
    r"(?:lese|lösche|suche|prüfe|führe|rufe|öffne|schreibe|schaue|hole|starte|beginne|mache|frage|erstelle|"
    r"ändere)",
)
# Words at the beginning of a sentence that takes an order, asks to wait, or continues.
OPENINGS = _opening(
    r"ok(?:ay|ey)?|k|sure|surely|yes|yep|yeah|yup|alright|all right|right|fine|great|good|nice|perfect|"
    r"excellent|understood|got (?:it|you)|gotcha|agreed|confirmed|of course|certainly|thanks|thank you|done|"
    r"on it|will do|hello|hi|hey|oh|ah|aye|roger|noted|deal|easy|simple|copy that|affirmative|very good|"
    r"sounds good|makes sense|say no more|leave it|off it goes|away with|with (?:that|this) (?:said|done|"
    r"known)|on (?:top of that|that note|my way)|likewise|please|ah|hm+|well|so|no(?=[,.;!:]|\W*\Z)|"
    r"no (?:problem|worries|time)|not (?:found|yet)|wait|hold on|hang on|stand(?:ing)? by|very well|"
    r"coming(?: right)? up|as (?:you|requested|asked|promised|agreed|planned|before)|here(?:['’]s)?|happy to|"
    r"glad(?:ly)?|my pleasure|with pleasure|about to|up next|up first|good idea|you(?:['’]re)?|it|there|this|"
    r"that|these|those",
    r"in (?:short|that case|the meantime|a moment|order|parallel|one go|brief|return|fact|addition|turn|total|"
    r"progress)|at (?:once|first|last|your|the same time)|to (?!be\b|whom\b)(?:begin with|start with|\w+)|"
    r"thereafter|my turn|(?:for|with|via|using|since|because|by \w+ing|once)(?= )|back to|on to|under ?way|"
    r"from (?:here|now|the top|the start|scratch)|just|set to go|first off|one (?:more|last|down|by)|last one|"
    r"the (?:last|other|next|first|second) (?:one|part)?|(?:the )?same|both|another|all of|still|(?!reported|alleged|"
    r"supposed|original|anonymous|sad|funni|weird|iron|multip|hardly|rep|famous|typical|usual)\w{3,}ly",
    r"(?:and|but|plus|one|two|three|four|five|six|seven|eight|nine|ten)(?=\W*\Z)|therefore|thus|hence|however|"
    r"instead|besides|anyway|furthermore|moreover|meanwhile|also|too|plus|otherwise|onwards?|ready|go|start|"
    r"begin|next|now|then|again",
    # German
    r"einen (?:moment|augenblick)|(?:moment|augenblick|sekunde)(?:chen)?|kein problem|in ordnung|alles klar|"
    r"klar|gut|gerne?|natürlich|selbstverständlich|einverstanden|verstanden|sofort|also|ja|los|weiter|ok|"
    r"sicher|danke|bitte|wird erledigt|als (?:erstes|nächstes|letztes)|dazu|damit|um(?= )|im (?:ersten|"
    r"nächsten|zweiten)",
    # French
    r"d['’]accord|bien|oui|parfait|entendu|voici|voilà|très bien|alors|donc|(?:un|une) (?:instant|moment|"
    r"seconde)|pas de (?:problème|souci)|c['’]est (?:parti|bon|noté)|tout de suite|immédiatement|patientez|"
    r"merci|compris|(?:pour|avec|afin)(?= )",
    # Spanish, Italian, Portuguese
    r"claro|de acuerdo|bien|sí|vale|perfecto|entendido|por supuesto|aquí|así|un (?:momento|segundo|instante)|"
    r"sin problemas?|enseguida|en seguida|manos a la obra|espera|gracias|(?:para|con)(?= )|certo|va bene|"
    r"d['’]accordo|bene|sì|perfetto|ecco|quindi|un (?:attimo|secondo|momento)|nessun problema|subito|capito|"
    r"grazie|per(?= )|tudo bem|sim|perfeito|aqui|então|um (?:momento|segundo|instante)|sem problemas?|já|"
    r"imediatamente|obrigad[oa]|entendi",
    # Dutch, Swedish, Norwegian, Danish, Finnish
    r"natuurlijk|goed|prima|oké|ja|begrepen|hier|dus|(?:een )?(?:momentje?|ogenblik(?:je)?|seconde)|"
    r"geen probleem|meteen|visst|självklart|okej|bra|inga problem|genast|strax|ett (?:ögonblick|moment)|"
    r"selvfølgelig|naturligvis|greit|godt|fint|ingen problem|intet problem|et (?:øjeblik|øyeblikk)|straks|"
    r"selvä|hyvä|kyllä|hetki(?:nen)?|ei ongelmaa|heti|toki",
    # Polish, Czech, Slovak, Hungarian, Romanian
    r"oczywiście|dobrze|tak|jasne|chwil(?:a|ę|eczkę)|bez problemu|już|zaraz|proszę|rozumiem|jasně|dobře|dobre|"
    r"ano|áno|samozřejmě|samozrejme|chvilku|okamžik|bez problémov?ů?|hned|hneď|prosím|rozumím|persze|rendben|"
    r"igen|(?:egy )?pillanat|nincs gond|azonnal|rögtön|máris|sigur|bine|da|un moment|o clipă|nicio problemă|"
    r"imediat|desigur",
    # Russian, Ukrainian, Bulgarian, Croatian
    r"конечно|хорошо|да|ладно|понятно|готово|вот|итак|секунд(?:у|очку)|минут(?:у|ку|очку)|момент|без проблем|"
    r"сразу|подождите|отлично|звичайно|добре|так|хвилин(?:у|ку)|одразу|разбира се|naravno|dobro|u redu|"
    r"trenutak|nema problema",
    # Turkish, Greek
    r"tamam|elbette|tabii|peki|evet|bir (?:saniye|dakika|an)|sorun değil|hemen|bekleyin|anladım|εντάξει|βέβαια|"
    r"φυσικά|ναι|(?:μια )?στιγμή|κανένα πρόβλημα|αμέσως|ωραία",
    # Arabic, Hebrew, Persian, Urdu, Hindi, Bengali
    r"حسن[اًا]+|نعم|بالتأكيد|تمام|لحظة|ثانية|لا مشكلة|فور[اًا]+|طبعا|بسم الله|בסדר|כן|בטח|רגע|שנייה|אין בעיה|"
    r"מיד|כמובן|باشه|بله|حتما|(?:یک )?لحظه|مشکلی نیست|ٹھیک|جی|ایک (?:منٹ|لمحہ)|ठीक|हाँ|ज़रूर|एक (?:क्षण|मिनट|"
    r"सेकंड)|कोई बात नहीं|ঠিক|হ্যাঁ|এক (?:মিনিট|মুহূর্ত)",
    # Indonesian, Vietnamese, Tagalog, Swahili
    r"baik|ya|tentu|sebentar|tunggu|tidak masalah|segera|oke|được|vâng|chờ|một (?:chút|lát)|không sao|để(?= )|"
    r"sandali|sige|opo?|walang problema|sawa|subiri",
)
# Words for what is done and for its place in an order, and verbs of need.
ACTIONS = _words(
    r"calls?|calling|tools?|functions?|actions?|steps?|(?:sub-?)?tasks?|phases?|stage \w+|invocations?|"
    r"operations?|commands?|plans?|attempts?|(?:another|next|second|third|last|final|more|quick) try|retry|"
    r"tr(?:y|ying) (?:again|it)|checks?|checked|look|lookups?|search|query|approach|strategy|decision|"
    r"thoughts?|thinking|reasoning|analysis|conclusion|\A(?:\w+ )?answers?(?! key)|"
    r"\A(?:assistant|ai)(?=\W*\Z)|(?<![.\w])json|xml|"
    r"python|clean-?up|fallback|workaround|(?:the|a) fix|solution in|required|taken|housekeeping|to-?do|goal|"
    r"(?:item|part|round|turn|job|iteration|run|pass|batch|move|number|no\.?) ?(?:\d+|one|two|three|[a-c])|"
    r"weather|(?<!golden )files?|folders?|director(?:y|ies)",
    r"(?:dele|execu|verifica|confirma|valida|crea|inspec|investiga|explora|calcula|computa|conver|installa|"
    r"modifica|prepara|collec|evalua)(?:tion|sion)|removals?|retrievals?|updates?|research|now|next|then|"
    r"first(?:ly)?|second|third|finally|lastly|final|after(?: that|wards)?|again|once more|more|(?:right|"
    r"straight) away|immediately|quick(?:ly)?|ready|going|goes|time (?:to|for)|\w+ time|moment|ahead|"
    r"continu\w+|proceed\w*|start(?:s|ing)?|remaining|still missing|missing (?:\w+ )?(?:information|data|"
    r"details?|piece|value)|(?:information|data|details?) (?:needed|first|required)|your (?:file|request|wish|"
    r"order|turn)",
    r"need(?:s|ed)?|requires?|require|wants?|wanted|must|should|calls for|means deleting|is (?:old|gone|"
    r"missing|empty|stale)|has to|have to",
    r"\A(?:delete|remove|read|write|open|list|find|get|fetch|load|run|execute|create|update|edit|save|move|"
    r"rename|send|count|compute|calculate|verify|clean|clear|install|build|fix|add|ask|post|copy|"
    r"name)s?(?! of\b| from\b| by\b)(?= \w|\W*\Z)(?! aloud)",
    # German
    r"\w*datei(?:en)?|\w*ordner|\w*aufruf|\w*werkzeug\w*|\w*schritt|aktion|(?!haus)\w*aufgabe|suche|abfrage|"
    r"jetzt|nun|dann|danach|zuerst|zunächst|erst(?:ens)?|als nächstes|nächste[rs]?|schließlich|zuletzt|nochmal|"
    r"noch einmal|löschen|lesen|schreiben|suchen|öffnen|ausführen|prüfen|holen|(?:wird|werden) \w+|moment",
    # French
    r"fichiers?|dossier|appel|outil|étape|action|tâche|recherche|maintenant|ensuite|puis|d['’]abord|"
    r"premièrement|deuxièmement|enfin|après|encore|vérification|suppression|exécution|suivante?|prochaine?",
    # Spanish, Italian, Portuguese
    r"archivos?|ficheros?|carpeta|llamada|herramienta|paso|acción|tarea|búsqueda|ahora|luego|después|primero|"
    r"en primer lugar|en segundo lugar|permítame|finalmente|por último|otra vez|a continuación|siguiente|"
    r"próxim[oa]|cartella|chiamata|strumento|passo|passaggio|azione|compito|ricerca|ora|adesso|poi|dopo|prima|"
    r"infine|ancora|prossim[oa]|arquivos?|ficheiros?|pasta|chamada|ferramenta|etapa|ação|tarefa|busca|pesquisa|"
    r"agora|depois|primeiro|em seguida|por fim|novamente",
    # Dutch, Swedish, Norwegian, Danish, Finnish
    r"bestand(?:en)?|aanroep|gereedschap|stap|actie|taak|zoekopdracht|nu|dan|daarna|eerst|ten eerste|"
    r"om te beginnen|hier is|ten slotte|nogmaals|volgende|verwijder(?:en)?|voer|lees|zoek|lezen|zoeken|"
    r"fil(?:en|er|erna|ene)?|mapp(?:e|en|er)?|anrop(?:et)?|kald(?:et)?|kall(?:et)?|för det första|"
    r"for det første|verktyg|verktøy|værktøj|steg|trin|trinn|nå|sedan|derefter|deretter|först|først|nästa|"
    r"neste|næste|igen|igjen|tiedosto\w*|kansio\w*|kutsu|työkalu\w*|vaihe|nyt|sitten|ensin|seuraava",
    # Polish, Czech, Slovak, Hungarian, Romanian
    r"plik\w*|folder|wywołanie|oto|narzędzi\w*|krok|teraz|potem|następn\w*|najpierw|po pierwsze|kolejn\w*|"
    r"soubor\w*|složk\w*|volání|volanie|nástroj\w*|teď|potom|pak|nejprve|nejdřív|další|ďalší|súbor\w*|fájl\w*|"
    r"hívás|eszköz\w*|lépés|most|aztán|először|következő|fișier\w*|apel|unealt\w*|pas(?:ul)?|acum|apoi|întâi|"
    r"următor\w*|moment",
    # Russian, Ukrainian, Bulgarian, Croatian
    r"файл\w*|папк\w*|вызов\w*|инструмент\w*|шаг|действие|задача|поиск|сейчас|теперь|затем|потом|сначала|"
    r"во-первых|прежде всего|наконец|снова|следующ\w*|далее|дальше|ещё|виклик|інструмент\w*|крок|зараз|тепер|"
    r"потім|спочатку|наступн\w*|далі|стъпка|сега|първо|следващ\w*|korak|sada|onda|prvo|poziv|alat|datotek\w*|"
    r"sljedeć\w*",
    # Turkish, Greek
    r"dosya\w*|klasör\w*|çağrı\w*|araç|adım|şimdi|sonra(?:ki)?|önce|öncelikle|ilk olarak|tekrar|devam|αρχείο|"
    r"κλήση|εργαλείο|βήμα|τώρα|μετά|πρώτα|επόμεν\w*",
    # Arabic, Hebrew, Persian, Urdu, Hindi, Bengali
    r"(?:[ول]?ال|بال)?(?:ملف|استدعاء)|(?:ال)?أداة|(?:ال)?خطوة|الآن|ثم|أول[اًا]+|التالية?|ה?קובץ|בקובץ|ה?קריאה|"
    r"ה?כלי|שלב|עכשיו|אז|קודם|הבאה?|فایل|ابزار|مرحله|حالا|اکنون|سپس|ابتدا|بعدی|اب|پہلے|پھر|अब|फिर|पहले|चरण|"
    r"फ़ाइल|कॉल|अगला|এখন|পরবর্তী|প্রথমে",
    # Indonesian, Vietnamese, Tagalog, Swahili
    r"berkas(?:nya)?|panggilan(?:nya)?|langkah|sekarang|kemudian|lalu|pertama|berikutnya|selanjutnya|me(?:n|m|"
    r"ng)\w+(?:kan|ca|us|ri|ksa)|tệp|gọi|công cụ|bước|bây giờ|tiếp(?: theo)?|sau đó|trước tiên|ngay|ngayon|"
    r"susunod|sasa|hatua|kisha",
)
# The first person, and what is done at once, in scripts without spaces between the words.
UNSPACED_PERSON = _parts(
    r"(?<!あり)ます|ましょう|してみ|それでは|今から|さっそく|中\W*\Z|(?<![입습])니다\W*\Z|게요|겠|하자|볼까요|"
    r"我(?!的)|让我|讓我|我们|我們|现在|現在|正在|接下来|接下來|马上|馬上|立即|这就|這就|开始|開始|一下|稍等|お待ち|기다려|"
    r"ฉัน|ผม|กำลัง",
)
# Words for what is done, in the same scripts.
UNSPACED = _parts(
    # Japanese
    r"(?<!あり)ます|ましょう|してみ|する\W*\Z|まず|次[はにの]|それでは|では|はい|今から|ツール|呼び出し|ステップ|手順|"
    r"ファイル|フォルダ|了解|承知|わかりました|少々|お待ち|問題ありません|すぐ|続けて|続い|さっそく|もう一|"
    r"最後|中\W*\Z|[一二三]つ目|検索|取得|削除|読み込|読み取",
    # Korean
    r"(?<![가이은는도] [있없]습)니다\W*\Z|게다\W*\Z|게요|겠어요|하자|"
    r"먼저|다음|이제|지금|네\W|좋아요|알겠|단계|도구|호출|파일|폴더|작업|잠시|"
    r"잠깐|문제없|확인|검색|조회|실행|삭제|계속|바로|마지막|다시",
    # Chinese
    r"我(?!的)|让我|讓我|我们|我們|现在|現在|先|首先|然后|然後|接下来|接下來|接着|最后|最後|正在|好的?\W*|"
    r"行\W*\Z|可以|没问题|沒問題|当然|當然|明白|开始|開始|马上|馬上|立即|这就|這就|继续|繼續|再|一下|稍等|请稍|"
    r"下一|看看|试试|第[一二三四五六七八九十\d]+步|步骤|步驟|调用|調用|呼叫|工具|执行|執行|运行|運行|读取|讀取|"
    r"查看|检查|檢查|搜索|搜尋|查询|查詢|删除|刪除|写入|寫入|打开|打開|创建|文件夹|目录",
    # Thai
    r"ฉัน|ผม|กำลัง|จะ|ก่อน|ตอนนี้|ขั้นตอน|ได้เลย|รอสักครู่|สักครู่|ไม่มีปัญหา|ต่อไป|ถัดไป|ขอ",
)
# Nouns for texts, which do not announce a call.
TEXTS = _words(
    r"verses?|sentences?|words?|paragraphs?|editions?|quotes?|quotations?|citations?|jokes?|riddles?|poems?|"
    r"transcripts?|screenshots?|mocks?|rumou?rs?|labels?|stickers?|posters?|banners?|slogans?|mottos?|puzzles?|"
    r"exercises?|lessons?|quiz(?:zes)?|"
    r"trivia|lyrics|songs?|graffiti|billboards?|subtitles?|captions?|tickets?|bug reports?|issues? #?\d+|faq|"
    r"glossary|vocabulary|proverbs?|sayings?|anecdotes?|story|tale|scene|dialogues?|monologues?|tweets?|posts?|"
    r"memes?|headlines?|headers?|footers?|watermarks?|inscriptions?|epitaphs?|recipes?|classic|prank|dreams?|"
    r"(?<!good )(?<!great )(?<!nice )ideas?|mistakes?|hints?|hoax|facts?|myths?|legends?|fiction|patterns?|"
    r"spellings?|variants?|definitions?|idiom|phrase|memo|voicemail|fax|telegram|letter|flyer|leaflet|brochure|"
    r"advert|ad|press release|release notes|changelog|samples?|specimen|exhibit|illustration|demo|"
    r"demonstration|tutorial|homework|exam|test question|error message|docstring|reports?|\w+ lists?|"
    r"directions?|novels?|movies?|films?|books?|games?|readers?|students?|listeners|viewers|novices?|kids|"
    r"(?:expected|actual|model) (?:reply|answer|response|output|result|call)|"
    r"specimen|haikus?|limericks?|sonnets?|ballads?|fables?|parables?|epigraphs?|clues?|erreur|error|errore|"
    r"erro|fout|fehler|błąd|chybu|ошибку|figure \d+|fixture|metadata|disclaimer|specification|signature",
)
# Texts that others gave or showed to the model.
GIVEN = _words(
    r"(?:i|we) (?:was|were|got|am|are) (?:shown|told|given|sent|taught)",
)
# Acts of others with a text, after a subject that is not the model, and places where a text was found.
SHOWN_BY = _words(
    r"(?!\A)(?:(?:repeat|whisper|shout|think|sing|emit|output|mutter|murmur|mumble|yell|scream|joke|claim|"
    r"believe|insist|argue|display|print|recommend|suggest|advise|prefer|type|quote|recite|pretend|hallucinate|"
    r"post|dictate|beep|chant|reply|invent|dream|keep|keeps \w+)s?(?:ed|d)?|thought|sang|swears?(?: by)?|swore|"
    r"teach(?:es)?|taught|shows?|showed|begins|began|begun|(?:open|start|end|close)s?(?:ed)? with|tells?|told|"
    r"looks like|looked like|made up|sends?|sent|writes?|wrote|says?|(?<!that )said|is what|was what|knows as|"
    r"had|produces?d?|spat out|gives|match(?:es)?|allows?|sees|saw|receives?d?|expects?|accepts?|equals?|rejects?|"
    r"returns?|(?:that|which) (?:was|were|had been|got) \w+)",
    r"\A(?:spot|study|consider|notice|note|grade|guess|memori[sz]e|recall|compare|contrast|behold|observe|"
    r"repeat|recognise|count|imagine|solve)(?: the)? (?!file|folder|it\b|first|next|call)[\w]+.*|\A(?:fix this|"
    r"(?:read|lies)(?: \w+)? (?:aloud|laut))\b.*|\A(?!laissez|permettez|patientez)\w{3,}ez\b.*|.* (?:in|of|"
    r"from|into|like|about|as|(?<!stand )by|than)\W*\Z"
    # The call completes the sentence: "The expected call is", "It shows an agent calling".
    r"|\A(?!.*\b(?:next|first|now)\b).* (?:is|was|are|were|be|ist|war|est|es|è|é|er|är|jest|lautet|reads|"
    r"calling|running|executing|sending|issuing|emitting|invoking)\s*\Z",
    r"\A(?:this|that|these|those|the (?:first|second|other|former|latter))(?: one)? "
    r"(?:do|does|did|is|are|was|were|will|would|can|could|has|have)(?:n['’]t| not)?\W*\Z",
    r"(?:agent|model|assistant|bot|attacker|student|colleague|other \w+|llm|claude|gemini)['’]s? (?:\w+ ){0,3}\w+",
    r"\A(?:printed|written|found|seen|taken|posted|stored|carved|spotted|overheard|recovered|attributed|"
    r"recorded|generated|scribbled|hidden|leaked|scraped|saved|cached|copied|quoted|pasted|translated|engraved|"
    r"etched|painted|heard|published|forwarded|submitted|reported|collected|captured|logged|archived|typed|"
    r"sent|received|displayed|shown|said|told|borrowed|stolen|adapted|dictated|mumbled|sung|signed|stamped|"
    r"embroidered|tattooed|discovered|retrieved|extracted|exported|imported|dumped|pinned|lifted|transcribed|"
    r"buried|tweeted|mentioned|encoded|embedded|left|read) (?:on|in|into|by|from|at|under|over|to|for|as|with|"
    r"aloud|out|off|among|inside|near|behind|above|below|through|yesterday|earlier|here|there|today|last)",
)
# How a sentence below a call begins that describes the call.
EXPLAINED = _opening(
    r"\W*(?:this|that|it|the (?:above|call|text|line|example|block)(?: above)?|above)(?: call| text|"
    r" line)? (?:is|was|would be|looks|shows|illustrates|demonstrates|appears|appeared|stood|came|"
    r"comes)(?: only| just| merely| simply| exactly)? (?:what|how|an?(?= (?!(?:quick|first|small|safe|"
    r"necessary|good|single)\b))|only|not|never|illustrat\w*|for illustration|for example|from|in|on|"
    r"the (?:text|syntax|format|line|example|quote|label|motto|joke|riddle))|\W*(?:please )?(?:do not|don['’]t|"
    r"never) (?:run|call|execute|use|send|copy|type|do)|\W*(?:quoted|copied|taken|quote|excerpt|source|from|"
    r"figure|listing|example|adapted|translated|credit)(?: \d+)?(?: \w+|:)|"
    r"\W*(?:(?:no|wait|but|sorry|actually|stop|oh),?:? )*"
    r"(?:i (?:would|will|did|do|have|can|should|must)(?: ?not|n['’]t)|i won['’]t|(?:i am|i['’]m) not (?:going|allowed) "
    r"to|i refuse to) (?:(?:actually )?(?:run|call|execute|use|send|do)\b|\w+ (?:it|this|that|them))|"
    r"\W*(?:ignore|disregard) (?:this|that|the above|it)",
    # German, French, Spanish, Italian, Portuguese
    r"\W*(?:das|dies|so) (?:ist|war|wäre|sieht|stand|steht)(?: nur| bloß| lediglich)? (?:was|wie|ein|eine|nur|"
    r"kein|nicht|der|die|das|auf|in|im)|\W*(?:bitte )?(?:führ|ruf)\w* (?:das|dies|es) nicht|\W*(?:c['’]est|"
    r"c['’]était|ceci est|voilà) (?:ce que|comment|un|une|seulement|juste|à quoi|le)|\W*n['’](?:exécut|appel|"
    r"envoy)ez pas|\W*(?:esto|eso|así) (?:es|era|fue|sería)(?: solo| sólo)? (?:lo que|como|un|una|solo|el)|"
    r"\W*no (?:lo )?(?:ejecut|llam|env)\w*|\W*(?:questo|questa|così) (?:è|era|sarebbe)(?: solo)? (?:ciò|come|"
    r"un|una|solo|il)|\W*non (?:esegu|chiam)\w*|\W*(?:isto|isso|assim) (?:é|era|foi|seria)(?: só|"
    r" apenas)? (?:o que|como|um|uma|apenas)|\W*não (?:execut|cham)\w*",
    # Russian, Chinese, Japanese, Korean
    r"\W*(?:это|так) (?:был[ао]? |лишь |только )?(?:то, что|пример|как|лишь|только|выгляд\w*|не)|"
    r"\W*не (?:запуска|выполн|вызыва)\w*|\W*(?:这|這|以上|上面)(?:只|就|仅|便)?(?:是|为)|\W*(?:不要|请勿|別|"
    r"别)(?:运行|執行|执行|调用)|\W*(?:これ|上記|以上)(?:は|が)|\W*(?:이것은|위는|위의)",
)
