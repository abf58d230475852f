"""Real ids of the families that came last, as servers spell them, and the family each belongs to."""

NEWEST = {
    # As hosts spell them
    "accounts/fireworks/models/llama-v3p3-70b-instruct": "llama3.3",
    "accounts/fireworks/models/deepseek-v3p1": "deepseek-v3.1",
    "accounts/fireworks/models/qwen2p5-72b-instruct": "qwen2.5",
    "ft:gpt-4o-mini-2024-07-18:acme::abc": "gpt-4o",
    "openai.gpt-oss-120b-1:0": "gpt-oss",
    "cohere.command-r-plus-v1:0": "command-r",
    "stepfun-ai/step3": "step-3",
    "meituan-longcat/LongCat-Flash-Chat": "longcat",
    "meituan-longcat/LongCat-2.0": "longcat",
    "ai-sage/GigaChat3-10B-A1.8B": "gigachat-3",
    "ai-sage/GigaChat3.1-10B-A1.8B": "gigachat-3",
    "ai-sage/GigaChat3.5-432B-A26B": "gigachat-3.5",
    "upstage/Solar-Open-100B": "solar-open",
    "upstage/Solar-Open2-120B": "solar-open-2",
    "LLM360/K2-Horizon": "k2-horizon",
    "tencent/Hy3": "hunyuan-3",
    "tencent/Hy3-preview": "hunyuan-3",
    "meta-models/Muse-Glimmer-30B": "muse-glimmer",
    "openbmb/MiniCPM5-1B": "minicpm5",
    "dots-studio/dots3-note-prev": "dots3",
}
