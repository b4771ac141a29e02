"""Which language a reply is written in: by its script where that decides, else by its function words."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import Literal

# Short words that are frequent in one language; a word that several share counts for each of them.
_FUNCTION_WORDS = {
    "en": "the and of to in is that it was for on are with as his they be at this have from or had by not but what "
    "all were we when your can there an which their if will each how do you he she i my me our no would could should "
    "has been because than then its these those some",
    "de": "der die das und ist nicht ein eine einen einem einer den dem des zu mit auf für von im sich auch es wird "
    "sind wie aber oder wenn nur noch nach bei aus dass weil ich wir sie er war hat haben werden kann unter über zum "
    "zur",
    "fr": "le la les de des du et est un une dans que qui pour pas sur au aux avec ce cette ces il elle nous vous ils "
    "sont mais ou où plus par je ne se sa son ses leur être été ont comme à en l'on c'est",
    "es": "el la los las de del y es un una en que por con para no se su sus al lo como más pero o este esta son está "
    "fue ha muy también porque cuando donde yo nosotros ellos hay ser sobre entre sin",
    "it": "il lo la i gli le di del della dei delle e è un una in che per con non si su al alla come più ma o questo "
    "questa sono era ha anche nel nella dal dalla perché quando io noi loro essere molto ci",
    "pt": "o a os as de do da dos das e é um uma em no na nos nas que por com para não se seu sua ao como mais mas ou "
    "este esta são foi tem muito também porque quando eu nós eles ser pelo pela está",
    "nl": "de het een en van is in op dat te niet met voor zijn aan er om ook als maar bij nog uit naar door over wat "
    "worden wordt hebben heeft deze die dit ik wij ze hij was kan omdat of onder",
    "sv": "och att det som en ett är på av för med den till inte har jag de om var han hon vi men så sig från eller "
    "när kan ska under över också efter där mycket detta",
    "da": "og at det som en et er på af for med den til ikke har jeg de om var han hun vi men så sig fra eller når kan "
    "skal under over også efter der meget dette blev "
    "hvad nogle være mig dig kunne skulle noget gør",
    "no": "og at det som en et er på av for med den til ikke har jeg de om var han hun vi men så seg fra eller når kan "
    "skal under over også etter der mye dette ble "
    "hva noen være meg deg kunne skulle noe gjør",
    "fi": "ja on ei se että hän oli ovat joka mutta kun niin myös tai kuin sen tämä ne minä olen mitä vain jos sekä",
    "pl": "i w nie na się z jest to że do jak ale o po co tak za od przez dla są był była jego jej ich tego ten który "
    "która czy oraz może bardzo",
    "cs": "a je v se na že to s z do o jako ale i za by pro tak po od jeho jsou byl byla který která nebo jsem které",
    "ro": "și în de la a cu pe nu este un o că din mai care să sunt au pentru ce ca dar sau prin lui ei fost foarte",
    "hu": "a az és hogy nem is egy van ez azt meg de csak mint már el volt ha vagy még kell lesz ki mert ami",
    "tr": "ve bir bu da de için ile çok ne o gibi daha var mı ama olarak olan kadar değil en sonra ki her ya",
    "id": "yang dan di ini itu dengan untuk dari dalam tidak akan pada adalah ke juga karena ada saya mereka kami bisa "
    "oleh atau sudah",
    "vi": "là và của có không được một những trong cho với các này đã người khi để từ như về đó ở cũng",
    "ru": "и в не на я что он с как это по но они мы она так его из за от для вы же у был было все или если когда есть",
    "uk": "і в не на я що він з як це по але вони ми вона так його із за від для ви ж у був було всі або якщо коли "
    "є та",
    "bg": "и в не на аз че той с как това по но те ние тя така от за са е да се към или ако когато има",
}
_NAMES = {
    "english": "en", "german": "de", "french": "fr", "spanish": "es", "italian": "it", "portuguese": "pt",
    "dutch": "nl", "swedish": "sv", "danish": "da", "norwegian": "no", "nb": "no", "nn": "no", "finnish": "fi",
    "polish": "pl", "czech": "cs", "romanian": "ro", "hungarian": "hu", "turkish": "tr", "indonesian": "id",
    "vietnamese": "vi", "russian": "ru", "ukrainian": "uk", "bulgarian": "bg", "japanese": "ja", "chinese": "zh",
    "korean": "ko", "greek": "el", "hebrew": "he", "arabic": "ar", "thai": "th", "hindi": "hi",
}  # fmt: skip

Script = Literal["latin", "cyrillic", "kana", "han", "hangul", "greek", "hebrew", "arabic", "thai", "devanagari"]

_SCRIPTS: dict[Script, re.Pattern[str]] = {
    "latin": re.compile(r"[A-Za-z\u00aa-\u024f\u1e00-\u1eff]"),
    "cyrillic": re.compile(r"[\u0400-\u052f]"),
    "kana": re.compile(r"[\u3041-\u30ff\uff66-\uff9f]"),
    "han": re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003fffd]"),
    "hangul": re.compile(r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]"),
    "greek": re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]"),
    "hebrew": re.compile(r"[\u0590-\u05ff]"),
    "arabic": re.compile(r"[\u0600-\u06ff\u0750-\u077f]"),
    "thai": re.compile(r"[\u0e00-\u0e7f]"),
    "devanagari": re.compile(r"[\u0900-\u097f]"),
}
_OF_SCRIPT: dict[Script, str] = {
    "hangul": "ko", "greek": "el", "hebrew": "he", "arabic": "ar", "thai": "th", "devanagari": "hi",
}  # fmt: skip
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_SAMPLE = 20_000
"""Characters from the start of a reply that are looked at; a language does not need more."""
_ENOUGH = 3
"""Function words that must stand in a text before it is decided."""

_WORDS = {code: frozenset(words.split()) for code, words in _FUNCTION_WORDS.items()}


def known_languages() -> tuple[str, ...]:
    """Every code that a `language` check may name."""
    return tuple(dict.fromkeys([*_WORDS, *_NAMES.values()]))


def language_code(name: str) -> str | None:
    """The code for `de`, `de-AT` or `German`; None when it is not known."""
    plain = name.strip().lower()
    code = _NAMES.get(plain) or re.split(r"[-_]", plain)[0]
    code = _NAMES.get(code, code)
    return code if code in known_languages() else None


def language_of(text: str) -> str | None:
    """The code of the language that a tidied text is written in; None when it is too short or too mixed to tell."""
    sample = text[:_SAMPLE]
    counts = Counter({script: sum(1 for _ in found.finditer(sample)) for script, found in _SCRIPTS.items()})
    letters = sum(counts.values())
    if not letters:
        return None
    if 2 * (counts["kana"] + counts["han"]) > letters:
        return _east_asian(counts)
    script, most = counts.most_common(1)[0]
    if 2 * most <= letters:
        return None
    return _OF_SCRIPT.get(script) or _by_words(sample)


def _east_asian(counts: Counter[Script]) -> str | None:
    """Kana are Japanese. Han alone may be either, so a few characters of it decide nothing."""
    if 20 * counts["kana"] > counts["han"]:
        return "ja"
    return "zh" if counts["han"] >= 4 else None


def _by_words(text: str) -> str | None:
    """The language most of whose function words stand in the text, if enough do and no other has as many."""
    scores: Counter[str] = Counter()
    for found in islice(_WORD.finditer(text.casefold()), _SAMPLE):
        word = found.group()
        scores.update(code for code, words in _WORDS.items() if word in words)
    ranked = scores.most_common(2)
    if not ranked or ranked[0][1] < _ENOUGH:
        return None
    if len(ranked) > 1 and ranked[1][1] == ranked[0][1]:
        return None
    return ranked[0][0]
