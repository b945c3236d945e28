"""The keywords of JSON Schema by what they do."""

OF_NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
"""What a number must be."""

SIZES = frozenset({"minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"})
"""How much of a value there may be."""

BOUNDS = OF_NUMBERS | SIZES | {"pattern", "uniqueItems"}
"""What judges a value without judging its parts."""

ANNOTATIONS = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"}
)
"""Keywords that say something without refusing any value."""

_OBJECT = (
    "properties required additionalProperties patternProperties propertyNames minProperties maxProperties "
    "dependentRequired dependentSchemas unevaluatedProperties"
)
_ARRAY = "items prefixItems minItems maxItems uniqueItems contains minContains maxContains unevaluatedItems"
_STRING = "minLength maxLength pattern contentEncoding contentMediaType contentSchema"

KIND_OF = {
    **dict.fromkeys(_OBJECT.split(), "object"),
    **dict.fromkeys(_ARRAY.split(), "array"),
    **dict.fromkeys(_STRING.split(), "string"),
    **dict.fromkeys(sorted(OF_NUMBERS), "number"),
}
"""The type that each keyword judges; it says nothing of values of other types."""

DEMANDING = frozenset(KIND_OF) | {"format", "if", "then", "else", "not", "oneOf", "allOf", "const"}
"""Keywords that refuse values."""
