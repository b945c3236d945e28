"""`pegboard insight` and its verbs: the JSON shapes, the reports, and honest errors."""

import gzip
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from pegboard.cli.app import run

CORPUS = Path(__file__).parents[2] / "corpus" / "traces"
RETAIL = CORPUS / "tau1-retail.jsonl.gz"


@pytest.fixture
def insight(capsys: pytest.CaptureFixture[str]) -> Any:
    def command(*arguments: object) -> tuple[int, str, str]:
        code = run(["insight", *(str(argument) for argument in arguments)])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return code, captured.out, captured.err

    return command


def test_findings_have_their_documented_shape(insight: Any) -> None:
    code, out, _ = insight(RETAIL, "--json")
    answer = json.loads(out)
    assert code == 0
    assert (answer["runs"], answer["calls"]) == (24, 218)
    bundle = next(row for row in answer["findings"] if row["kind"] == "bundle")
    batch = next(row for row in answer["findings"] if row["kind"] == "batch")
    common = {"id", "kind", "tools", "reason", "support_runs", "support_tasks", "confidence", "saving", "examples"}
    assert common | {"wiring", "inputs", "steps"} <= set(bundle)
    assert common | {"over", "from"} <= set(batch)
    assert bundle["tools"] == ["find_user_id_by_name_zip", "get_user_details", "get_order_details"]
    assert (batch["tools"], batch["over"], batch["from"]) == (["get_order_details"], "order_id", "get_user_details")
    assert set(bundle["saving"]) == {"calls", "turns", "tokens"}


def test_a_simulation_has_its_documented_shape(insight: Any, tmp_path: Path) -> None:
    found = tmp_path / "findings.json"
    found.write_text(insight(RETAIL, "--json")[1])
    code, out, _ = insight("simulate", "--findings", found, RETAIL, "--json")
    answer = json.loads(out)
    assert code == 0
    assert set(answer) == {"runs", "calls", "turns", "over_10", "by_finding"}
    assert answer["calls"][0] == 218
    assert answer["calls"][1] < 0.7 * answer["calls"][0]
    assert sum(row["calls"] for row in answer["by_finding"]) == answer["calls"][0] - answer["calls"][1]


def test_only_the_named_findings_are_replayed(insight: Any, tmp_path: Path) -> None:
    found = tmp_path / "findings.json"
    found.write_text(insight(RETAIL, "--json")[1])
    batch = next(row["id"] for row in json.loads(found.read_text())["findings"] if row["kind"] == "batch")
    answer = json.loads(insight("simulate", "--findings", found, "--only", batch, RETAIL, "--json")[1])
    assert [row["id"] for row in answer["by_finding"]] == [batch]


def test_provenance_prints_answer_keys(insight: Any) -> None:
    code, out, _ = insight("provenance", RETAIL, "--json")
    with gzip.open(CORPUS / "tau1-retail.key.jsonl.gz", "rt") as file:
        keys = [json.loads(line) for line in file]
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [set(row) for row in rows] == [{"run_id", "arg_src"}] * len(keys)
    assert [row["run_id"] for row in rows] == [row["run_id"] for row in keys]


class Page(HTMLParser):
    """Collects what a page would fetch, and whether its tags close."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.fetched += [value or "" for name, value in attrs if name in ("src", "href", "xlink:href")]
        if tag != "meta":
            self.open.append(tag)
        if tag == "script":
            self.fetched.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_html_report_stands_alone_and_escapes_what_traces_say(insight: Any, tmp_path: Path) -> None:
    evil = tmp_path / "evil.jsonl"
    call = {"tool": "<script>alert(1)</script>", "args": {"a": "b"}, "ok": False, "result_excerpt": "</p><b>no</b>"}
    rows = [{"run_id": f"r{number}", "calls": [call, call]} for number in range(5)]
    evil.write_text("\n".join(map(json.dumps, rows)))
    report = tmp_path / "report.html"
    assert insight(evil, RETAIL, "--html", report)[0] == 0
    page = Page()
    page.feed(report.read_text())
    assert (page.fetched, page.open) == ([], [])
    assert "&lt;script&gt;alert" in report.read_text()


def test_the_markdown_report_holds_reasons(insight: Any, tmp_path: Path) -> None:
    report = tmp_path / "report.md"
    insight(RETAIL, "--markdown", report)
    assert "## Sequences to bundle" in report.read_text()
    assert "get\\_order\\_details.order\\_id comes from get\\_user\\_details" in report.read_text()


def test_filters_choose_runs(insight: Any) -> None:
    few = json.loads(insight(RETAIL, "--tool", "cancel_*", "--json")[1])
    none = json.loads(insight(RETAIL, "--agent", "nobody", "--json")[1])
    assert 0 < few["runs"] < 24
    assert few["runs"] + few["filtered"] == 24
    assert (none["runs"], none["findings"]) == (0, [])


def test_the_catalog_tells_what_had_no_traffic(insight: Any, tmp_path: Path) -> None:
    catalog = tmp_path / "tools.json"
    catalog.write_text(json.dumps([{"name": "get_order_details"}, {"name": "delete_everything"}]))
    answer = json.loads(insight(RETAIL, "--catalog", catalog, "--json")[1])
    unused = [row for row in answer["findings"] if row["kind"] == "no_traffic"]
    assert [row["tools"] for row in unused] == [["delete_everything"]]
    assert "24 runs" in unused[0]["reason"]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["gone.jsonl"], 2, "no such file"),
        (["--since", "soon", RETAIL], 2, "no point in time"),
        (["--catalog", "gone.json", RETAIL], 2, "catalog"),
        (["--format", "otl", RETAIL], 2, "no trace format"),
        (["simulate", "--findings", RETAIL, RETAIL], 2, "findings"),
    ],
)
def test_misuse_is_told_with_a_next_step(insight: Any, arguments: list[Any], code: int, says: str) -> None:
    outcome = insight(*arguments)
    assert outcome[0] == code
    assert says in outcome[2]


def test_a_bad_line_is_reported_and_the_rest_is_mined(insight: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    good = {"run_id": "r", "calls": [{"tool": "a", "args": {}}]}
    path.write_text(json.dumps(good) + "\n{broken\n" + json.dumps({**good, "run_id": "s"}))
    _, out, err = insight(path)
    assert "t.jsonl:2" in err
    assert json.loads(insight(path, "--json")[1])["runs"] == 2


def test_a_run_that_is_there_twice_counts_once(insight: Any, tmp_path: Path) -> None:
    copy = tmp_path / "copy.jsonl.gz"
    copy.write_bytes(RETAIL.read_bytes())
    once, twice = (json.loads(insight(*files, "--json")[1]) for files in ([RETAIL], [RETAIL, copy]))
    assert (twice["runs"], twice["twice"]) == (24, 24)
    assert twice["findings"] == once["findings"]


def test_without_sources_the_boards_own_traces_are_read(insight: Any, tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(
        "from pegboard import tool\n\n@tool\ndef find(sku: str) -> str:\n    '''Find.'''\n    return sku\n\n"
        "@tool\ndef sell(sku: str) -> str:\n    '''Sell.'''\n    return sku\n"
    )
    config = tmp_path / "pegboard.toml"
    config.write_text('[board]\nname = "shop"\n[sources.shop]\npython = "shop"\n')
    assert run(["call", "shop.find", "--args", '{"sku": "A7"}', "--config", str(config)]) == 0
    insight("--config", config)  # drops what the call printed
    answer = json.loads(insight("--config", config, "--json")[1])
    assert answer["calls"] == 1
    assert [row["tools"] for row in answer["findings"] if row["kind"] == "no_traffic"] == [["shop.sell"]]


def test_without_sources_and_board_the_remedy_is_told(insight: Any, tmp_path: Path) -> None:
    code, _, err = insight("--config", tmp_path / "pegboard.toml")
    assert code == 2
    assert "Give trace files" in err


def test_a_file_without_traces_is_told_once_and_bad_lines_among_traces_each(insight: Any, tmp_path: Path) -> None:
    (tmp_path / "runs.jsonl").write_bytes(b"{broken\n" + gzip.decompress(RETAIL.read_bytes()) + b"{broken too\n")
    (tmp_path / "keys.jsonl").write_text("".join(json.dumps({"id": n, "answer": "x"}) + "\n" for n in range(40)))
    (tmp_path / "catalog.json").write_text(json.dumps([{"name": f"t{n}", "inputSchema": {}} for n in range(30)]))
    answer = json.loads(insight(tmp_path, "--json")[1])
    assert answer["runs"] == 24
    assert [line.partition(": ")[0].partition(":")[0] for line in answer["skipped"]] == [
        "catalog.json",
        "keys.jsonl",
        "runs.jsonl",
        "runs.jsonl",
    ]
    assert "30 records" in answer["skipped"][0] and "40 records" in answer["skipped"][1]
