"""Refusals in languages whose sentences are read whole, and the same sentences limited to now, a plan or one tool."""

from __future__ import annotations

import json

from tests.processor_time import must_cost_at_most
from tests.tables import every
from toolsupport.core.server_refusals import MALFORMED, OTHER, UNSUPPORTED, classify

REFUSED = [
    "هذا النموذج لا يدعم استدعاء الأدوات.",
    "لا يدعم النموذج qwen2:0.5b استدعاء الدوال",
    "خطأ: الأدوات غير مدعومة من قبل النموذج",
    "המודל gemma:2b לא תומך בקריאות לפונקציות",
    "לצערנו המודל הזה אינו תומך בכלים",
    "यह मॉडल टूल्स का समर्थन नहीं करता",
    "मॉडल gemma:2b उपकरणों का समर्थन नहीं करता है।",
    "โมเดลนี้ไม่รองรับเครื่องมือ",
    "ขออภัย โมเดล gemma:2b ไม่รองรับการเรียกใช้ฟังก์ชัน",
    "Mô hình này chưa hỗ trợ gọi hàm",
    "Xin lỗi, tính năng gọi công cụ không được hỗ trợ cho mô hình này",
    "Maaf, model yang Anda pilih tidak dapat menggunakan alat",
    "Model ini belum mendukung pemanggilan fungsi",
    "Üzgünüz, bu modelin araç desteği yok",
    "Seçtiğiniz model araç çağırmayı desteklemiyor",
    "این مدل از ابزارها پشتیبانی نمی‌کند",
    "এই মডেলটি টুল সমর্থন করে না",
    "یہ ماڈل ٹولز کو سپورٹ نہیں کرتا",
    "இந்த மாதிரி கருவிகளை ஆதரிக்காது",
    "Този модел не поддържа извикване на функции.",
    "Ovaj model ne podržava pozivanje funkcija.",
    "El model no admet eines",
    "Model ini tidak menyokong panggilan fungsi",
    "Hindi sinusuportahan ng modelong ito ang mga tool",
]
LIMITED = [
    "هذا النموذج لا يدعم الأدوات حاليًا",
    "خطتك لا تدعم الأدوات",
    "لا يدعم النموذج الأداة read_file",
    "هذا النموذج لا يدعم استدعاء الأدوات المتوازي",
    "המודל אינו תומך בכלים כרגע",
    "הכלי read_file אינו נתמך",
    "यह मॉडल अभी टूल्स का समर्थन नहीं करता",
    "आपका प्लान टूल्स का समर्थन नहीं करता",
    "यह टूल समर्थित नहीं है",
    "โมเดลนี้ไม่รองรับเครื่องมือในขณะนี้",
    "เครื่องมือนี้ไม่รองรับ",
    "เส้นทางนี้ไม่รองรับเครื่องมือ",
    "Mô hình không hỗ trợ công cụ trong lúc này",
    "Mô hình không hỗ trợ gọi hàm song song",
    "Alat ini tidak didukung",
    "Model ini tidak mendukung alat untuk saat ini",
    "Bu model şimdilik araç çağırmayı desteklemiyor",
    "Bu uç nokta araçları desteklemiyor",
    "این مدل در حال حاضر از ابزارها پشتیبانی نمی‌کند",
    "В момента моделът не поддържа инструменти",
    "Model trenutno ne podržava alate",
]
PAGES = [
    f"<{tag}>this model does not support tools" for tag in ("article", "form", "noscript", "svg", "ol", "a href=/")
]
UNREADABLE = [
    "Model output is not a valid tool call",
    "Failed to generate a valid tool call",
    "Model emitted tool call with malformed arguments",
    "openai_harmony.HarmonyError: unexpected tokens remaining in message header",
]


def label(sentence: str) -> str:
    return classify(400, json.dumps({"error": {"message": sentence}}, ensure_ascii=False)).label


@every("sentence", REFUSED)
def test_a_sentence_that_is_a_refusal_as_a_whole(sentence: str) -> None:
    assert label(sentence) == UNSUPPORTED


@every("sentence", LIMITED)
def test_a_word_more_limits_it(sentence: str) -> None:
    assert label(sentence) == OTHER


@every("page", [*PAGES, f"HTTP/1.1 400 Bad Request\r\nServer: x\r\n\r\n{PAGES[0]}"])
def test_a_part_of_a_page_is_a_page(page: str) -> None:
    assert classify(400, page).label == OTHER


@every("sentence", UNREADABLE)
def test_the_model_wrote_a_call_that_no_server_reads(sentence: str) -> None:
    assert label(sentence) == MALFORMED


@every("words", ["لا يدعم ", "نهीं समर्थित नहीं ", "ไม่รองรับ", "no admet a a a a a ", "tools לא תומך "])
def test_a_long_text_costs_little(words: str) -> None:
    with must_cost_at_most(1):
        label(words * 2000)
