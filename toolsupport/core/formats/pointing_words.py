"""Sentences before a call that only show it: questions, waits for a permission, and "It is written thus".

The words for "thus" and "as follows" are a closed class: each language has a few.
"""

from __future__ import annotations

import re

_ASKS = r"(?:[?？؟⁇‽](?!\w)|[\u0370-\u03ff\u1f00-\u1fff]\s?[;\u037e])"
QUESTION = re.compile(_ASKS)
ASKED = re.compile(_ASKS + r"[*_)\"'’”»\s]*\Z")
PERMISSION = re.compile(
    r"\b(?:once|when|if|after|unless|until|(?:as soon|as long) as) you(?:['’]ve| have)? "
    r"(?:confirm|agree|approve|allow|permit|accept|consent|say (?:so|yes)|give)"
    r"|\b(?:could|would|can)\b[^.!?]{0,40}\bif you (?:want|like|wish|say)\b"
    r"|\b(?:needs?|want|await|wait(?:ing)? for|without|give me) your (?:\w+ )?"
    r"(?:permission|approval|consent|confirmation|go-ahead|ok)\b"
    r"|\b(?:sobald|wenn|falls|nachdem) (?:sie|du|ihr)\b[^.!?]*(?:zustimm|bestätig|erlaub|genehmig|einverstanden)"
    r"|\b(?:dès que|si|quand|lorsque) (?:vous|tu)\b[^.!?]*(?:confirm|autoris|approuv|accept|d['’]accord)"
    r"|\b(?:si|cuando|en cuanto|una vez que|se|quando|assim que|una volta che|non appena)\b[^.!?]*"
    r"(?:permiso|permesso|permissão|confirm[aei]|conferm[aei]|autoriz|autorizz|aprueb|aprov|approv)"
    r"|\b(?:если|когда|как только|якщо|коли)\b[^.!?]*(?:подтверд|разреш|соглас|підтверд|дозвол)"
    r"|\b(?:jeśli|gdy|kiedy|jak tylko|pokud|jakmile|až)\b[^.!?]*(?:potwierd|zgodz|pozwol|potvrd|souhlas|povol)"
    r"|(?:如果|等|待|一旦|只要)[^。！？]{0,12}(?:同意|确认|確認|允许|允許|批准|许可)"
    # "Please confirm."
    r"|(?:\b(?:please|kindly|bitte|veuillez|merci de|s['’]il (?:vous|te) pla[iî]t|por favor|per favore|si prega|proszę|"
    r"пожалуйста|будь ласка|lütfen|vui lòng|xin|mohon|tolong|silakan|graag|alstublieft|vänligen|snälla|vennligst|"
    r"venligst|ole hyvä|prosím|kérem|kérjük|vă rog|παρακαλώ|يرجى|الرجاء|من فضلك|נא|בבקשה|कृपया|لطفا)\b|请|請|กรุณา|โปรด)"
    r"[^.!?。！？]{0,30}(?:confirm|approv|agree|allow|bestätig|genehmig|zustimm|autori[sz]|aprueb|aprov|conferma|"
    r"potwierdz|potvrď|potvrd|подтверд|разреш|підтверд|确认|確認|批准|同意|التأكيد|تأكيد|الموافقة|אשר|onayla|xác nhận|"
    r"konfirmasi|setuju|bevestig|bekräft|bekreft|bekræft|vahvist|erősít|επιβεβ|पुष्टि|تایید|تأیید|ยืนยัน)"
    r"|\b(?:confirma|confirme|bestätig\w*|vahvista|potvrďte|conferma|confirm|approve)\b"
    r"[^.!?]{0,30}\b(?:first|zuerst|vorher|antes|primero|prima|ensin|first|erst|d['’]abord)\b"
    r"|(?:承認|許可|確認)してください|(?:승인|확인|허락)해 ?주"
    r"|(?:許可|承認|同意)(?:をいただ|いただ|があれば|してくだされば|され(?:たら|れば))|(?:허락|승인|동의)하(?:시|면)",
    re.I,
)
LOOKS = (
    r"(?:ressembl|présent|s['’]écri|se (?:ve|vería|escrib|hace)|luce|appar|si (?:present|scriv)|fica|ficaria|ziet|"
    r"ser\b|se[er]r? ut|näyt|wygląd|vypad|vyzer|выгляд|вигляд|пишет|μοιάζει|görün|arată|néz ki)"
)
CALL = (
    r"(?:appel|llamad|chiamat|chamad|aanroep|anrop|kald|kall|kutsu|wywołani|volání|volanie|вызов|виклик|κλήση|çağrı|"
    r"apel|hívás)"
)
# The first person in languages without spaces between the words.
WILL = re.compile("我(?!的)|하겠|게요|ましょう")
# "Thus", "as follows", "the following" and "this is how", in many languages.
THUS = re.compile(
    r"(?<!\w)(?:(?<=\w )thus|(?:like|as) (?:this|so|that|follows)|(?:the|with|this) following|(?<!call is )below|"
    r"(?:in )?(?:this|that) (?:way|manner|form|shape)|"
    r"(?:has|have|is|are) (?:this|the same) (?:form|format|structure)|"
    r"what follows|(?:with|is|are) an? (?:sample|example|illustration|excerpt|listing)(?=\W*\Z)|"
    r"(?:old|new|right|wrong|correct|usual) (?:syntax|notation|form|format)|"
    r"(?:this|that|here) is (?:how|what|taken|copied|quoted|from|"
    r"the (?:\w+ )?(?:notation|syntax|form|format|shape|pattern|spelling|layout|structure|grammar))|"
    r"(?:that|this|it) would be (?:the|an?|my|your)|(?:is|are) (?:this|these)(?=\W*\Z)|"
    r"(?:this|that|such a) (?:sort|kind)|take (?:this|the following)(?: (?:one|call|example))?(?=\W*\Z)|"
    r"(?:replace|substitute|adjust|adapt|swap)\b[^.!?\n]* (?:with|to|for|by) your|fill in your|"
    r"(?:reply|respond|answer)(?: \w+ly)? with(?: \w+ly| just)?(?=\W*\Z)|"
    r"(?:type|enter|paste)(?: (?:this|that|the following)\b[^.!?\n]*)?(?=\W*\Z)|"
    r"(?:here|there) (?:you|we|one) (?:can )?(?:see|find|have)|"
    # German, Dutch, Swedish, Norwegian, Danish, Icelandic
    r"so \w+(?:t|en|e) (?:man|das|es|ein\w*|der|die)|so (?:lautet|sieht|wird|geht|steht)|wie folgt|folgend\w*|"
    r"(?:auf |in )?(?:diese[rs]?|dieser) (?:weise|art|form|gestalt)|untenstehend\w*|zo \w+ (?:je|men|het|dat|een)|"
    r"zo(?: wordt| ziet| gaat)|als volgt|er zo uit|het volgende|på (?:detta|denne|dette) (?:sätt|måte|måde|vis)|"
    r"(?:så|sån) här|följande|slik|sådan|således|følgende|svona|þannig|"
    # French, Spanish, Italian, Portuguese, Catalan, Romanian
    r"ainsi|comme (?:ceci|cela|ça|suit)|de (?:cette|telle) (?:manière|façon|sorte)|ci-dessous|(?:la|le) suivante?|"
    r"(?:ceci|cela)(?=\W*\Z)|(?:c['’]est|voici|voilà) (?:comme|comment|ce que|la forme|le format|la syntaxe)|"
    r"voilà l[ae] (?:forme|syntaxe|notation|format)|así|como sigue|(?:el|la|lo) siguiente|"
    r"de (?:esta|este) (?:forma|manera|modo)|così|come segue|(?:il|la) seguente|in questo modo|ha questo aspetto|"
    r"quest[oa](?=\W*\Z)|assim|(?:o|a) seguinte|d?est[ae] (?:forma|maneira)|est[ae](?=\W*\Z)|ist?o(?=\W*\Z)|"
    r"així|com segueix|așa|astfel|după cum urmează|următo(?:rul|area)(?=\W*\Z)|"
    # Finnish, Estonian, Hungarian, Turkish, Greek
    r"näin|tältä|seuraavasti|seuraavanlai\w+|tällä tavalla|seuraava(?=\W*\Z)|niimoodi|järgmis(?:elt|ne)|így|"
    r"következőképp\w*|ilyen\w*|a következő(?=\W*\Z)|[bş]öyle\w*|şu şekilde\w*|aşağıdaki\w*|έτσι|ως εξής|"
    r"(?:ο|η|το) εξής|παρακάτω|"
    # Polish, Czech, Slovak, Russian, Ukrainian, Bulgarian, Croatian, Lithuanian, Latvian
    r"tak(?: to)? (?:się|wygląda|to)|(?<=\w )tak(?=\W*\Z)|następując\w*|w ten sposób|takhle|takto|"
    r"následující(?=\W*\Z)|následovně|nasledovne|t(?:í|ý)mto (?:způsobem|spôsobom)|так(?= \w+)|(?<=\w )так(?=\W*\Z)|"
    r"так(?:ой|ая|ое|ов|ий|а|е)(?=\W*\Z)|"
    r"вот так\w*|"
    r"следующ(?:им образом|ий|ая|ее)(?=\W*\Z)|ось так\w*|наступн(?:им чином|ий|а)(?=\W*\Z)|така|ovako|"
    r"na ovaj način|šitaip|taip|šādi|"
    # Arabic, Hebrew, Persian, Urdu, Hindi, Bengali
    r"هكذا|كما يلي|كالتالي|(?:هو|هي) التالية?|على هذا النحو|כך|ככה|כדלקמן|באופן הבא|چنین|این‌?گونه|به این (?:شکل|صورت)|"
    r"به شرح زیر|ایسے|اس طرح|ऐसे|ऐसा|इस (?:तरह|प्रकार)|निम्न\w*|এভাবে|এরকম|"
    # Vietnamese, Indonesian, Tagalog, Swahili
    r"như (?:vậy|sau|thế|này)|begini\w*|seperti (?:ini|itu|berikut)|sebagai berikut|berikut ini|ganito|hivi|"
    r"kama ifuatavyo)(?!\w)"
    # "An excerpt of …"
    r"|\A\W*(?:\w+ ){0,3}(?:excerpt|extract|extrait|extracto|estratto|extrato|auszug|отрывок|фрагмент|уривок|مقتطف|קטע|"
    r"alıntı|trích đoạn|cuplikan|uittreksel|utdrag|uddrag|ote|výňatek|wyciąg|fragmento?)(?!\w)|片段|摘录|抜粋|발췌"
    # Chinese, Japanese, Korean, Thai
    r"|这样|這樣|如下|以下|这么|這麼|こう(?:です|書|な|や|い)|この(?:よう|形)|次のよう|次のとおり|次の通り|以下の|"
    r"이렇|다음과 같|다음이 있|아래|"
    r"แบบนี้|เช่นนี้|อย่างนี้|ดังนี้|ดังต่อไปนี้"
    # "What a call looks like"; what a file looks like, a model may be about to see.
    rf"|\b(?:à quoi|comment|así|assim|cómo|come|como|zo|så här|så|sådan|slik|näin|tak|takto|jak|как|так|як|πώς|nasıl|"
    rf"cum|hogyan|így)\b[^.!?\n]{{0,30}}?(?:{LOOKS}[^.!?\n]{{0,30}}?{CALL}|{CALL}[^.!?\n]{{0,30}}?{LOOKS})",
    re.I,
)
