"""A mail service whose tool takes several recipients now. What is sent is written to OUTBOX, a line an e-mail."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from pegboard import tool
from pegboard.core import Effects

OUTBOX = Path(os.environ.get("OUTBOX", "outbox.jsonl"))


@dataclass
class Sent:
    """An e-mail that is sent.

    Parameters:
        recipients: who gets it.
        subject: what it is about.
    """

    recipients: list[str]
    subject: str


@tool(effects=Effects.ADDITIVE)
def send_email(to: str, subject: str, body: str = "") -> Sent:
    """Send an e-mail.

    Parameters:
        to: who gets it.
        subject: what it is about.
        body: what it says.
    """
    return deliver(Sent([to], subject), body)


@tool(effects=Effects.ADDITIVE)
def send_email_v2(recipients: list[str], subject: str, body: str = "", draft: bool = False) -> Sent:
    """Send an e-mail to some people.

    Parameters:
        recipients: who gets it.
        subject: what it is about.
        body: what it says.
        draft: whether it is only kept.
    """
    return deliver(Sent(recipients, subject), body, "draft" if draft else "sent")


@tool(
    name="address_of",
    version="1",
    effects=Effects.READ_ONLY,
    deprecated="It knows the first office only.",
    successor="address_of@2",
    sunset="2020-01-31",
)
def address_of_1(name: str) -> str:
    """Find the e-mail address of a person."""
    return f"{name.lower()}@office.example"


@tool(name="address_of", version="2", effects=Effects.READ_ONLY)
def address_of_2(name: str, office: str = "first") -> str:
    """Find the e-mail address of a person.

    Parameters:
        name: the person.
        office: the person's office.
    """
    return f"{name.lower()}@{office}.example"


def deliver(mail: Sent, body: str, state: str = "sent") -> Sent:
    """Write an e-mail to the outbox."""
    with OUTBOX.open("a") as file:
        file.write(json.dumps({**asdict(mail), "body": body, "state": state}) + "\n")
    return mail
