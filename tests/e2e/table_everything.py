"""Calls to the everything server."""

from __future__ import annotations

from tests.e2e.calls import Call, bent, proper, refused


def calls() -> list[Call]:
    """The table."""
    data = "data:text/plain,zip"
    return [
        proper("echo", message="hello"),
        proper("echo", message='{"a": [1, 2.50]}'),
        proper("echo", message="1"),
        proper("echo", message='\U0001f600 \u0000 \x1b "q" \\'),
        proper("get-sum", a=1, b=2.5),
        proper("get-sum", a=-0.0, b=1e21),
        proper("get-annotated-message", messageType="success", includeImage=False),
        proper("get-structured-content", location="New York"),
        proper("get-resource-links", count=2),
        proper("get-resource-reference", resourceType="Text", resourceId=2),
        proper("get-tiny-image"),
        bent("number-text", "get-sum", {"a": "2", "b": 3}, a=2, b=3),
        bent("number-text", "get-sum", {"a": "-2.5", "b": "40"}, a=-2.5, b=40),
        bent("number-text", "get-sum", {"a": "1e+21", "b": "0"}, a=1e21, b=0),
        bent("number-text", "get-resource-links", {"count": "3"}, count=3),
        bent(
            "number-text",
            "get-resource-reference",
            {"resourceType": "Text", "resourceId": "3"},
            resourceType="Text",
            resourceId=3,
        ),
        *(
            bent(
                "boolean-text",
                "get-annotated-message",
                {"messageType": "error", "includeImage": said},
                messageType="error",
                includeImage=said.lower() == "true",
            )
            for said in ("true", "True", "TRUE", "false", "False", "fALSE")
        ),
        *(
            bent("enum-form", "get-annotated-message", {"messageType": said}, messageType="success")
            for said in ("Success", "SUCCESS", "suc-cess")
        ),
        *(
            bent("enum-form", "get-structured-content", {"location": said}, location="New York")
            for said in ("new york", "new_york", "NewYork", "NEW-YORK")
        ),
        bent("enum-form", "get-resource-reference", {"resourceType": "blob"}, resourceType="Blob"),
        bent(
            "enum-form",
            "gzip-file-as-resource",
            {"name": "a.gz", "data": data, "outputType": "resource_link"},
            name="a.gz",
            data=data,
            outputType="resourceLink",
        ),
        bent("null-optional", "get-resource-links", {"count": None}),
        bent(
            "null-optional",
            "get-annotated-message",
            {"includeImage": None, "messageType": "debug"},
            messageType="debug",
        ),
        bent("null-optional", "get-resource-reference", {"resourceType": None, "resourceId": None}),
        bent(
            "several",
            "get-annotated-message",
            {"messageType": "Debug", "includeImage": "True"},
            messageType="debug",
            includeImage=True,
        ),
        bent(
            "several",
            "get-resource-reference",
            {"resourceType": "TEXT", "resourceId": "4"},
            resourceType="Text",
            resourceId=4,
        ),
        bent("whole", "get-sum", '{"a": 1.50, "b": 2}', a=1.5, b=2),
        refused("number-lossy", "get-sum", {"a": "1e-7x", "b": 1}),
        refused("number-lossy", "get-sum", {"a": "1.0", "b": 1}),
        refused("number-lossy", "get-sum", {"a": "9007199254740993", "b": 1}),
        refused("number-lossy", "get-sum", {"a": "0x10", "b": 1}),
        refused("number-lossy", "get-sum", {"a": "NaN", "b": 1}),
        refused("number-lossy", "get-sum", {"a": "1,5", "b": 1}),
        refused("list-for-number", "get-sum", {"a": "[1, 2]", "b": 1}),
        refused("number-text", "get-resource-links", {"count": "11"}),
        refused(
            "boolean-text", "get-annotated-message", {"messageType": "error", "includeImage": "1"}
        ),
        refused(
            "boolean-text", "get-annotated-message", {"messageType": "error", "includeImage": 1}
        ),
        refused("enum-unknown", "get-structured-content", {"location": "Boston"}),
        refused("enum-unknown", "get-annotated-message", {"messageType": '"error"'}),
        refused("missing-required", "get-sum", {"a": 1}),
        refused("null-required", "get-sum", {"a": 1, "b": None}),
        refused("several", "get-sum", {"a": "1", "b": "two"}),
        refused("number-for-string", "echo", {"message": 1}),
        refused("container-for-scalar", "echo", {"message": ["a"]}),
        refused("alias-key", "echo", {"text": "a"}),
        refused("not-json", "get-sum", "{'a': 1, 'b': 2}"),
        refused("unknown-tool", "getSum", {"a": 1, "b": 2}),
    ]
