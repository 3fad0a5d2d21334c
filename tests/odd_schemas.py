"""Schemas of tools as public servers send them: sound ones, and odd ones that still say what is meant."""

from pydantic import JsonValue

from agent_core.messages import JsonObject

TEXT: JsonObject = {"type": "string"}

SOUND: tuple[JsonObject, ...] = (
    {"type": "object", "properties": {}},
    {"type": "object", "properties": {"city": {"type": "string", "description": "Where"}}, "required": ["city"]},
    {
        "type": "object",
        "properties": {
            "where": {"$ref": "#/$defs/Place"},
            "days": {"type": ["integer", "null"], "exclusiveMinimum": 0, "maximum": 14, "default": None},
            "tags": {"type": "array", "items": TEXT, "minItems": 1, "uniqueItems": True},
            "unit": {"enum": ["C", "F", 1, True]},
            "when": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
            "properties": {"type": "object", "additionalProperties": {"type": "number"}},
            "$ref": {"type": "string", "pattern": "^[a-z]+$"},
        },
        "required": ["where"],
        "additionalProperties": False,
        "$defs": {
            "Place": {"type": "object", "properties": {"lat": {"type": "number"}, "near": {"$ref": "#/$defs/Place"}}}
        },
    },
    {
        "type": "object",
        "properties": {"filter": {"$ref": "#/$defs/Filter"}, "inner": {"$ref": "#"}},
        "$defs": {"Filter": {"oneOf": [{"const": "all"}, {"type": "object", "properties": {"by": TEXT}}]}},
    },
)

ODD: dict[str, JsonValue] = {
    "nothing at all": None,
    "an empty list, as PHP writes an empty object": [],
    "true": True,
    "no type": {"properties": {"a": TEXT}},
    "no properties": {"type": "object"},
    "properties null": {"type": "object", "properties": None},
    "properties an empty list": {"type": "object", "properties": []},
    "properties a list of named ones": {"properties": [{"name": "a", "type": "string", "required": True}, {"x": 1}]},
    "properties a list of names": {"properties": ["a", "b"]},
    "properties a text": {"properties": "none"},
    "a keyword among the properties": {"properties": {"a": TEXT, "type": "object", "required": ["a"]}},
    "required null": {"properties": {"a": TEXT}, "required": None},
    "required true": {"properties": {"a": TEXT}, "required": True},
    "required one name": {"properties": {"a": TEXT}, "required": "a"},
    "required with what is no name": {"properties": {"a": TEXT}, "required": ["a", None, 5, "a"]},
    "required at the property": {"properties": {"a": {"type": "string", "required": True}, "b": {"required": False}}},
    "required at a property within": {
        "properties": {"a": {"type": "object", "properties": {"b": {"type": "string", "required": True}}}}
    },
    "type any": {"properties": {"a": {"type": "any"}, "b": {"type": ["string", "any"]}, "c": {"type": "mixed"}}},
    "types of other languages": {
        "properties": {"a": {"type": "str"}, "b": {"type": "Integer"}, "c": {"type": "float"}, "d": {"type": "dict"}}
    },
    "a list without items": {"properties": {"a": {"type": "array"}, "b": {"type": "list", "items": None}}},
    "type null": {"type": None, "properties": {"a": {"type": None}}},
    "type a list with object": {"type": ["object", "null"], "properties": {"a": TEXT}},
    "types twice": {"properties": {"a": {"type": ["string", "string"]}, "b": {"type": []}}},
    "a type for a property": {"properties": {"a": "string", "b": "Some words", "c": True, "d": None, "e": False}},
    "a tuple of draft 7": {"properties": {"a": {"type": "array", "items": [{"type": "number"}, TEXT]}}},
    "a closed tuple of draft 7": {
        "properties": {"a": {"items": [{"type": "number"}, {"type": "number"}], "additionalItems": False}}
    },
    "a tuple of 2020-12": {"properties": {"a": {"type": "array", "prefixItems": [TEXT, TEXT], "items": False}}},
    "bounds of draft 4": {
        "properties": {"a": {"type": "integer", "minimum": 0, "exclusiveMinimum": True, "exclusiveMaximum": False}}
    },
    "bounds as text": {"properties": {"a": {"minimum": "1", "maxLength": "ten", "minItems": -1, "multipleOf": 0}}},
    "enum empty, twice the same, one, a map": {
        "properties": {"a": {"enum": []}, "b": {"enum": ["x", "x"]}, "c": {"enum": "x"}, "d": {"enum": {"K": "k"}}}
    },
    "pattern of another language": {"properties": {"a": {"type": "string", "pattern": "^\\p{L}+$"}}},
    "pattern properties of another language": {"properties": {"a": {"patternProperties": {"(": TEXT, "^x": TEXT}}}},
    "description and title of another kind": {
        "description": 5,
        "properties": {"a": {"title": None, "description": []}},
    },
    "alternatives at the root": {
        "type": "object",
        "anyOf": [
            {"properties": {"id": TEXT}, "required": ["id"]},
            {"properties": {"name": TEXT}, "required": ["name"]},
        ],
    },
    "kinds at the root": {
        "oneOf": [
            {"type": "object", "properties": {"kind": {"const": "a"}, "x": TEXT}, "required": ["kind", "x"]},
            {"type": "object", "properties": {"kind": {"const": "b"}, "y": TEXT}, "required": ["kind"]},
        ]
    },
    "parts at the root": {
        "allOf": [
            {"$ref": "#/definitions/Base"},
            {"properties": {"b": {"type": "any"}}, "required": ["b"]},
        ],
        "definitions": {"Base": {"type": "object", "properties": {"a": TEXT}, "required": ["a"]}},
    },
    "a reference at the root": {
        "$ref": "#/$defs/Args",
        "$defs": {"Args": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}}, "A": TEXT},
    },
    "a circle of references": {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}},
    "alternatives doubled again and again": {
        "$ref": "#/$defs/A0",
        "$defs": {
            f"A{level}": {"allOf": [{"$ref": f"#/$defs/A{level + 1}"}, {"$ref": f"#/$defs/A{level + 1}"}]}
            for level in range(200)
        },
    },
    "references to nowhere": {
        "properties": {"a": {"$ref": "#/definitions/Gone"}, "b": {"$ref": "other.json#/A"}, "c": {"$ref": 5}}
    },
    "definitions of draft 7": {
        "properties": {
            "a": {"$ref": "#/definitions/A"},
            "b": {"type": "array", "items": {"$ref": "#/definitions/B-b"}},
        },
        "definitions": {
            "A": {"type": "object", "properties": {"b": {"$ref": "#/definitions/B-b"}}, "required": ["b"]},
            "B-b": {"enum": ["x", "y"]},
        },
    },
    "references to other arguments": {
        "properties": {
            "start": {"type": "object", "properties": {"at": {"type": "string", "format": "date-time"}}},
            "end": {"$ref": "#/properties/start"},
            "also": {"type": "array", "items": {"$ref": "#/properties/start/properties/at", "description": "When"}},
            "$filter": TEXT,
            "more": {"$ref": "#/properties/$filter"},
        }
    },
    "a reference into alternatives": {
        "properties": {"a": {"anyOf": [{"type": "null"}, {"type": "object"}]}, "b": {"$ref": "#/properties/a/anyOf/1"}}
    },
    "references into what stands at the root no more": {
        "anyOf": [{"properties": {"a": {"type": "integer"}}}, {"properties": {"b": {"$ref": "#/anyOf/0/properties/a"}}}]
    },
    "definitions within an argument": {
        "properties": {
            "a": {"$defs": {"A": {"type": "integer"}}, "properties": {"x": {"$ref": "#/$defs/A"}}},
            "b": {"definitions": {"A": TEXT}, "properties": {"x": {"$ref": "#/properties/b/definitions/A"}}},
        },
        "$defs": {"A_2": {"type": "boolean"}},
    },
    "names of definitions with slashes and brackets": {
        "properties": {"a": {"$ref": "#/$defs/a~1b"}, "b": {"$ref": "#/$defs/List%5Bint%5D"}},
        "$defs": {"a/b": TEXT, "List[int]": {"type": "array", "items": {"type": "integer"}}},
    },
    "a tree": {
        "$ref": "#/definitions/Node",
        "definitions": {
            "Node": {
                "type": "object",
                "properties": {"name": TEXT, "children": {"type": "array", "items": {"$ref": "#/definitions/Node"}}},
                "required": ["name", "children"],
            }
        },
    },
    "the whole within itself": {"properties": {"and": {"type": "array", "items": {"$ref": "#"}}, "q": TEXT}},
    "references to the network, to files and by names of their own": {
        "properties": {
            "a": {"$ref": "http://127.0.0.1:1/schema.json#/A"},
            "b": {"$ref": "file:///etc/passwd"},
            "c": {"$ref": "T0", "description": "A node"},
            "d": {"$ref": "#anchor"},
            "e": {"$dynamicRef": "#node"},
            "f": {"$ref": "#/$defs"},
            "g": {"$ref": "#/required/0"},
            "h": {"$ref": ""},
        },
        "required": ["a"],
        "$defs": {"A": {"$anchor": "anchor", "$id": "T0"}},
    },
    "references by names": {
        "$id": "https://tools.example/args.json",
        "properties": {
            "by_id": {"$ref": "place.json"},
            "whole": {"$ref": "https://tools.example/place.json"},
            "part": {"$ref": "place.json#/properties/lat"},
            "by_anchor": {"$ref": "#near"},
            "dynamic": {"$dynamicRef": "#near"},
            "tree": {"$id": "T0", "type": "object", "properties": {"in": {"type": "array", "items": {"$ref": "T0"}}}},
            "id": {"type": "integer"},
            "odd": {"$ref": "http://[", "$id": "http://["},
        },
        "$defs": {
            "Place": {"$id": "place.json", "type": "object", "properties": {"lat": {"type": "number"}}},
            "Near": {"$anchor": "near", "enum": ["x", "y"]},
        },
    },
    "the whole within itself, by the sign of 2019": {
        "$recursiveAnchor": True,
        "properties": {"and": {"type": "array", "items": {"$recursiveRef": "#"}}, "q": TEXT},
    },
    "a type beside a reference and beside alternatives": {
        "properties": {
            "a": {"type": "string", "minLength": 1, "description": "Which", "$ref": "#/$defs/A"},
            "b": {"type": ["string", "array"], "anyOf": [{"type": "string"}, {"type": "array", "items": TEXT}]},
        },
        "$defs": {"A": {"type": "string", "description": "A name", "format": "uuid"}},
    },
    "arguments called like keywords": {
        "properties": {"required": {"type": "boolean"}, "anyOf": TEXT, "additionalProperties": {"type": "object"}},
        "required": ["required"],
    },
    "if and not at the root": {
        "properties": {"a": TEXT},
        "not": {"required": ["a"]},
        "if": {"required": ["a"]},
        "then": {"required": ["b"]},
        "enum": [{}],
    },
    "names that are not taken": {
        "properties": {
            "$filter": TEXT,
            "filter[id]": TEXT,
            "_filter": TEXT,
            "name with spaces": {"type": "object", "properties": {"@type": TEXT}, "required": ["@type"]},
            "x" * 80: TEXT,
            "": TEXT,
        },
        "required": ["$filter"],
    },
    "alternatives that are none": {"properties": {"a": {"anyOf": []}, "b": {"oneOf": TEXT}, "c": {"allOf": None}}},
    "definitions that are none": {
        "properties": {"a": TEXT},
        "$defs": [],
        "definitions": None,
        "dependencies": {"a": 1},
    },
    "patterns that look around": {
        "properties": {
            "file": {"type": "string", "pattern": "^(?!undefined$|null$)"},
            "email": {"type": "string", "format": "email", "pattern": "^(?!\\.)(?!.*\\.\\.)[a-z]+@[a-z.]+$"},
            "flow": {"type": "string", "pattern": "^(?P<flow>[a-z]+)$"},
            "more": {"type": "object", "patternProperties": {"^(?!_)": TEXT}},
        }
    },
    "a pattern that refers back": {"properties": {"a": {"type": "string", "pattern": "^(['\"]).*\\1$"}}},
    "a pattern with a bare bracket in a class": {
        "properties": {"a": {"type": "string", "pattern": "^[a-zA-Z0-9@#%^&*()_+\\-=[\\]{}|;:,.<>?~`]*$"}}
    },
    "choices on the branch for null": {
        "properties": {"a": {"anyOf": [{"type": "string", "enum": ["A"]}, {"type": "null", "enum": ["A"]}]}}
    },
    "choices on a list, not on its members": {
        "properties": {"a": {"type": "array", "items": {"type": "integer"}, "enum": [0, 1]}}
    },
    "choices of another type": {"properties": {"a": {"type": "boolean", "enum": ["yes", True]}, "b": {"const": 1}}},
    "a constant of another type": {"properties": {"a": {"type": "string", "const": 1}}},
    "types with brackets": {"properties": {"a": {"type": ["string", "number", "string[]", "number[]"]}}},
    "bounds that are none": {
        "properties": {"a": {"type": "number", "maximum": 10**400, "minimum": -1.7e308, "maxLength": 1e300}}
    },
    "$schema of another kind": {"$schema": {"no": "text"}, "$id": 5, "properties": {"a": TEXT}},
}
"""Each can be mended."""

UNUSABLE: dict[str, tuple[JsonValue, str]] = {
    "a list of things": ({"type": "array", "items": TEXT}, "not_object"),
    "a text": ({"type": "string"}, "not_object"),
    "a list of schemas": ([TEXT], "not_object"),
    "a number": (5, "not_object"),
}
