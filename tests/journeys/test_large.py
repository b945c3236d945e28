"""Large answers are cut with a report, and the rest is read in pages through the gateway."""

import json

import pytest
from journey_kit import MakeGateway, workshop

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
LIMIT = 50_000


def size(text: str) -> int:
    return len(text.encode())


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_cut_text_says_what_was_cut_and_the_whole_is_read_in_pages(gateway: MakeGateway, mode: str) -> None:
    served = gateway("stdio", {"ws": workshop()}, f"max_result = {LIMIT}")
    async with served.client(mode) as client:
        answer = await client.call_tool("ws__big", {"bytes": 300_000})
        assert not answer.is_error
        texts = [block.text for block in answer.content]
        assert sum(map(size, texts)) <= LIMIT
        assert set(texts[0]) == {"ü"}
        assert "of 300000 bytes" in texts[-1]
        handle = texts[-1].partition('id "')[2].partition('"')[0]

        names = {tool.name for tool in (await client.list_tools()).tools}
        assert ("result_read" in names) is (mode == "legacy")

        whole, page = "", 1
        while True:
            found = await client.call_tool("result_read", {"id": handle, "page": page})
            if found.is_error:
                break
            assert size(found.content[0].text) <= LIMIT
            whole += found.content[0].text.partition("\n\n(page ")[0]
            page += 1
        assert whole == "ü" * 150_000


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_cut_value_stays_valid_json_of_its_kind(gateway: MakeGateway, mode: str) -> None:
    served = gateway("stdio", {"ws": workshop()}, f"max_result = {LIMIT}")
    async with served.client(mode) as client:
        answer = await client.call_tool("ws__table", {"rows": 5_000})
        rows = answer.structured_content["rows"]
        assert rows[0] == {"id": 0, "note": "ü" * 50}
        assert 0 < len(rows) < 5_000
        assert size(json.dumps(answer.structured_content, ensure_ascii=False, separators=(",", ":"))) <= LIMIT
        assert {change["kind"] for change in answer.meta["pegboard/report"]["changes"]} == {"cut"}
