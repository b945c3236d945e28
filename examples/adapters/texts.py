"""What the manifest binds its definition to."""


def reverse(text: str) -> str:
    """Write a text backwards."""
    return text[::-1]
