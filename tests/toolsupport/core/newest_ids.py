"""Real ids of the families that came last, as servers spell them, and the family each belongs to."""

NEWEST = {
    "stepfun-ai/step3": "step-3",
    "meituan-longcat/LongCat-Flash-Chat": "longcat",
    "meituan-longcat/LongCat-2.0": "longcat",
    "ai-sage/GigaChat3-10B-A1.8B": "gigachat-3",
    "ai-sage/GigaChat3.1-10B-A1.8B": "gigachat-3",
    "ai-sage/GigaChat3.5-432B-A26B": "gigachat-3.5",
    "tencent/Hy3": "hunyuan-3",
    "tencent/Hy3-preview": "hunyuan-3",
    "meta-models/Muse-Glimmer-30B": "muse-glimmer",
    "openbmb/MiniCPM5-1B": "minicpm5",
    "dots-studio/dots3-note-prev": "dots3",
}
