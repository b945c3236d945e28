"""Other scripts and languages: each is read by its own rules, and none shreds another."""

import pytest

from pegboard.index.protocol import names_of
from pegboard.index.text import words

from .conftest import tool

CATALOG = [
    tool("a.parse_pdf", "解析pdf文件并提取文本"),
    tool("a.get_screen", "查看当前屏幕"),
    tool("a.send_mail", "发送电子邮件给联系人"),
    tool("b.get_portfolio", "показать портфель клиента"),
    tool("b.get_weather", "show weather"),
    tool("c.image_generate", "Generate an image from a prompt", aliases=("tạo ảnh",)),
    tool("c.image_list", "List images"),
    tool("d.rechnung_suchen", "Sucht Rechnungen eines Kunden nach Datum"),
    tool("d.kunde_anlegen", "Legt einen neuen Kunden an"),
    tool("e.buscar_facturas", "Busca las facturas de un cliente por fecha"),
    tool("e.crear_cliente", "Crea un cliente nuevo"),
    tool("f.yoyaku", "レストランの予約を作成する"),
    tool("f.tenki", "指定した都市の天気予報を取得する"),
    tool("g.search_korean", "한국어 문서를 검색합니다"),
]
ASKED = {
    "帮我看看现在屏幕上是什么": "a.get_screen",
    "pdf": "a.parse_pdf",
    "解析pdf": "a.parse_pdf",
    "给同事发一封邮件": "a.send_mail",
    "портфель": "b.get_portfolio",
    "покажи портфели клиентов": "b.get_portfolio",
    "tạo ảnh": "c.image_generate",
    "tao anh": "c.image_generate",
    "Ich möchte die Rechnung eines Kunden suchen": "d.rechnung_suchen",
    "neuen Kunden anlegen": "d.kunde_anlegen",
    "necesito buscar una factura del cliente": "e.buscar_facturas",
    "quiero crear un cliente": "e.crear_cliente",
    "レストランを予約したい": "f.yoyaku",
    "明日の天気を教えて": "f.tenki",
    "문서 검색": "g.search_korean",
}


@pytest.mark.parametrize(("query", "name"), ASKED.items())
def test_a_request_meets_its_tool_in_its_own_language(index_of, query, name):
    assert names_of(index_of(*CATALOG).search(query).hits)[0] == name


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("getUserByID", ["get", "user", "by", "id"]),
        ("GitHub", ["git", "hub", "github"]),
        ("create_issue-v2", ["create", "issue", "v2"]),
        ("OAuth2 k8s", ["oauth2", "oauth", "k8s"]),
        ("PDFs and URLs", ["pdfs", "and", "urls"]),
        ("Ärger Übermut", ["arger", "ubermut"]),
        ("ＦＵＬＬ ｗｉｄｔｈ", ["full", "width"]),
        ("tạo ảnh", ["tao", "anh"]),
        ("解析pdf", ["解", "析", "解析", "pdf"]),
        ("ガイド", ["ガ", "イ", "ド", "ガイ", "イド"]),
    ],
)
def test_words_are_split_and_folded_but_never_shredded(text, found):
    assert sorted(words(text)) == sorted(found)
