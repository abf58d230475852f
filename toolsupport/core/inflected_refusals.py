"""Recognises refusals of tools in languages whose words change with what stands beside them.

Here a sentence counts where all of its words are listed: something that denies support, the word for tools, and what
may stand beside them. So "now", a plan, a route or the name of one tool limits the refusal to something else. A word
that may also mean one tool counts only beside a model.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from re import Match, Pattern

from toolsupport.core.server_refusal_patterns import MOST_MATCHES, UNSUPPORTED, RefusalRule


@dataclass(frozen=True, slots=True)
class SentenceWords:
    """`denied`, `tools`, `tool` (one or many), `model` and `beside` are patterns without groups that capture.

    `rare` is what every refusal in a language of the Latin alphabet holds and few other texts do.
    """

    denied: str
    tools: str
    model: str
    beside: str
    tool: str = r"(?!)"
    rare: str = ""


FOREIGN = r"(?:tools|functions|(?:tool|function)[ _-]?(?:calling|calls?|use))"
# A name with a size, a version or a maker: qwen2:0.5b, acme/base. Names of tools have underscores.
NAME = r"['`\"“”«»「」]?(?![a-z]*_)[a-z][\w./:@-]*[\d/:][\w./:@-]*['`\"“”«»「」]?"
ERROR = r"error|400|bad|request|invalid|parameter"
LONGEST_SENTENCE = 300

_WORDS = {
    "arabic": SentenceWords(
        r"(?:لا|لم) (?:[يت]دعم(?:ه|ها)?|[يت]قبل|يمكنه استخدام)|غير (?:مدعوم[ةه]?|متوافق[ةه]? مع)"
        r"|لا [يت]توافق مع",
        r"(?:ال|لل|بال|وال)?(?:أدوات|ادوات|دوال|وظائف)|الاستدعاء الوظيفي",
        r"(?:ال|لل|بال)?نموذج|نماذج",
        r"استدعاء(?:ات)?|استخدام|هذا|لهذا|المحدد|المختار|المطلوب|الحالي|في|من|قبل|مع|على|خطأ|عذرًا|عذرا|للأسف|نأسف|ميزة|خاصية|أي",
    ),
    "persian": SentenceWords(
        r"(?:پشتیبانی|حمایت) ن(?:می|شده)[\u200c ]?(?:کند|شود|است)?",
        r"(?<!این )(?:ابزار|تابع)[\u200c ]?ها(?:ی)?|(?<!این )توابع",
        r"مدل",
        r"این|از|در|توسط|فراخوانی|استفاده|برای|را|انتخاب[\u200c ]شده|خطا|قابلیت",
        r"(?<!این )(?:ابزار|تابع)",
    ),
    "hebrew": SentenceWords(
        r"(?:אינו|אינה|אינם|אינן|לא|איננו|איננה) (?:תומך|תומכת|תומכים|נתמך|נתמכת|נתמכים|נתמכות)|ללא תמיכה"
        r"|(?:אין|ללא) (?:לו )?תמיכה",
        r"(?:ה|ב|ל|של )?(?:כלים|פונקציות)|ב-?" + FOREIGN,
        r"(?:ה|ב|ל)?(?:מודל|דגם)",
        r"(?:ה|ב|ל)?(?:קריאה|קריאות|שימוש|הפעלת|קריאת)|זה|הזה|שנבחר|הנבחר|המבוקש|על ידי|עבור|של|את|שגיאה|עם"
        r"|לצערנו|מצטערים|סליחה",
    ),
    "hindi": SentenceWords(
        r"(?:समर्थन|सपोर्ट) नहीं (?:करता|करती|करते)|समर्थित नहीं|असमर्थित",
        r"टूल्स|टूलों|उपकरणों|फ़ंक्शंस|फंक्शंस|(?:टूल|फ़ंक्शन|फंक्शन|फ़ंक्शन) (?:कॉलिंग|कॉल्स|कॉल|उपयोग|का उपयोग)",
        r"(?:यह |इस |चयनित |चुना गया |चुने गए |वर्तमान )*मॉडल",
        r"का|की|के|को|में|द्वारा|लिए|है|हैं|करने|उपयोग|इस्तेमाल|त्रुटि|क्षमा करें|माफ़ करें|खेद है",
        r"टूल|उपकरण|फ़ंक्शन|फंक्शन|फ़ंक्शन",
    ),
    "bengali": SentenceWords(
        r"(?:সমর্থন|সাপোর্ট) করে না|সমর্থিত নয়",
        r"টুলস|টুলগুলি|(?:টুল|ফাংশন) (?:কলিং|কল|ব্যবহার)",
        r"(?:এই |নির্বাচিত )*মডেল(?:টি|ে|টিতে|টির)?",
        r"দ্বারা|জন্য|কে|ত্রুটি",
        r"টুল|ফাংশন",
    ),
    "thai": SentenceWords(
        r"(?:ยัง)?(?:ไม่(?:ได้)?(?:รับการ)?|ไม่สามารถ)(?:รองรับ|สนับสนุน)|ไม่สามารถใช้(?:งาน)?",
        r"(?:การ)?(?:เรียก(?:ใช้)?|ใช้(?:งาน)?)(?:เครื่องมือ|ฟังก์ชัน)",
        r"(?:โมเดล|แบบจำลอง)(?:(?:ที่เลือก|ปัจจุบัน|นี้))?",
        r"ใน|สำหรับ|โดย|กับ|ของ|ข้อผิดพลาด|การ|ใช้งาน|ความสามารถ|ฟีเจอร์|ขออภัย|ได้",
        r"เครื่องมือ|ฟังก์ชัน",
    ),
    "bulgarian": SentenceWords(
        r"не (?:се )?поддържа(?:т)?",
        r"инструменти(?:те)?|функции(?:те)?",
        r"модел(?:ът|а)?",
        r"този|избрания(?:т)?|извикване(?:то)?|използване(?:то)?|на|от|в|за|с|грешка",
    ),
    "serbo-croatian": SentenceWords(
        r"ne (?:podržava|podržavaju)|nije podržan[oa]?|nisu podržan[iea]|не (?:подржава|подржавају)"
        r"|није подржан[оа]?|нису подржан[иеа]",
        r"alat[aei]|alate|alatima|funkcija|funkcije|алат[аеи]|функциј[ае]",
        r"model(?:u|a|om)?|модел(?:у|а|ом)?",
        r"ovaj|ovom|ovim|ovog|odabrani|izabrani|pozivanje|pozive|korištenje|korišćenje|upotreb[ua]|za|u|na|od|strane"
        r"|овај|овом|изабрани|позивање|коришћење|за|у|на|greška|грешка",
    ),
    "catalan": SentenceWords(
        r"no (?:admet|accepta|suporta|permet)|no (?:és|són) compatibles?(?: amb)?"
        r"|no (?:està|estan) (?:admes[eo]?s?|suportad[ea]s?)",
        r"eines|funcions",
        r"models?",
        r"el|la|les|l'|aquest|seleccionat|escollit|amb|per|crid(?:a|ar|es)|a|en|ús|d'|de|al|error|ho",
        rare="no ",
    ),
    "malay": SentenceWords(
        r"tidak (?:menyokong|disokong)",
        r"(?:panggilan|penggunaan|memanggil) (?:alat|fungsi)",
        r"(?:model) (?:ini|yang dipilih)|model",
        r"oleh|untuk|ralat|ciri",
        r"alat|fungsi",
        rare="okong",
    ),
    "filipino": SentenceWords(
        r"hindi (?:sinusuportahan|sumusuporta|suportado)",
        r"mga (?:tool|function)\b(?! na ito)|(?:tool|function)[ -]calling",
        r"model(?:ong ito|o)?",
        r"ng|ang|sa|ito|na|napiling",
        rare="hindi ",
    ),
    "tamil": SentenceWords(
        r"ஆதரிக்காது|ஆதரிக்கவில்லை",
        r"கருவிகளை|கருவிகள்|செயல்பாட்டு அழைப்பை|tools-?ஐ",
        r"(?:இந்த )?(?:மாதிரி|மாடல்)",
        r"அழைப்பை|பயன்படுத்துவதை",
    ),
    "urdu": SentenceWords(
        r"(?:سپورٹ|حمایت) نہیں (?:کرتا|کرتی)",
        r"ٹولز|فنکشنز|(?:ٹول|فنکشن) (?:کالنگ|کال)",
        r"(?:یہ |منتخب )*ماڈل",
        r"کو|کی|کا|میں|ہے",
        r"ٹول|فنکشن",
    ),
}

_ENDS = re.compile(r"[.!?;](?= |$)|[。！？；।؟]")
_GAP = r"[\s,،:()\[\]'`\"“”«»-]"


@dataclass(frozen=True, slots=True)
class _Sentence:
    """Judges the sentence around a match."""

    words: SentenceWords
    whole: Pattern[str]

    def __call__(self, found: Match[str]) -> bool:
        text = found.string
        begin = max((end.end() for end in _ENDS.finditer(text, 0, found.start())), default=0)
        end = _ENDS.search(text, found.end())
        sentence = text[begin : end.start() if end else None]
        if len(sentence) > LONGEST_SENTENCE or not self.whole.fullmatch(sentence):
            return False
        many = re.search(rf"{self.words.tools}|{FOREIGN}", sentence)
        one = re.search(self.words.tool, sentence) and re.search(rf"{self.words.model}|{NAME}", sentence)
        return bool(many or one)


def _language(words: SentenceWords, spaced: bool) -> tuple[SentenceWords, Pattern[str], _Sentence]:
    """Build the pattern that is searched, and the judge of its sentence; without spaces words touch each other."""
    parts = (words.denied, words.tools, FOREIGN, words.model, words.tool, words.beside, ERROR, NAME)
    edge = rf"(?={_GAP}|$)" if spaced else ""
    # Possessive: a sentence that does not fit is left at once.
    whole = rf"{_GAP}*+(?>(?:{'|'.join(f'(?:{part})' for part in parts)}){edge}{_GAP}*+)++"
    return words, re.compile(words.denied), _Sentence(words, re.compile(whole))


_LANGUAGES = {name: _language(words, spaced=name != "thai") for name, words in _WORDS.items()}


class SentenceRule(RefusalRule):
    """Finds a refusal in one of these languages; most texts are in another one, and cost nothing."""

    def found(self, text: str) -> bool:
        plain = text.isascii()
        return any(
            words.rare in text and any(map(holds, islice(denied.finditer(text), MOST_MATCHES)))
            for words, denied, holds in _LANGUAGES.values()
            if words.rare or not plain
        )


SENTENCES = SentenceRule(UNSUPPORTED, "whole-sentence", re.compile(""))
