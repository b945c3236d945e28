"""The model that a name means: of a provider that pydantic-ai knows, or at an OpenAI-compatible address."""

from collections.abc import Callable
from typing import Any

from pegboard.agent.definition import Definition
from pegboard.errors import ConfigError, MissingExtraError

try:
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.models import Model, infer_model
except ImportError as error:
    raise MissingExtraError("agent", feature="Running an agent") from error


def model_of(agent: Definition, reveal: Callable[..., Any]) -> Model:
    """The model of an agent, ready to be asked.

    Parameters:
        agent: the agent.
        reveal: puts secrets in the place of references.

    Raises:
        ConfigError: no provider has this name, or it cannot be used as things are.
        SourceError: a reference leads nowhere.
    """
    where = f"[agent.{agent.name}] model"
    if agent.base_url:
        return _at(agent, reveal)
    try:
        return infer_model(agent.model)
    except UserError as problem:
        step = 'Write "provider:name", such as "openai:gpt-5", with the provider\'s key in its environment variable;'
        raise ConfigError(
            f"The model {agent.model!r} cannot be used: {problem}",
            where=where,
            next_step=f"{step} for a model of your own give base_url.",
        ) from problem
    except ImportError as problem:
        raise ConfigError(f"The model {agent.model!r} needs more: {problem}", where=where) from problem
    except ValueError as problem:
        raise ConfigError(f"The model {agent.model!r} is not known: {problem}", where=where) from problem


RESPONSES = "openai-responses:"
"""What the name of a model at an address begins with where it speaks OpenAI's Responses API; else it is Chat."""


def _at(agent: Definition, reveal: Callable[..., Any]) -> Model:
    try:
        from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
        from pydantic_ai.providers.openai import OpenAIProvider
    except ImportError as error:
        raise MissingExtraError("agent", feature="A model at an address") from error
    url = reveal(agent.base_url, where=f"agent.{agent.name}.base_url")
    key = reveal(agent.key, where=f"agent.{agent.name}.key") or "none"
    made = OpenAIResponsesModel if agent.model.startswith(RESPONSES) else OpenAIChatModel
    return made(agent.model.removeprefix(RESPONSES), provider=OpenAIProvider(base_url=url, api_key=key))
