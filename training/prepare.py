"""Read the public data into pairs (request, tool) and plain texts.

    python training/prepare.py --bench DIR --wheels DIR --out DIR

`--bench` holds sets in the form of `pegboard bench search`; `--wheels` the unpacked packages that `sources.toml` lists.
Only the sets named TRAIN are read for pairs. Texts that also occur in a trial set are left out. The output is the same
bytes on every run.
"""

import argparse
import gzip
import html
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pegboard.bench import spec_of
from pegboard.index.fields import passage

TRAIN = ("sealtools", "bfcl", "toollinkos", "apigen", "apizoo")
"""Sets whose requests are trained on."""
TRIAL = ("livemcpbench", "azuremcp", "metatool", "stabletoolbench", "nestful", "apibank")
"""Sets that nothing is trained on."""
SEED = 7340


def rows(path: Path) -> list[dict[str, Any]]:
    """The objects of a gzipped JSON-lines file."""
    with gzip.open(path, "rt", encoding="utf8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def plain(markup: str, limit: int = 400) -> str:
    """The text of a bit of HTML, cut at a sentence."""
    text = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", markup)).split())
    cut = text[:limit]
    return cut if len(text) <= limit else cut[: max(cut.rfind(". ") + 1, 120)]


def requests(bench: Path) -> Iterator[dict[str, Any]]:
    """A row for each request of the training sets and each tool that it needs."""
    for name in TRAIN:
        specs = {tool["id"]: spec_of(tool) for tool in rows(bench / name / "tools.jsonl.gz")}
        for query in rows(bench / name / "queries.jsonl.gz"):
            for gold in query["gold"]:
                yield {
                    "set": name,
                    "query": query["query"],
                    "id": gold,
                    "tool": passage(specs[gold]),
                }


def botocore(folder: Path) -> Iterator[dict[str, Any]]:
    """AWS operations (Apache-2.0): tools of one namespace a service."""
    for path in sorted((folder / "botocore/data").glob("*/*/service-2.json.gz")):
        service = json.loads(gzip.decompress(path.read_bytes()))
        namespace = service["metadata"].get("serviceId", path.parent.parent.name)
        for name, operation in sorted(service["operations"].items()):
            shape = service["shapes"].get(operation.get("input", {}).get("shape"), {})
            yield tool(namespace, name, plain(operation.get("documentation", "")), shape.get("members", {}))


def google(folder: Path) -> Iterator[dict[str, Any]]:
    """Google API methods (Apache-2.0)."""
    seen: set[str] = set()
    for path in sorted((folder / "googleapiclient/discovery_cache/documents").glob("*.json")):
        document = json.loads(path.read_text(encoding="utf8"))
        for method in methods(document):
            if method["id"] not in seen:
                seen.add(method["id"])
                name = ".".join(method["id"].split(".")[1:])
                yield tool(
                    document.get("title", ""), name, plain(method.get("description", "")), method.get("parameters", {})
                )


def methods(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every method under a discovery node."""
    yield from (method for _, method in sorted(node.get("methods", {}).items()))
    for _, child in sorted(node.get("resources", {}).items()):
        yield from methods(child)


def tool(namespace: str, name: str, description: str, parameters: Any) -> dict[str, Any]:
    """A tool as the sets write it."""
    properties = {str(key): {} for key in list(parameters)[:8]}
    return {"id": f"{namespace}/{name}", "name": name, "namespace": namespace, "description": description,
            "parameters": {"type": "object", "properties": properties}}  # fmt: skip


def wordnet(folder: Path) -> Iterator[tuple[list[str], str, list[str]]]:
    """Each synset's words, gloss and examples (WordNet 3.1, WordNet licence)."""
    for part in ("noun", "verb", "adj", "adv"):
        for line in (folder / f"dict/data.{part}").read_text(encoding="latin-1").splitlines():
            if line.startswith("  "):
                continue
            head, _, gloss = line.partition("|")
            fields = head.split()
            count = int(fields[3], 16)
            found = [re.sub(r"\(.*", "", fields[4 + 2 * n]).replace("_", " ") for n in range(count)]
            sentences = [text.strip(' "') for text in gloss.split("; ")]
            yield found, sentences[0], sentences[1:]


def described(tools: list[dict[str, Any]], known: set[str], name: str) -> Iterator[dict[str, Any]]:
    """A row for each tool that is described: the first sentence is the request, name and parameters the tool."""
    for row in tools:
        description = " ".join((row.get("description") or "").split())
        if len(description.split()) < 4 or description in known:
            continue
        known.add(description)
        spec = spec_of({**row, "description": ""})
        first = re.split(r"(?<=[.!?]) ", description)[0][:300]
        yield {
            "set": name,
            "query": first,
            "id": row["id"],
            "tool": passage(spec),
            "full": passage(spec_of(row)),
        }


def shuffled(texts: set[str]) -> list[str]:
    """In an order that is no order, the same on every run."""
    ordered = sorted(text for text in texts if text.strip())
    random.Random(SEED).shuffle(ordered)
    return ordered


def main() -> None:
    """Write pairs.jsonl and texts.txt."""
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("--bench", "--wheels", "--out"):
        parser.add_argument(option, type=Path, required=True)
    options = parser.parse_args()
    bench, wheels, out = options.bench, options.wheels, options.out
    out.mkdir(parents=True, exist_ok=True)
    known = {
        " ".join((row.get("description") or "").split())
        for name in TRIAL
        for row in rows(bench / name / "tools.jsonl.gz")
    }
    pairs = list(requests(bench))
    pairs += described(rows(bench / "mcp-catalog/tools.jsonl.gz"), known, "mcp-catalog")
    pairs += described(list(botocore(wheels / "botocore")), known, "botocore")
    pairs += described(list(google(wheels / "google_api_python_client")), known, "google")
    near = [pair for pair in pairs if pair["set"] in (*TRAIN, "mcp-catalog")]
    first = {pair[key] for pair in near for key in ("query", "full") if key in pair}
    for name in TRAIN:
        first |= {passage(spec_of(row)) for row in rows(bench / name / "tools.jsonl.gz")}
    texts = {pair[key] for pair in pairs for key in ("query", "tool", "full") if key in pair}
    for found, gloss, examples in wordnet(wheels / "package"):
        texts |= {
            f"{' '.join(found)}: {gloss}",
            " ".join(found),
            *(example for example in examples if len(example) > 20),
        }
    ordered = [*shuffled(first), *shuffled(texts - first)]
    with (out / "pairs.jsonl").open("w", encoding="utf8") as lines:
        lines.writelines(json.dumps(pair, ensure_ascii=False) + "\n" for pair in pairs)
    (out / "texts.txt").write_text("\n".join(" ".join(text.split()) for text in ordered), encoding="utf8")
    counts = {name: sum(pair["set"] == name for pair in pairs) for name in dict.fromkeys(pair["set"] for pair in pairs)}
    print(json.dumps({"pairs": counts, "texts": len(ordered)}))


if __name__ == "__main__":
    main()
