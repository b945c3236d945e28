"""What a tool is about, in one word: what its author or its server says, else what its words speak for."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, cast

from pegboard.core import ToolName, ToolSpec
from pegboard.index.text import stems, words

OTHER = "other"
"""The category of a tool whose words speak for none."""

_WORDS: Mapping[str, str] = {
    "files": "file files directory directories folder folders filesystem drive path upload download archive zip",
    "code": "git github gitlab repository repositories repo commit commits branch branches pull merge diff code"
    " workflow release gist lint compile npm docs library",
    "issues": "issue issues ticket tickets task tasks todo todos project projects sprint milestone label board card",
    "web": "browser page tab url fetch crawl scrape website navigate click snapshot screenshot dom html webpage cookie"
    " console network",
    "search": "websearch google bing serp engine",
    "database": "sql database databases table tables row rows query schema column collection index postgres mysql"
    " sqlite record records",
    "messages": "email mail emails mails message messages chat channel channels slack inbox sms thread notification"
    " reply send conversation",
    "calendar": "calendar event events meeting meetings appointment schedule availability reminder",
    "documents": "document documents docx word pdf paragraph heading slide slides presentation sheet spreadsheet"
    " markdown footnote block blocks notion page pages comment template",
    "people": "user users contact contacts person people customer customers member members team teams profile employee"
    " account accounts",
    "payments": "payment payments invoice invoices price prices order orders refund subscription checkout cart stripe"
    " product products coupon",
    "finance": "stock stocks crypto currency exchange rate portfolio market trade balance token wallet",
    "travel": "train trains flight flights hotel hotels booking station stations route routes map maps place places"
    " location geocode distance ticket",
    "weather": "weather forecast temperature rain climate",
    "time": "time timezone clock date datetime",
    "media": "image images video videos audio picture photo music song transcript speech movie play",
    "charts": "chart charts plot graph diagram visualization histogram treemap mindmap",
    "news": "news trend trends trending headline headlines hot rank feed rss article articles",
    "infrastructure": "pod pods cluster clusters kubernetes container containers docker node nodes deployment deploy"
    " server servers log logs metric metrics helm namespace vm cloud bucket resource resources",
    "memory": "memory memories entity entities observation observations relation relations knowledge remember note"
    " notes",
    "math": "calculate calculator add subtract multiply sum math equation convert unit units",
    "security": "secret secrets password vulnerability scan permission permissions role roles key keys auth"
    " certificate",
}
_NAME, _NAMESPACE, _TEXT = 3, 2, 1
_LEAST = 2
_FIRST = 240
"""Characters of a description that are read."""


def category_of(spec: ToolSpec) -> tuple[str, bool]:
    """What a tool is about, and whether somebody says so; else it is classified by its words, always alike.

    Parameters:
        spec: the tool.
    """
    said = spec.category or next(_said(spec), None)
    return (said, True) if said else (_classified(spec), False)


def _said(spec: ToolSpec) -> Iterator[str]:
    """The category or first tag in annotations and `_meta`, where servers put it (FastMCP: `_meta.fastmcp.tags`)."""
    inner = _table(spec.meta.get("_meta"))
    for table in (spec.annotations, inner, _table(inner.get("fastmcp")), _table(inner.get("_fastmcp")), spec.meta):
        found = table.get("category") or next(iter(_texts(table.get("tags"))), None)
        if isinstance(found, str) and found.strip():
            yield found.strip()


def _table(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _texts(value: Any) -> list[str]:
    return [one for one in cast("list[Any]", value) if isinstance(one, str)] if isinstance(value, list) else []


_TERMS: dict[str, list[str]] = {}
_KNOWN: dict[ToolName, tuple[ToolSpec, str]] = {}
_MOST = 20_000


def _classified(spec: ToolSpec) -> str:
    known = _KNOWN.get(spec.name)
    if known is not None and known[0] is spec:
        return known[1]
    if len(_KNOWN) >= _MOST:
        _KNOWN.clear()
    found = _judged(spec)
    _KNOWN[spec.name] = spec, found
    return found


def _judged(spec: ToolSpec) -> str:
    """The category that most of the words speak for, those of the name most; ties by the order above."""
    votes: Counter[str] = Counter()
    name = spec.name
    for text, weight in ((name.name, _NAME), (name.namespace, _NAMESPACE), (spec.description[:_FIRST], _TEXT)):
        for term in set(stems(words(text))):
            for category in _terms().get(term, ()):
                votes[category] += weight
    best = max(_WORDS, key=lambda category: votes[category])
    return best if votes[best] >= _LEAST else OTHER


def _terms() -> Mapping[str, list[str]]:
    """The categories that each stem speaks for."""
    if not _TERMS:
        for category, text in _WORDS.items():
            for term in dict.fromkeys(stems(text.split())):
                _TERMS.setdefault(term, []).append(category)
    return _TERMS
