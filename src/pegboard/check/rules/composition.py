"""PB5: sets of tools: too many, too loose, too flat."""

import re
from collections.abc import Iterator, Sequence

from pegboard.check.finding import Finding, Severity
from pegboard.check.lexicon import NOUNISH, VERBS
from pegboard.check.rule import Explanation, Rule
from pegboard.check.toolset import COMPOSITE, Toolset, is_composite
from pegboard.check.words import is_verb, lemma, name_words
from pegboard.core import ToolSpec
from pegboard.index.text import stems
from pegboard.schema.types import as_object

MANY = 30
"""From so many tools on a set without one that does a whole task is worth a word (document 002, anti-patterns)."""
SELECTABLE = 20
"""Above so many tools at once the choice gets worse (document 002; OpenAI's soft limit)."""
EXPLODING = 50
"""Above so many tools in one list each request carries a context of definitions."""
NAMESPACE = 10
"""So many tools a namespace should hold at most (OpenAI, tool search)."""
SIBLINGS = 4
"""So many tools without a namespace that share a first word are a group."""

_CODE = re.compile(
    r"(?:^|_)(?:code|sql|script|source_?code|javascript|python_?code|js|lua|regex|expression|program|snippet|patch|diff|"
    r"graphql|cypher|sparql|jq|latex|markdown|html|mermaid|dot|yaml)$"
)
_CODE_WORDS = re.compile(
    r"\b(?:sql (?:query|statement|text)|(?:python|javascript|typescript|shell|bash|lua) (?:code|script|snippet|source)|"
    r"source code|code to (?:run|execute|evaluate)|graphql (?:query|document)|unified diff)\b", re.IGNORECASE,
)  # fmt: skip


class NoBundle(Rule):
    """Thirty tools or more, and none that does a whole task."""

    code, name, severity = "PB502", "no-bundle", Severity.INFO
    explanation = Explanation(
        why="Agents repeat the same sequences of small calls; each costs a turn, and each can go wrong in the middle.",
        bad="search_users, open_dm, send_message and 27 more",
        good="dm_user(name, message), and the three for edge cases",
        remedy="Look at traces: `pegboard insight suggest` names sequences that runs repeat, with their wiring; write "
        "one as `[bundle.NAME]` or `@bundle`. Without traces do not guess.",
    )

    def tools(self, among: Toolset) -> Iterator[Finding]:
        """One finding for the set."""
        atomic = [spec for spec in among.specs if not is_composite(spec)]
        if len(atomic) >= MANY and len(atomic) == len(among.specs):
            mild = Severity.WARNING if any(among.is_own(spec) for spec in atomic) else None
            said = f"{len(atomic)} tools, and none of them does a whole task in one call."
            yield self.finding("", said, severity=mild)


class AllAtOnce(Rule):
    """More tools in sight than a model chooses well from, and no search for them."""

    code, name, severity = "PB503", "all-tools-at-once", Severity.WARNING
    explanation = Explanation(
        why="Past about twenty tools the choice gets worse, and each definition costs tokens in every request.",
        bad='[board]\nsearch = "off"',
        good='[board]\nsearch = "auto"\nalways = ["files.*"]',
        remedy='Let the board find the long tail by search (`search = "auto"`), and name what must be in sight under '
        "`always`. In a list for a provider: `defer_loading: true`, and a `tool_search` tool at the top level.",
    )

    def tools(self, among: Toolset) -> Iterator[Finding]:
        """One finding for a board whose search is off, or for deferred tools that nothing finds."""
        shown = [spec for spec in among.specs if spec.defer is not True]
        if among.board and among.search is False and len(shown) > SELECTABLE:
            yield self.finding("", f"{len(shown)} tools are shown at once: search is off, and models choose from 20.")
        listed = [spec for spec in shown if spec.source.kind not in ("openapi", "graphql")]
        if not among.board and len(listed) > EXPLODING and not any(_searches(spec) for spec in among.specs):
            said = f"{len(listed)} tools are listed at once, and none is deferred: put them behind a search."
            yield self.finding("", said, details={"tools": len(listed)})
        deferred = [spec for spec in among.specs if spec.defer is True]
        if not among.board and deferred and not any(_searches(spec) for spec in among.specs):
            said = f"{len(deferred)} tools are deferred, and no tool_search is there that would find them."
            yield self.finding("", said, others=tuple(str(spec.name) for spec in deferred[:10]))


class WideNamespace(Rule):
    """A namespace of more than ten tools."""

    code, name, severity = "PB504", "wide-namespace", Severity.INFO
    explanation = Explanation(
        why="A namespace is loaded as one: with it come all its definitions. OpenAI advises fewer "
        "than ten tools in each.",
        bad="browser: 37 tools",
        good="browser.mouse, browser.verify, browser.network ...",
        remedy="Split it by what the tools are about; the finding proposes groups. On a board one server can be two "
        "sources with an `allow` and a `prefix` each.",
    )

    def tools(self, among: Toolset) -> Iterator[Finding]:
        """One finding for each such namespace, with groups of shared words where there are some."""
        for namespace, specs in among.namespaces.items():
            if len(specs) > NAMESPACE and namespace:
                groups = subjects(specs)
                told = "; ".join(f"{word} ({len(names)})" for word, names in list(groups.items())[:5])
                hint = f" Groups by name: {told}." if told else ""
                said = (
                    f"The namespace {namespace} holds {len(specs)} tools; ten are easier to load and choose from.{hint}"
                )
                yield self.finding(namespace, said, details={"tools": len(specs), "groups": groups})


class LooseSiblings(Rule):
    """Tools without a namespace whose names begin with the same word."""

    code, name, severity = "PB505", "loose-siblings", Severity.WARNING
    explanation = Explanation(
        why="A namespace shows a model one entry instead of ten, and is deferred and loaded as one.",
        bad="crm_get_user, crm_list_users, crm_find_user, crm_merge_users",
        good="crm: get_user, list_users, find_user, merge_users",
        remedy='Give the source a name or `prefix`; in Python `@tool(namespace="crm")`; for OpenAI a namespace tool.',
    )

    def tools(self, among: Toolset) -> Iterator[Finding]:
        """One finding for each group."""
        groups: dict[str, list[ToolSpec]] = {}
        for spec in among.namespaces.get("", ()):
            words = name_words(spec.name.name)
            if len(words) > 1 and words[0] not in VERBS:
                groups.setdefault(words[0], []).append(spec)
        for word, specs in groups.items():
            if len(specs) >= SIBLINGS:
                said = f"{len(specs)} tools begin with {word!r} and stand loose: make {word!r} their namespace."
                yield self.finding("", said, others=tuple(str(spec.name) for spec in specs))


class LoneCode(Rule):
    """A tool whose only argument is one text of code, SQL or the like."""

    code, name, severity = "PB506", "lone-code-argument", Severity.INFO
    explanation = Explanation(
        why="As JSON the code is escaped, and models write worse code in it. Where the API has tools "
        "that take one text "
        "(OpenAI: custom tools, with a grammar if you like), it goes through as it is.",
        bad='run_sql({"sql": "SELECT \\\\"a b\\\\" FROM t"})',
        good="@tool(freeform=True)\nasync def run_sql(sql: str) -> Rows: ...",
        remedy="Declare your tool `freeform`. Surfaces without such tools get one string, so nothing is lost.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding for such a tool that is not freeform."""
        if spec.freeform is not None or len(spec.properties) != 1:
            return
        name, schema = next(iter(spec.properties.items()))
        node = as_object(schema)
        is_text = node.get("type") == "string" and "enum" not in node
        said = str(node.get("description") or "")
        if is_text and (_CODE.search("_".join(name_words(name))) or _CODE_WORDS.search(said)):
            mild = Severity.WARNING if among.is_own(spec) else None
            yield self.finding(spec, f"Its only argument {name} is code: a freeform tool takes it unescaped.",
                               severity=mild, pointer=f"/inputSchema/properties/{name}")  # fmt: skip


class NamedAfterSteps(Rule):
    """A tool made of tools that is named after its steps and not after its task."""

    code, name, severity = "PB507", "named-after-its-steps", Severity.WARNING
    explanation = Explanation(
        why='Requests name tasks. Nobody who wants to write to a person looks for "search, open, send"; and '
        "when a step changes the name is wrong.",
        bad="search_users_then_open_dm_then_send_message",
        good="dm_user",
        remedy="Name it after what is done when it is done. The steps belong into the description: what it replaces.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding where the name joins steps: by `then`, by two verbs, by the verbs of what it calls."""
        words = name_words(spec.name.name)
        steps = _acts(words)
        made = is_composite(spec) and spec.meta.get(COMPOSITE) in (None, "bundle", "chain")
        uses = [str(name) for name in spec.meta.get("pegboard/uses") or ()]
        parts = {verb for name in (*spec.replaces, *uses) for verb in _acts(name_words(name.rpartition(".")[2]))}
        joined = "then" in words[1:-1] or ("and" in words[1:-1] and len(steps) > 1 and made)
        if joined or (made and len(set(steps) & parts) > 1):
            yield self.finding(spec, f"The name {spec.name.name} tells its steps; name it after the task.")


def subjects(specs: Sequence[ToolSpec]) -> dict[str, list[str]]:
    """Groups of three tools or more whose names share a word that is no verb and not everyone's, largest first."""
    shared: dict[str, list[str]] = {}
    spelled: dict[str, str] = {}
    for spec in specs:
        words = [word for word in name_words(spec.name.name) if _is_noun(word)]
        for word, noun in zip(words, stems(words), strict=True):
            found = spelled.setdefault(noun, word)
            spelled[noun] = min(found, word, key=lambda one: (len(one), one))
            if spec.name.name not in shared.setdefault(noun, []):
                shared[noun].append(spec.name.name)
    shared = {spelled[noun]: names for noun, names in shared.items()}
    kept = {word: names for word, names in shared.items() if 3 <= len(names) <= len(specs) * 0.6}
    return dict(sorted(_disjoint(kept).items(), key=lambda item: (-len(item[1]), item[0])))


def _acts(words: Sequence[str]) -> list[str]:
    """The verbs of a name; a word like `orders` is one only where an action begins: at the start, after then or and."""
    return [
        lemma(word)
        for before, word in zip(("then", *words), words, strict=False)
        if is_verb(word) and (before in ("then", "and") or lemma(word) not in NOUNISH)
    ]


def _is_noun(word: str) -> bool:
    return (
        (not is_verb(word) or lemma(word) in NOUNISH)
        and len(word) > 2
        and not word.isdecimal()
        and word not in ("api", "the", "for", "and")
    )


def _disjoint(groups: dict[str, list[str]]) -> dict[str, list[str]]:
    """Each tool in its largest group only."""
    taken: set[str] = set()
    found: dict[str, list[str]] = {}
    for word, names in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        rest = [name for name in names if name not in taken]
        if len(rest) >= 3:
            found[word] = rest
            taken |= set(rest)
    return found


def _searches(spec: ToolSpec) -> bool:
    kind = str(spec.meta.get("type", ""))
    return spec.name.name.startswith("tool_search") or kind.startswith("tool_search")


COMPOSITION = (NoBundle, AllAtOnce, WideNamespace, LooseSiblings, LoneCode, NamedAfterSteps)
