"""Who says yes: requests to a person, their answers, and what is remembered of them."""

from pegboard.approval.decision import Approver, By, Choice, Decision
from pegboard.approval.desk import Desk, Verdict
from pegboard.approval.fault import ApprovalError, Fault
from pegboard.approval.grant import Grant
from pegboard.approval.request import Item, Kind, Request, item_of, new_request

__all__ = [
    "ApprovalError",
    "Approver",
    "By",
    "Choice",
    "Decision",
    "Desk",
    "Fault",
    "Grant",
    "Item",
    "Kind",
    "Request",
    "Verdict",
    "item_of",
    "new_request",
]
