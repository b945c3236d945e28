"""A flow of Runtype is taken over from the command line, runs as a chain, and is given back."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from runtype_flows import CONDITIONAL, PROMPT, TRANSFORM
from scripted_model import Scripted, serving

from pegboard.cli.app import run

pytestmark = pytest.mark.requirement("R3.1")

TOOLS = '''
from pegboard import tool


@tool(effects="read_only")
def get_order(id: str) -> dict[str, object]:
    """Get an order."""
    return {"id": id, "paid": False, "lines": [{"price": 70}, {"price": 50}]}
'''
DROP = '''

@tool(effects="additive")
def book(id: str) -> dict[str, str]:
    """Book an order."""
    return {"id": id}


@tool(effects="destructive")
def drop_order(id: str) -> str:
    """Delete an order."""
    from pathlib import Path

    (Path(__file__).parent / "dropped").write_text(id)
    return "gone"
'''
Pegboard = Callable[..., tuple[int, Any, str]]


class Answering(BaseHTTPRequestHandler):
    """Says what it was asked; a job is done at the third look."""

    looks = 0

    def do_GET(self) -> None:
        type(self).looks += 1
        self.answer({"state": "done" if type(self).looks >= 3 else "running"})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.answer({"job": "j1", "path": self.path, "body": json.loads(body), "auth": self.headers["authorization"]})

    def answer(self, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """It keeps quiet."""


@pytest.fixture
def server() -> Iterator[str]:
    Answering.looks = 0
    serving = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    threading.Thread(target=serving.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{serving.server_port}"
    serving.shutdown()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    module = f"orders_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{module}.py").write_text(TOOLS)
    (tmp_path / "pegboard.toml").write_text(f'# ours\n[sources.shop]\npython = "{module}"\n')
    return tmp_path


@pytest.fixture
def pegboard(home: Path, capsys: pytest.CaptureFixture[str]) -> Pegboard:
    def command(*arguments: str) -> tuple[int, Any, str]:
        code = run([*arguments, "--config", str(home), "--json"])
        seen = capsys.readouterr()
        return code, json.loads(seen.out), seen.err

    return command


def kept(home: Path, flow: Any) -> str:
    (home / "flow.json").write_text(json.dumps(flow))
    return str(home / "flow.json")


def order_flow(server: str) -> dict[str, Any]:
    call = {"toolId": "tool_9f8e7d6c", "parameters": {"id": "{{order_id}}"}, "outputVariable": "order"}
    post = {
        "http": {
            "url": f"{server}/orders/{{{{order.id}}}}",
            "method": "POST",
            "headers": {"Authorization": "Bearer {{secret:ORDERS_KEY}}"},
            "body": {"size": "{{size}}", "total": "{{total}}"},
        },
        "outputVariable": "posted",
        "errorHandling": "fail",
    }
    wait = {
        "poll": {"http": {"url": f"{server}/jobs/{{{{posted.job}}}}"}, "success": "state === 'done'", "intervalMs": 10},
        "outputVariable": "job",
    }
    return {
        "name": "Check Order",
        "steps": [
            {"type": "tool-call", "name": "get", "config": call},
            TRANSFORM,
            CONDITIONAL,
            {"type": "api-call", "name": "post", "when": "size.startsWith('b')", "config": post},
            {"type": "wait-until", "name": "wait", "config": wait},
            {
                "type": "set-variable",
                "name": "out",
                "config": {"variableName": "out", "value": {"posted": "{{posted}}", "tries": "{{job.attempts}}"}},
            },
        ],
    }


@pytest.mark.slow
def test_a_flow_is_taken_over_runs_and_comes_back(
    pegboard: Pegboard, home: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORDERS_KEY", "opensesame-123")
    flow = order_flow(server)
    file, mapped = kept(home, flow), ("--map", "tool_9f8e7d6c=shop.get_order")
    code, refused, _ = pegboard("chain", "import", file, *mapped, "--write")
    assert code == 1
    assert {one["code"] for one in refused["findings"] if one["weight"] == "refused"} == {"PRIVATE_ADDRESS"}
    assert "check_order" not in (home / "pegboard.toml").read_text()
    code, taken, _ = pegboard("chain", "import", file, *mapped, "--allow-private", "--write")
    assert (code, taken["name"], taken["hidden"]) == (0, "check_order", ["check_order.*"])
    assert (home / "pegboard.toml").read_text().startswith("# ours\n")
    assert "opensesame" not in (home / "pegboard.toml").read_text()
    code, done, _ = pegboard("chain", "run", "check_order", "--args", '{"order_id": "A1"}')
    assert code == 0
    assert done["value"]["posted"]["body"] == {"size": "big", "total": 120}
    assert done["value"]["posted"]["path"] == "/orders/A1"
    assert done["value"]["posted"]["auth"] == "Bearer opensesame-123"
    assert done["value"]["tries"] == 3
    code, back, _ = pegboard("chain", "export", "check_order")
    assert (code, back["as_it_was"], back["flow"]) == (0, True, flow)


@pytest.mark.slow
def test_steps_that_ask_models_run(pegboard: Pegboard, home: Path) -> None:
    ask = {"agentId": "agent:clerk", "message": "File {{sorted.kind}}.", "outputVariable": "filed"}
    sort = {
        "model": "gpt-4o",
        "systemPrompt": "Sort it.",
        "userPrompt": "What is {{text}}?",
        "responseFormat": "json",
        "outputVariable": "sorted",
    }
    steps = [
        {"type": "prompt", "name": "sort", "config": sort},
        {"type": "execute-agent", "name": "ask", "config": ask},
    ]
    config = home / "pegboard.toml"
    with serving(Scripted(['{"kind": "a bill"}', "Filed."])) as model:
        clerk = f'[agent.clerk]\nmodel = "toy"\nbase_url = "{model.url}"\noffer = true\n'
        config.write_text(f"{config.read_text()}\n{clerk}")
        assert pegboard("chain", "import", kept(home, {"name": "sort it", "steps": steps}), "--write")[0] == 0
        own = f'model = "toy"\nbase_url = "{model.url}"'
        config.write_text(config.read_text().replace('model = "openai:gpt-4o"', own))
        code, done, _ = pegboard("chain", "run", "sort_it", "--args", '{"text": "this"}')
    assert (code, done["value"]) == (0, "Filed.")
    said = [json.dumps(request["messages"]) for request in model.requests]
    assert "Sort it." in said[0]
    assert "What is this?" in said[0]
    assert "File a bill." in said[1]


def test_a_flow_is_only_shown_unless_it_shall_be_written(pegboard: Pegboard, home: Path) -> None:
    before = (home / "pegboard.toml").read_text()
    file = kept(home, {"name": "Ask", "steps": [PROMPT]})
    code, shown, _ = pegboard("chain", "import", file, "--name", "asking")
    assert (code, shown["written"], shown["name"]) == (0, False, "asking")
    assert shown["agents"]["asking_said"]["model"] == "openai:gpt-4o"
    assert (home / "pegboard.toml").read_text() == before
    assert not list(home.glob("*.flow.json"))


def test_what_the_config_has_already_is_left_as_it_is(pegboard: Pegboard, home: Path) -> None:
    file = kept(home, {"name": "Two", "steps": [TRANSFORM]})
    (home / "pegboard.toml").write_text(
        (home / "pegboard.toml").read_text() + '\n[board]\nname = "b"\nhidden = ["x.*"]\n'
    )
    assert pegboard("chain", "import", file, "--write")[0] == 0
    assert 'hidden = ["x.*", "two.*"]' in (home / "pegboard.toml").read_text()
    code, problem, _ = pegboard("chain", "import", file, "--write")
    assert code == 2
    assert "--name" in problem["error"]["next_step"]


@pytest.mark.parametrize(
    ("text", "code"),
    [("{", 2), ("[" * 5000, 2), ("", 2), ("{}", 1), ("null", 1), ('{"steps": 3}', 1), ('"\\ud800"', 1)],
)
def test_a_file_that_is_no_flow_is_told(pegboard: Pegboard, home: Path, text: str, code: int) -> None:
    (home / "flow.json").write_text(text)
    found, said, _ = pegboard("chain", "import", str(home / "flow.json"))
    assert found == code
    assert said.get("error") or said["findings"]


def test_a_chain_that_is_not_there_cannot_be_exported(pegboard: Pegboard) -> None:
    code, problem, _ = pegboard("chain", "export", "nobody")
    assert code == 2
    assert "nobody" in problem["error"]["message"]


@pytest.mark.requirement("R8.4")
def test_a_step_of_a_flow_is_judged_by_its_tool_and_waits_for_a_yes_through_a_restart(
    pegboard: Pegboard, home: Path
) -> None:
    [module] = home.glob("orders_*.py")
    module.write_text(TOOLS + DROP)
    config = home / "pegboard.toml"
    config.write_text(f'{config.read_text()}\n[approval]\nrequire = ["drop_order"]\n')
    steps = [
        {"type": "tool-call", "name": "get", "config": {"toolId": "tool:book", "parameters": {"id": "{{id}}"}}},
        {
            "type": "tool-call",
            "name": "drop",
            "config": {"toolId": "tool:drop_order", "parameters": {"id": "{{get.id}}"}, "errorHandling": "fail"},
        },
    ]
    assert pegboard("chain", "import", kept(home, {"name": "drop it", "steps": steps}), "--write")[0] == 0
    start = ("chain", "run", "drop_it", "--args", '{"id": "A1"}')
    assert pegboard(*start)[1]["failure"]["code"] == "approval_needed"
    [one] = pegboard("chain", "list")[1]["runs"]
    assert one["status"] == "waiting_approval"
    assert not (home / "dropped").exists()
    say_yes(pegboard)
    assert pegboard("chain", "resume", one["id"])[0] == 0
    assert (home / "dropped").read_text() == "A1"
    assert pegboard("chain", "show", one["id"])[1]["status"] == "done"


def say_yes(pegboard: Pegboard) -> None:
    """Agree to what waits."""
    pending = [one["id"] for one in pegboard("approvals", "list")[1]["requests"] if one["state"] == "pending"]
    assert pending
    for id in pending:
        assert pegboard("approvals", "allow", id)[0] == 0


@pytest.mark.requirement("R10.4")
def test_a_step_of_a_tool_that_is_not_on_the_board_is_refused_when_the_flow_is_taken_over(
    pegboard: Pegboard, home: Path
) -> None:
    step = {"type": "tool-call", "name": "x", "config": {"toolId": "mcp:shop:get_orders"}}
    code, said, _ = pegboard("chain", "import", kept(home, {"name": "x", "steps": [step]}), "--write")
    assert code == 1
    [finding] = said["findings"]
    assert (finding["code"], finding["where"]) == ("TOOL_CALL_STEP_UNKNOWN_CATALOG_TOOL", "/steps/0/config/toolId")
    assert "shop.get_order" in finding["next_step"]
