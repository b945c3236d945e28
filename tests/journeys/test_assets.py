"""A picture goes from one tool to another, and base64 never stands in what a model reads."""

import json
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest
from journey_kit import MakeGateway, workshop
from mock_api import serving
from openapi_kit import described
from workshop_server import PHOTO

from pegboard.board import Board
from pegboard.config import load

pytestmark = pytest.mark.anyio
BASE64 = b64encode(PHOTO).decode()


@pytest.mark.slow
@pytest.mark.requirement("R5.1", "R5.2", "R5.3", "R5.4")
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_photo_goes_from_tool_to_tool_by_its_handle(gateway: MakeGateway, mode: str) -> None:
    served = gateway("stdio", {"ws": workshop()})
    async with served.client(mode) as client:
        shot = await client.call_tool("ws__photo", {})
        assert [block.type for block in shot.content][:2] == ["image", "text"]
        assert shot.content[0].data == BASE64
        [told] = shot.meta["pegboard/report"]["assets"]
        handle = told["handle"]
        assert handle.startswith("pegboard-asset://")
        assert handle in shot.content[1].text
        framed = await client.call_tool("ws__frame", {"photo": handle, "label": handle})
        assert framed.content[0].text == f"{sha256(PHOTO).hexdigest()} {handle}"
        forged = await client.call_tool("ws__frame", {"photo": f"{handle[:-4]}0000", "label": "x"})
        assert forged.is_error
        assert forged.meta["pegboard/failure"]["code"] == "asset_unknown"
        assert "result_read" not in {tool.name for tool in (await client.list_tools()).tools}


UPLOADS = {
    "multipart": (
        {"multipart/form-data": {"schema": {"type": "object", "required": ["file"], "properties": {
            "file": {"type": "string", "format": "binary"}, "note": {"type": "string"}}}}},
        "file",
    ),
    "octets": ({"application/octet-stream": {}}, "body"),
    "an array of files": (
        {"multipart/form-data": {"schema": {"type": "object", "properties": {
            "files": {"type": "array", "items": {"type": "string", "format": "binary"}}}}}},
        "files",
    ),
}  # fmt: skip


@pytest.mark.requirement("R5.2")
@pytest.mark.parametrize("case", UPLOADS)
async def test_uploads_to_an_http_service_take_handles(tmp_path: Path, case: str) -> None:
    content, name = UPLOADS[case]
    document = described("/files", "post", {"requestBody": {"required": True, "content": content}})
    (tmp_path / "api.json").write_text(json.dumps(document))
    with serving() as api:
        (tmp_path / "pegboard.toml").write_text(f'[sources.api]\nopenapi = "api.json"\nbase_url = "{api.url}"\n')
        async with Board.open(load(tmp_path / "pegboard.toml")) as board:
            assert board.assets is not None
            handle = (await board.assets.put(PHOTO, "image/png")).handle()
            [spec] = board.catalog.specs
            value = [handle] if case == "an array of files" else handle
            result = await board.call(spec.name, {name: value})
        assert result.ok, result.failure
        assert PHOTO in api.last.body
