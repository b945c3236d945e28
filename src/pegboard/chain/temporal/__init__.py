"""Chains on a Temporal server (extra `temporal`), for those who outgrow one machine: the same chains and reports."""
