"""A board that shapes real sources by its config alone: an HTTP service, an MCP server, a database."""

import json
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest
from journey_kit import WORKSHOP
from mock_api import json_reply, serving
from openapi_kit import described

from pegboard.board import Board
from pegboard.config import load
from pegboard.core import Mode
from pegboard.errors import ConfigError
from pegboard.surface import mcp

pytestmark = pytest.mark.anyio

RECORD = {
    "type": "object",
    "required": ["USR_ID"],
    "properties": {
        "USR_ID": {"type": "integer"},
        "NM_TX": {"type": "string"},
        "STAT_CD": {"type": "string"},
        "CRT_TS": {"type": "integer"},
        "SSN_NO": {"type": "string"},
    },
}
ANSWER = {"RC": 0, "DATA": [{"USR_ID": 7, "NM_TX": "Ada", "STAT_CD": "A", "CRT_TS": 0, "SSN_NO": "1-2"}]}
BOARD = """
[board]
store = ":memory:"
search = "off"

[sources.crm]
openapi = "crm.json"
base_url = "{url}"
input = {{ TENANT_ID = {{ fix = "acme-7" }} }}

[sources.crm.models.User]
id = "USR_ID"
name = "NM_TX"
active = "${{STAT_CD == 'A'}}"
created_at = {{ path = "CRT_TS", date = "unix" }}

[sources.crm.tools.usrQry]
name = "find_users"
description = "Find users by name."
records = "DATA"
output = "User"
input = {{ NM_TX = "name", DBG = false }}

[sources.crm.tools.usrDel]
name = "delete_user"
input = {{ USR_ID = {{ rename = "user_id", minimum = 1 }} }}
preview = {{ tool = "find_users", args = {{ name = "${{str(input.user_id)}}" }} }}

[sources.crm.tools.usrPut]
name = "rename_user"
input = {{ USR_ID = "user_id", NM_TX = "name" }}
output = {{ id = "USR_ID" }}

[batch."crm.rename_users"]
tool = "crm.rename_user"
over = ["user_id", "name"]

[bundle.find_and_rename]
description = "Rename the user of a name."
steps = [
  {{ id = "found", tool = "crm.find_users", args = {{ name = "${{input.old}}" }} }},
  {{ tool = "crm.rename_user", args = {{ user_id = "${{int(found[0].id)}}", name = "${{input.new}}" }} }},
]

[sources.ws]
mcp = ["{python}", "{workshop}"]
allow = ["say"]

[sources.ws.tools.echo]
name = "say"
input = {{ text = "words" }}
output = {{ said = "text" }}

[sources.shop]
sql = "sqlite:///shop.db"

[sources.shop.tools.search_records]
input = {{ table = {{ fix = "cst_mst" }} }}
drop = ["*_SSN"]
"""


def parameter(name: str, kind: str = "string", *, needed: bool = False) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": needed, "schema": {"type": kind}}


def write(folder: Path, url: str) -> Path:
    content = {"application/json": {"schema": {"type": "object", "required": ["DATA"], "properties": {
        "RC": {"type": "integer"}, "DATA": {"type": "array", "items": RECORD}}}}}  # fmt: skip
    tenant = parameter("TENANT_ID", needed=True)
    document = described(
        "/usr/qry",
        "get",
        {
            "operationId": "usrQry",
            "parameters": [tenant, parameter("NM_TX"), parameter("DBG", "boolean")],
            "responses": {"200": {"description": "ok", "content": content}},
        },
    )
    document["paths"]["/usr/del"] = {
        "delete": {
            "operationId": "usrDel",
            "parameters": [tenant, parameter("USR_ID", "integer", needed=True)],
            "responses": {"200": {"description": "ok"}},
        }
    }
    document["paths"]["/usr/put"] = {
        "put": {
            "operationId": "usrPut",
            "parameters": [tenant, parameter("USR_ID", "integer", needed=True), parameter("NM_TX")],
            "responses": {"200": {"description": "ok", "content": {"application/json": {"schema": RECORD}}}},
        }
    }
    (folder / "crm.json").write_text(json.dumps(document))
    with sqlite3.connect(folder / "shop.db") as database:
        database.execute("create table cst_mst (ID integer primary key, NAME text, CST_SSN text)")
        database.execute("insert into cst_mst values (1, 'Ada', '1-2')")
    text = BOARD.format(url=url, python=sys.executable, workshop=WORKSHOP)
    (folder / "pegboard.toml").write_text(text)
    return folder / "pegboard.toml"


@pytest.mark.requirement("C13.2", "C13.3", "C14.1", "C14.2")
async def test_an_http_service_an_mcp_server_and_a_database_are_shaped_by_the_config(tmp_path: Path) -> None:
    with serving() as api:
        api.answer = lambda seen: (
            json_reply(ANSWER) if "qry" in seen.path else json_reply({"detail": "USR_ID 7 of acme-7"}, 409)
        )
        async with Board.open(load(write(tmp_path, api.url))) as board:
            specs = {str(spec.name): spec for spec in board.catalog.specs}
            users = await board.call("crm.find_users", {"name": "Ada"})
            assert users.value == [{"id": "7", "name": "Ada", "active": True, "created_at": "1970-01-01T00:00:00Z"}]
            assert dict(api.last.pairs) == {"TENANT_ID": "acme-7", "NM_TX": "Ada"}

            shown = await board.call("crm.delete_user", {"user_id": 7})
            assert (shown.mode, shown.value) == (Mode.PREVIEW, users.value)
            refused = await board.call("crm.delete_user", {"user_id": 7, "mode": "execute"})
            assert refused.failure is not None
            assert "user_id 7 of …" in refused.failure.message

            unsent = await board.call("crm.rename_user", {"user_id": 7, "name": "x"}, mode=Mode.PREVIEW)
            assert unsent.value == {"sent": False, "arguments": {"user_id": 7, "name": "x"}}
            assert unsent.report is not None
            assert unsent.report.data["prepared"] is True
            api.answer = lambda seen: json_reply(ANSWER if "qry" in seen.path else ANSWER["DATA"][0])
            many = await board.call(
                "crm.rename_users", {"items": [{"user_id": 7, "name": "a"}, {"user_id": 8, "name": "b"}]}
            )
            assert [item["value"] for item in many.value["items"]] == [{"id": 7}, {"id": 7}]
            both = await board.call("find_and_rename", {"old": "Ada", "new": "Eve"})
            assert both.ok, both.failure
            assert dict(api.last.pairs) == {"TENANT_ID": "acme-7", "USR_ID": "7", "NM_TX": "Eve"}
            hits = await board.search("find users by their name")
            assert "crm.find_users" in [str(hit.spec.name) for hit in hits.hits][:3]

            said = await board.call("ws.say", {"words": "hi"})
            assert said.value == {"said": "hi"}

            rows = await board.call("shop.search_records", {})
            assert "CST_SSN" not in str(rows)
            assert "Ada" in str(rows)
            everything = json.dumps([mcp.tool(spec, name) for name, spec in specs.items() if name.startswith("crm.")])
            everything += json.dumps([mcp.output(one, None) for one in (users, shown, refused, unsent, many, both)])
    for word in ("USR_ID", "usrQry", "NM_TX", "STAT_CD", "SSN", "TENANT", "acme", "DBG", "DATA"):
        assert word not in everything
    assert "table" not in specs["shop.search_records"].properties
    assert [name for name in specs if name.startswith("ws.")] == ["ws.say"]


@pytest.mark.parametrize(
    ("text", "key", "step"),
    [
        ("[sources.a.tools.b]\nnmae = 'x'", "sources.a.tools.b.nmae", "name"),
        ("[sources.a.tools.b]\nflatten = 1", "sources.a.tools.b.flatten", "true"),
        ("[sources.a.tools]\nb = 1", "sources.a.tools.b", "table"),
        ("[sources.a.tools.b]\neffects = 'readonly'", "sources.a.tools.b.effects", "read_only"),
        ("[models.X]\nfeilds = {}", "models.X.feilds", "fields"),
    ],
)
def test_a_mistake_in_a_shape_is_told_with_its_key(tmp_path: Path, text: str, key: str, step: str) -> None:
    (tmp_path / "pegboard.toml").write_text(f"[sources.a]\nrecorded = 'x.json'\n{text}\n")
    with pytest.raises(ConfigError) as told:
        load(tmp_path / "pegboard.toml")
    assert key in str(told.value)
    assert step in str(told.value)


async def test_models_of_the_config_are_fields_or_a_class_and_a_changed_one_lists_anew(tmp_path: Path) -> None:
    (tmp_path / "shop_models.py").write_text(
        "from pydantic import BaseModel\nclass Lead(BaseModel):\n    key: str\n    score: int | None = None\n"
    )
    (tmp_path / "ops_tools_x.py").write_text(
        "from pegboard import tool\n@tool(effects='read_only')\nasync def rows() -> list[dict]:\n"
        "    'Rows.'\n    return [{'K': 1, 'S': 2}, {'K': 2}]\n"
    )
    for table, fields in (
        ('python = "shop_models:Lead"', 'key = "K"\nscore = "S"'),
        ('fields = { key = "string", "score?" = "integer" }', 'key = "K"\nscore = "S"'),
        ('fields = { key = "string" }', 'key = "K"'),
    ):
        (tmp_path / "pegboard.toml").write_text(
            f'[board]\nsearch = "off"\n[models.Lead]\n{table}\n[sources.x]\npython = "ops_tools_x"\n'
            f'[sources.x.models.Lead]\n{fields}\n[sources.x.tools.rows]\noutput = "Lead"\n'
        )
        async with Board.open(load(tmp_path / "pegboard.toml")) as board:
            result = await board.call("x.rows")
        first = {"key": "1", "score": 2} if "score" in fields else {"key": "1"}
        assert result.value == [first, {"key": "2"}]
