"""Signing in to remote MCP servers (OAuth 2.1): once by a person, then kept, put on requests and refreshed."""

from pegboard.wire.oauth.keeper import Keeper
from pegboard.wire.oauth.signin import SignIn, server_key
from pegboard.wire.oauth.vault import EnvironmentVault, FileVault, KeyringVault, Vault, vault_of

__all__ = ["EnvironmentVault", "FileVault", "Keeper", "KeyringVault", "SignIn", "Vault", "server_key", "vault_of"]
