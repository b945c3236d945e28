"""What users of other tool searches have reported, each with its right outcome."""

from pegboard.core import Selection, ToolName, ToolSpec
from pegboard.index import Where
from pegboard.index.protocol import names_of

from .conftest import tool


def bare(name: str, description: str = "") -> ToolSpec:
    return ToolSpec(name=ToolName("", name), description=description)


def test_the_bare_name_finds_the_prefixed_one(index_of):  # Yeachan-Heo/oh-my-claudecode#814
    engine = index_of(bare("mcp__plugin_x__ask_helper"), bare("mcp__plugin_g__ask_other"), bare("list_files"))
    assert names_of(engine.search("ask_helper").hits)[0] == "mcp__plugin_x__ask_helper"


def test_the_servers_name_finds_its_tools(index_of):  # mvanhorn/cli-printing-press#2553
    mine = ["splitpay.get-groups_list", "splitpay.settle_up", "splitpay.search"]
    engine = index_of(*(tool(name) for name in mine), tool("other.search"), tool("other.list"))
    assert set(names_of(engine.search("splitpay").hits)[:3]) == set(mine)


def test_a_russian_word_finds_its_russian_description(index_of):  # PrefectHQ/fastmcp#4889
    engine = index_of(bare("get_portfolio", "показать портфель клиента"), bare("get_weather", "show weather"))
    assert names_of(engine.search("портфель").hits)[0] == "get_portfolio"


def test_chinese_without_spaces_and_mixed_scripts_are_found(index_of):  # nicobailon/pi-mcp-adapter#607
    engine = index_of(bare("parse_pdf", "解析pdf文件并提取文本"), bare("get_screen", "查看当前屏幕"))
    first = {query: names_of(engine.search(query).hits)[0] for query in ("帮我看看现在屏幕上是什么", "pdf", "解析pdf")}
    assert list(first.values()) == ["get_screen", "parse_pdf", "parse_pdf"]


def test_an_alias_in_another_language_is_found_with_and_without_accents(index_of):  # NousResearch/hermes-agent#110776
    generate = ToolSpec(name=ToolName("", "image_generate"), description="Generate an image", aliases=("tạo ảnh",))
    engine = index_of(generate, bare("image_list", "List images"))
    for query in ("tạo ảnh", "tao anh"):
        assert names_of(engine.search(query).hits)[0] == "image_generate"


def test_a_tool_that_policy_leaves_out_is_neither_shown_nor_counted(index_of):  # smart-mcp-proxy/mcpproxy-go#447
    engine = index_of(bare("delete_all"), bare("delete_draft"))
    found = engine.search("delete", where=Where(select=Selection.parse(["!delete_all"])))
    assert (names_of(found.hits), found.total, found.next_names) == (["delete_draft"], 1, ())


def test_a_short_request_matches_words_and_not_letters_inside_words(
    index_of,
):  # mattermost/mattermost-plugin-agents#653
    engine = index_of(bare("pr_list", "List pull requests"), bare("reply", "Express an opinion"))
    found = engine.search("pr")
    assert names_of(found.hits)[0] == "pr_list"
    assert all(hit.name.name != "reply" for hit in found.hits if hit.matched)


def test_an_exactly_named_tool_survives_a_crowd(index_of):  # openai/codex#21503
    crowd = [bare(f"report_{n}", "create a report, create reports, report creation") for n in range(60)]
    engine = index_of(*crowd, bare("create_report_draft"))
    assert names_of(engine.search("create_report_draft").hits)[0] == "create_report_draft"


def test_one_shared_word_is_no_match(index_of):  # NousResearch/hermes-agent#106676
    crowd = [tool(f"rooms.room_{n}", f"Opens door {n} in the morning") for n in range(20)]
    engine = index_of(tool("mail.send_email", "Send an email with attachments to a customer"), *crowd)
    found = engine.search("email the signed contract with attachments to our customer in Lisbon this morning please")
    assert names_of(found.hits) == ["mail.send_email"]


def test_the_terms_that_match_nothing_are_told(index_of):  # archestra-ai/archestra#5664
    found = index_of(tool("mail.send", "Send an email")).search("send a zeppelin")
    assert found.unknown_terms == ("zeppelin",)
