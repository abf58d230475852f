"""A refusal counts where its subject is the model and no word limits it to now; pages of gateways never count."""

from __future__ import annotations

import json

from tests.tables import every
from toolsupport.core.refusals import MALFORMED, MISCONFIGURED, OTHER, UNSUPPORTED, classify

NOW = [
    "This model does not currently support tools",
    "Tool calling is currently not supported for this model",
    "At present this model does not support tools",
    "For now, this model does not support function calling",
    "Tools are presently not supported by this model",
    "该模型暂不支持工具调用",
    "該模型暫不支援工具呼叫",
    "此模型暂未支持函数调用",
    "当前暂无法使用工具",
    "该模型目前不支持工具",
    "当前不支持工具调用",
    "現在、このモデルはツールをサポートしていません",
    "今のところこのモデルはツールに対応していません",
    "現時点ではこのモデルはツールをサポートしていません",
    "현재 이 모델은 도구를 지원하지 않습니다",
    "지금은 이 모델에서 도구를 사용할 수 없습니다",
    "Actuellement, ce modèle ne prend pas en charge les outils",
    "Ce modèle ne prend pas en charge les outils pour l'instant",
    "Ce modèle ne supporte actuellement pas les outils",
    "Derzeit unterstützt dieses Modell keine Werkzeuge",
    "Aktuell unterstützt das Modell keine Tools",
    "Dieses Modell unterstützt momentan keine Werkzeuge",
    "Actualmente este modelo no admite herramientas",
    "Por ahora el modelo no soporta herramientas",
    "Atualmente este modelo não suporta ferramentas",
    "Por enquanto, este modelo não suporta ferramentas",
    "Attualmente questo modello non supporta gli strumenti",
    "Per ora il modello non supporta gli strumenti",
    "Dit model ondersteunt op dit moment geen tools",
    "Ten model obecnie nie obsługuje narzędzi",
    "Na razie ten model nie obsługuje narzędzi",
    "В настоящее время модель не поддерживает инструменты",
    "Сейчас эта модель не поддерживает инструменты",
    "Наразі модель не підтримує інструменти",
    "Tento model momentálně nepodporuje nástroje",
    "V současné době tento model nepodporuje nástroje",
    "Bu model şu an araçları desteklemiyor",
    "Şimdilik bu model araçları desteklemiyor",
    "Hiện nay mô hình này không hỗ trợ công cụ",
    "Model ini saat ini tidak mendukung alat",
]
OTHER_SUBJECTS = [
    "The chat template of this model does not support tools",
    "Prompt template does not support tool calls; set a tool template",
    "Error rendering prompt: template does not support tools",
    "Jinja Exception: roles must alternate; tools not supported in system",
    "Audio output does not support tool calls",
    "Guided decoding does not support tools",
    "Speculative decoding is enabled and does not support tool calls",
    "LoRA adapters do not support tools",
    "Grammar support is disabled, tools cannot be used",
    "Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions.",
    "Only function tools are supported by this model; got 'web_search'",
    "The model cannot be used with tools when streaming",
    "Ce modèle n'accepte aucun outil dont le nom contient des espaces",
    "Ten model nie może używać narzędzi jednocześnie z obrazami",
    "Tools are not supported on the /v1/completions endpoint",
    "The /v1/messages endpoint does not support tools",
    "The endpoint /v1/completions does not support function calling",
    "Function calling is not supported via /api/generate",
    "Tool use is not available through the completions API",
    "Tools are not supported at this URL",
    "This route doesn't support tools",
    "Node 7 does not support tools; another node will be tried",
    "Worker gpu-3 does not support function calling",
    "Replica 2 does not support tools",
    "Host llm-04 cannot handle tools",
    "Deprecated: functions is not supported, use tools",
    "`functions` is not supported; use `tools` instead",
    "functions are not supported any more, please switch to tools",
    "function_call and functions are deprecated in favor of tools and not supported",
    "not supported tool: lookup_ticket",
    "Not supported tools: lookup_ticket, list_rooms",
    "unsupported tool: read_file",
    "Unsupported function: get_weather",
    "L'endpoint /v1/completions ne prend pas en charge les outils",
    "Der Knoten 7 unterstützt keine Werkzeuge",
    "El nodo 3 no admite herramientas",
    "接口 /v1/completions 不支持工具调用",
    "このエンドポイントはツールをサポートしていません",
    "Узел 7 не поддерживает инструменты",
]
REFUSED = [
    "The selected model cannot be used with tools.",
    "This model cannot be used with tools. Remove `tools` from the request.",
    "No endpoints found that support the provided 'tools' parameter. Try another model",
    "Function tools are not supported with this model",
    "This model does not support function tools",
    "'tools' is not a supported parameter for model o1-preview",
    "This model is unable to call functions",
    "Ten model nie potrafi używać narzędzi",
    "Ce modèle n'accepte aucun outil",
    "此模型無法使用工具",
    "该模型无法使用工具",
    "该模型不能使用工具",
    "该模型不支持tools参数",
    "当前模型不支持tools",
    "当前模型不支持 function calling",
    "The model zorb-1 doesn't support the parameter 'tools'.",
    "This model does not support parameter: tools",
    "model zorb does not support the field `tools`",
    "Model node-7b does not support tools",
    "acme/endpoint-7b does not support tools",
    "Gemma 7B does not support tools",
    "このモデルはtoolsをサポートしていません",
    "이 모델은 tools를 지원하지 않습니다",
    "Das aktuelle Modell unterstützt keine Werkzeuge",
    "Le modèle actuel ne prend pas en charge les outils",
    "現在のモデルはツールをサポートしていません",
    "El modelo actual no admite herramientas",
    "/data/models/llama does not support tools",
    "No endpoints found that support tool use",
]
PROSE = "this model does not support tools"
PAGES = [
    f"<!-- gateway --><HTML><BODY>{PROSE}</BODY></HTML>",
    f"\ufeff<html><body>{PROSE}</body></html>",
    f" \n\t<!-- a --> <!-- b\n -->\n<!DOCTYPE html><html><body>{PROSE}</body></html>",
    f'<?xml version="1.0"?><!DOCTYPE html><html xmlns="x"><body>{PROSE}</body></html>',
    f'<?xml version="1.0" encoding="utf-8"?>\n<!-- x -->\n<html><body>{PROSE}</body></html>',
    f'<!DOCTYPE HTML PUBLIC "-//IETF//DTD HTML 2.0//EN"><HTML><HEAD><TITLE>{PROSE}</TITLE></HEAD></HTML>',
    f"<!-- cut off {PROSE}",
    f"<meta charset=utf-8><p>{PROSE}",
    f"<style>p {{}}</style>{PROSE}",
    f"<table><tr><td>{PROSE}</td></tr></table>",
    json.dumps({"error": f"<!-- gateway --><p>{PROSE}</p>"}),
    json.dumps({"error": {"message": f"\n<!-- x --><BODY>{PROSE}</BODY>"}}),
]


def label(sentence: str) -> str:
    return classify(400, json.dumps({"error": {"message": sentence}}, ensure_ascii=False)).label


@every("sentence", NOW)
def test_what_holds_for_now_proves_nothing(sentence: str) -> None:
    assert label(sentence) == OTHER


@every("sentence", OTHER_SUBJECTS)
def test_what_is_no_model_proves_nothing(sentence: str) -> None:
    assert label(sentence) in (OTHER, MISCONFIGURED)


@every("sentence", REFUSED)
def test_a_model_that_takes_no_tools(sentence: str) -> None:
    assert label(sentence) == UNSUPPORTED


@every("body", PAGES)
def test_a_page_is_a_page_whatever_it_begins_with(body: str) -> None:
    assert classify(400, body).label == OTHER


def test_other_markup_is_a_page_too_if_it_is_whole() -> None:
    assert classify(400, f'<?xml version="1.0"?><Error><Message>{PROSE}</Message></Error>').label == OTHER
    assert classify(400, f"<Error><Message>{PROSE}</Message></Error>").label == OTHER
    assert classify(400, f"<400> InternalError: {PROSE}").label == UNSUPPORTED
    assert classify(500, "<!-- x -->" * 5_000 + "error parsing tool call: raw='x', err=y").label in (OTHER, MALFORMED)
