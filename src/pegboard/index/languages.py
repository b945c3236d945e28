"""The languages that the analyser knows: their function words, which name them and carry no meaning of their own.

Short lists of the commonest function words, written for this package (articles, pronouns, prepositions, auxiliary
verbs, and in English what a request is wrapped in, such as "please help me"), folded as `text.fold` folds.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache

from pegboard.index.han import simplified
from pegboard.index.shipped import shipped

ENGLISH = "english"
CHINESE = "chinese"

_LISTS = {
    ENGLISH: """
        a about after again all also am an and any are as at be because been before being between both but by
        can could did do does doing done each either else ever every few for from further get gets getting
        give given gives had has have having he her here hers him his how i if in into is it its itself just
        kindly know let lets like me might more most must my myself need needs no nor not now of off on once
        one only or other our ours out over own per please plus really same shall she should so some such than
        thank thanks that the their them themselves then there these they thing things this those through to
        too tell under until up us use used using very via want wants was we were what whatever when where
        whether which while who whom whose why will wish with within without would yes you your yours hello hi
        hey im ive id ill dont cant help helps helping able assist assistance""",
    "german": """
        aber alle als am an auch auf aus bei bin bis bist bitte da damit dann das dass dein dem den der des
        dich die dies diese dieser dieses dir doch du durch ein eine einem einen einer eines er es euch fur
        gibt hab habe haben hat ich ihm ihn ihnen ihr ihre im in ist ja kann kannst konnen konnte man mein
        meine meinem meinen meiner mich mir mit mochte muss nach nicht noch nur oder ob ohne sich sie sind so
        soll uber um und uns unser unter vom von vor war was welche welcher welches wenn wer werden wie will
        wir wird wo zu zum zur zwischen""",
    "spanish": """
        a al algo ante como con cual cuales cuando de del desde donde dos el ella ellas ellos en entre era es
        esa ese esta estan estas este esto estos ha hay he la las le les lo los me mi mis muy necesito no nos
        nuestra nuestro o otra otro para pero por porque puede puedes puedo que quien quiero se sea si sin
        sobre son su sus te tiene todas todo todos tu tus un una unas uno unos y ya yo favor ayuda""",
    "french": """
        a afin ai au aux avec c ce ces cet cette comme d dans de des du elle elles en entre est et etre eux il
        ils j je l la le les leur leurs lui m ma mais me mes moi mon ne nos notre nous on ont ou par pas peut
        peux plus pour qu que quel quelle quelles quels qui s sa sans se ses si son sont sous sur t ta te tes
        toi ton tous tout toutes tu un une vos votre vous veux voudrais y""",
    "portuguese": """
        ao aos aquela aquele as com como da das de dela dele do dos e ela elas ele eles em entre era essa esse
        esta este eu foi ha isso isto ja lhe mais mas me meu minha muito na nao nas nem no nos nossa nosso o
        os ou para pela pelo por posso preciso qual quando que quem quero sao se sem ser seu sua tem todos tu
        um uma umas uns voce voces""",
    "italian": """
        ad agli ai al alla alle anche che chi ci come con cui da dagli dal dalla dalle degli dei del della
        delle di dove e ed era gli ha hai hanno ho i il in io la le lei lo loro lui ma mi mia mie mio nei nel
        nella noi non nostra nostro o per perche piu posso puoi quale quando quella quello questa questo se
        sei si sia sono sua sue suo sul sulla ti tra tu tua tuo un una uno vi voglio voi vorrei""",
    "dutch": """
        aan als alle bij dan dat de deze die dit door een en er geen had heb hebben heeft het hij hoe hun ik
        in is je kan kunnen maar me met mij mijn moet naar niet nog nu of om ons ook op over te tot u uit van
        veel voor waar wat we wel welke werd wie wij wil worden ze zich zij zijn zo zonder zou""",
    "swedish": """
        alla andra att av da de dem den denna det detta dig din du dar efter ej eller en er ett fran for ga
        han har hon hur i inte jag kan man med men mig min mina mot mycket nar och om oss pa sa sig sin som
        till under upp ut vad var vara vi vid vill vilka vilken ar""",
    "russian": """
        а без бы был была были было быть в вам вас весь во вот все всех вы где да для до его ее если есть еще
        же за и из или им их к как какие какой когда кто ли между меня мне можно мои мой мы на надо нам нас не
        него нее нет ни них но о об он она они от по под пожалуйста при про с свои со так также там тебя то
        того тоже только ты у уже хочу чем что чтобы эта эти это этот я""",
}
STOP_WORDS = {language: frozenset(text.split()) for language, text in _LISTS.items()}
"""Function words by language."""

_MARKERS = {
    language: found - frozenset().union(*(other for name, other in STOP_WORDS.items() if name != language))
    for language, found in STOP_WORDS.items()
}


CERTAIN = 3
"""So many different English function words make a text English."""


def language_of(words: Sequence[str]) -> str:
    """The language whose own function words occur most often in the words; English where none prevails."""
    given = set(words)
    english = len(given & STOP_WORDS[ENGLISH])
    if english >= CERTAIN:
        return ENGLISH
    best, most = ENGLISH, max(1, english)
    for language, markers in _MARKERS.items():
        found = len(given & markers) + (len(given & STOP_WORDS[language]) > english)
        if language != ENGLISH and found > most:
            best, most = language, found
    if best == ENGLISH and not english and any("\u0400" <= word[0] <= "\u04ff" for word in given if word):
        return "russian"
    return best


_TELLERS = frozenset[str]().union(*(found for language, found in _MARKERS.items() if language != ENGLISH))


def may_tell(word: str) -> bool:
    """Whether a word may be why a text is in another language than English; without any such it is in English."""
    return word in _TELLERS or not word.isascii()


_FUNCTION = "是在把给和与及从到我你他她它这那有要想会能就都也还很被让用个请之其为对"
_PARTICLES = "的了吗呢吧啊呀么"


@cache
def _nothing() -> re.Pattern[str]:
    pair = f"(?!目的|了解)(?:[{_PARTICLES}].|.[{_PARTICLES}])$"
    return re.compile(f"[{_FUNCTION}{_PARTICLES}]$|{pair}|[^\u3400-\u9fff\uac00-\ud7af]$")


def tells(piece: str) -> bool:
    """Whether a character of a script without spaces, or a pair of them, may mean something by itself.

    Single syllables of Japanese or Thai do not, nor do Chinese particles and pairs with one.
    """
    return _nothing().match(piece) is None


def written_in(text: str) -> str | None:
    """The language that a text's script tells, where it is one without spaces; Chinese for Han alone."""
    if text.isascii():
        return None
    return next((language for script, language in _TOLD.items() if re.search(_SCRIPTS[script], text)), None)


_TOLD = {"kana": "japanese", "hangul": "korean", "han": CHINESE}
_SCRIPTS = {"han": "[\u4e00-\u9fff]", "kana": "[\u3040-\u30ff]", "hangul": "[\uac00-\ud7af]", "thai": "[\u0e00-\u0e7f]"}


@cache
def _wrapping() -> Mapping[re.Pattern[str], re.Pattern[str]]:
    """By a character of its script, what requests are wrapped in (`data/wrapping.txt`, written for this package)."""
    lines = shipped("wrapping.txt").read_text(encoding="utf8").splitlines()
    told = {script: phrases.split() for script, _, phrases in (line.partition(":") for line in lines)}
    return {
        re.compile(_SCRIPTS[script]): re.compile("|".join(map(re.escape, sorted(phrases, key=len, reverse=True))))
        for script, phrases in told.items()
    }


def unwrapped(text: str) -> str:
    """A request without the phrases that requests are wrapped in, where its script has no spaces to tell them by.

    What is left of a text that is nothing but such phrases is the text itself.
    """
    if text.isascii():
        return text
    found = text = simplified(text)
    for script, phrases in _wrapping().items():
        if script.search(found):
            found = phrases.sub(" ", found)
    return found if found.strip() else text
