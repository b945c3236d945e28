"""Flows of Runtype to try: made up, in the shapes of runtype-sdk 5.5 (MIT) and of runtypelabs/skills (MIT)."""

from typing import Any

TOOL_CALL: dict[str, Any] = {
    "type": "tool-call",
    "name": "Get order",
    "config": {"toolId": "mcp:shop:get_order", "parameters": {"id": "{{order_id}}"}, "outputVariable": "order"},
}
TRANSFORM: dict[str, Any] = {
    "type": "transform-data",
    "name": "Add up",
    "config": {
        "script": "return input.order.lines.reduce((sum, line) => sum + line.price, 0);",
        "outputVariable": "total",
        "sandboxProvider": "quickjs",
    },
}
SET: dict[str, Any] = {
    "type": "set-variable",
    "name": "Label",
    "config": {"variableName": "label", "value": {"text": "order {{order.id}}", "nothing": None, "n": 3}},
}
CONDITIONAL: dict[str, Any] = {
    "type": "conditional",
    "name": "Is big",
    "config": {
        "condition": "{{total}} > 100 && !({{order.paid}})",
        "trueSteps": [
            {"type": "set-variable", "name": "yes", "config": {"variableName": "size", "value": "big"}},
            {
                "type": "conditional",
                "name": "Very big",
                "config": {
                    "condition": "total >= 1000",
                    "trueSteps": [
                        {"type": "set-variable", "name": "huge", "config": {"variableName": "size", "value": "huge"}}
                    ],
                    "falseSteps": [],
                },
            },
        ],
        "falseSteps": [{"type": "set-variable", "name": "no", "config": {"variableName": "size", "value": "small"}}],
    },
}
API_CALL: dict[str, Any] = {
    "type": "api-call",
    "name": "Post",
    "when": "size !== 'small'",
    "config": {
        "http": {
            "url": "https://api.example.com/orders/{{order.id}}/notes?lang={{lang}}",
            "method": "POST",
            "headers": {"authorization": "Bearer {{secret:SHOP_KEY}}", "accept-language": "{{lang}}"},
            "body": {"size": "{{size}}", "note": "It is {{size}}."},
        },
        "outputVariable": "posted",
        "errorHandling": "fail",
    },
}
WAIT: dict[str, Any] = {
    "type": "wait-until",
    "name": "Wait",
    "config": {
        "delayMs": 20,
        "poll": {
            "http": {"url": "https://api.example.com/jobs/{{posted.job}}"},
            "success": "status === 200 && body.state === 'done'",
            "intervalMs": 10,
            "maxAttempts": 5,
        },
        "continueOnTimeout": True,
        "outputVariable": "job",
    },
}
PROMPT: dict[str, Any] = {
    "type": "prompt",
    "name": "Say it",
    "config": {
        "model": "gpt-4o",
        "systemPrompt": "Be brief.",
        "userPrompt": "Say that {{label.text}} is {{size}}.",
        "responseFormat": "json",
        "tools": {"toolIds": ["mcp:shop:*"], "maxToolCalls": 3},
        "outputVariable": "said",
    },
}
EXECUTE: dict[str, Any] = {
    "type": "execute-agent",
    "name": "Ask",
    "config": {"agentId": "agent:clerk", "message": "File {{said}}.", "outputVariable": "filed"},
}
STEPS = [TOOL_CALL, TRANSFORM, SET, CONDITIONAL, API_CALL, WAIT, PROMPT, EXECUTE]
WHOLE: dict[str, Any] = {
    "name": "Check an order",
    "description": "Look at an order.",
    "steps": [{"id": f"step_{at}", "order": at, "enabled": True, **step} for at, step in enumerate(STEPS)],
}
