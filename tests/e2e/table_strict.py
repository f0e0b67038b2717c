"""Calls to our own strict server: closed objects, references, unions, and what folds together."""

from __future__ import annotations

import json

from tests.e2e.calls import Call, bent, proper, refused


def calls() -> list[Call]:
    """The table."""
    return [*_proper(), *_flat(), *_nested(), *_texts(), *_refused()]


def _proper() -> list[Call]:
    return [
        proper("search", query="a"),
        proper("search", query="true", maxResults=3, since=None, tags=[]),
        proper("search", query="[1]", since="2", filter={"minScore": 1.50, "fileTypes": ["test"]}),
        proper("update_items", items=[{"itemId": 2**60 + 1, "owner": {"fullName": "\u00c9"}}]),
        proper("grow", root={"nodeValue": 1, "children": [{"nodeValue": 2, "children": []}]}),
        proper("place", position=[1, -2.5], level=None, flags=["true"]),
        proper("store", key="1", value='{"a": 1}', id="007"),
        # Undeclared keys are legal in an open object, whatever they look like.
        proper("store", key="k", ttl_seconds="5", Key=None),
        proper("store", key="null", value=None, id=7, ttlSeconds=10),
        proper("twins", fooBar=1, foo_bar=2, mode="onOff"),
        proper("twins"),
    ]


def _flat() -> list[Call]:
    return [
        *(
            bent("key-form", "search", {"query": "q", said: 5}, query="q", maxResults=5)
            for said in ("max_results", "MaxResults", "max-results", "MAX_RESULTS", "maxresults")
        ),
        bent("key-form", "search", {"Query": "q"}, query="q"),
        bent(
            "key-form",
            "search",
            {"query": "q", "sort_order": "newest", "include-archived": True},
            query="q",
            sortOrder="newest",
            includeArchived=True,
        ),
        bent("several", "search", {"query": "q", "max_results": "7"}, query="q", maxResults=7),
        bent(
            "several",
            "search",
            {"QUERY": "1", "sort_order": "best_match", "IncludeArchived": "True", "tags": '["a"]'},
            query="1",
            sortOrder="bestMatch",
            includeArchived=True,
            tags=["a"],
        ),
        bent("several", "search", {"query": "q", "max_results": None}, query="q"),
        bent("number-text", "search", {"query": "3", "maxResults": "3"}, query="3", maxResults=3),
        *(
            bent(
                "boolean-text",
                "search",
                {"query": "true", "includeArchived": said},
                query="true",
                includeArchived=said.lower() == "true",
            )
            for said in ("true", "FALSE", "False", "TrUe")
        ),
        bent(
            "enum-form",
            "search",
            {"query": "q", "sortOrder": "BestMatch"},
            query="q",
            sortOrder="bestMatch",
        ),
        bent(
            "enum-form",
            "search",
            {"query": "q", "sortOrder": "best match"},
            query="q",
            sortOrder="bestMatch",
        ),
        bent(
            "enum-form",
            "place",
            {"position": [1, 2], "lane": "Fast_Lane"},
            position=[1, 2],
            lane="fastLane",
        ),
        bent(
            "null-optional",
            "search",
            {"tags": None, "query": "q", "since": None},
            query="q",
            since=None,
        ),
        bent("null-optional", "update_items", {"items": [], "dryRun": None}, items=[]),
        bent("null-optional", "twins", {"fooBar": None, "foo_bar": None, "mode": None}),
        bent("number-text", "place", {"position": [1, 2], "level": "7"}, position=[1, 2], level=7),
        bent(
            "boolean-text",
            "place",
            {"position": [1, 2], "flags": "true"},
            position=[1, 2],
            flags=True,
        ),
        bent(
            "json-text",
            "place",
            {"position": [1, 2], "flags": '["true"]'},
            position=[1, 2],
            flags=["true"],
        ),
        bent(
            "number-text",
            "store",
            {"key": "1", "id": "1", "ttlSeconds": "60"},
            key="1",
            id="1",
            ttlSeconds=60,
        ),
    ]


def _nested() -> list[Call]:
    return [
        bent(
            "nested",
            "search",
            {"query": "q", "filter": {"min_score": 0.5}},
            query="q",
            filter={"minScore": 0.5},
        ),
        bent(
            "nested",
            "search",
            {"query": "q", "filter": {"minScore": "0.5"}},
            query="q",
            filter={"minScore": 0.5},
        ),
        bent(
            "nested",
            "search",
            {
                "query": "q",
                "filter": {"FileTypes": ["Source", "doc_text", "test"], "minScore": None},
            },
            query="q",
            filter={"fileTypes": ["source", "docText", "test"]},
        ),
        bent(
            "nested",
            "update_items",
            {"items": [{"item_id": "1"}, {"itemId": 2, "isDone": "False"}, {"itemId": "3"}]},
            items=[{"itemId": 1}, {"itemId": 2, "isDone": False}, {"itemId": 3}],
        ),
        bent(
            "nested",
            "update_items",
            {
                "dry_run": "true",
                "items": [
                    {
                        "itemId": 1,
                        "Priority": "very-high",
                        "owner": {"full_name": "A \u00e9", "birth_year": "1815"},
                    }
                ],
            },
            dryRun=True,
            items=[
                {
                    "itemId": 1,
                    "priority": "veryHigh",
                    "owner": {"fullName": "A \u00e9", "birthYear": 1815},
                }
            ],
        ),
        bent(
            "nested",
            "grow",
            {
                "root": {
                    "nodeValue": "1",
                    "children": [
                        {"node_value": 2, "children": [{"nodeValue": "3", "children": None}]}
                    ],
                }
            },
            root={"nodeValue": 1, "children": [{"nodeValue": 2, "children": [{"nodeValue": 3}]}]},
        ),
        bent("nested", "place", {"position": ["1.5", "-2"]}, position=[1.5, -2]),
        bent(
            "nested",
            "update_items",
            {"items": [{"itemId": 1, "owner": '{"fullName": "A"}'}]},
            items=[{"itemId": 1, "owner": {"fullName": "A"}}],
        ),
    ]


def _texts() -> list[Call]:
    tree = {"nodeValue": 1, "children": [{"nodeValue": 2}]}
    return [
        bent(
            "json-text",
            "search",
            {"query": "q", "tags": ' [ "a" , "\\u00e9\\n" ] '},
            query="q",
            tags=["a", "\u00e9\n"],
        ),
        bent(
            "json-text",
            "search",
            {"query": "q", "filter": '{"minScore": 1.50e0}'},
            query="q",
            filter={"minScore": 1.5},
        ),
        bent("json-text", "search", {"query": "q", "filter": "{}"}, query="q", filter={}),
        bent("json-text", "grow", {"root": json.dumps(tree, indent="\t")}, root=tree),
        bent("json-text", "grow", {"Root": json.dumps(tree).replace(" ", "\r\n")}, root=tree),
        bent("json-text", "place", {"position": "[1, 2]"}, position=[1, 2]),
        bent(
            "json-text",
            "update_items",
            {"items": '[{"itemId": 9007199254740991}]'},
            items=[{"itemId": 2**53 - 1}],
        ),
        bent("whole", "search", '{"query": "q", "maxResults": 2}', query="q", maxResults=2),
        bent("whole", "twins", "{}"),
        bent("whole", "grow", json.dumps({"root": tree}, indent=2), root=tree),
    ]


def _refused() -> list[Call]:
    return [
        refused("key-form", "search", {"query": "q", "maxResults": 1, "max_results": 2}),
        refused("key-form", "search", {"query": "q", "max_results": 1, "MaxResults": 1}),
        refused("ambiguous", "twins", {"FooBar": 1}),
        refused("ambiguous", "twins", {"mode": "on_off"}),
        refused("alias-key", "search", {"q": "a"}),
        refused("undeclared-key", "search", {"query": "q", "limit": 5}),
        refused("undeclared-key", "search", {"query": "q", "filter": {"minScore": "1", "x": 1}}),
        refused("key-form", "store", {"Key": "k"}),
        refused("missing-required", "search", {"max_results": "5"}),
        refused("null-required", "search", {"query": None}),
        refused("null-required", "update_items", {"items": [{"itemId": None}]}),
        refused("number-lossy", "search", {"query": "q", "maxResults": "5.0"}),
        refused("number-lossy", "search", {"query": "q", "maxResults": "05"}),
        refused("number-lossy", "search", {"query": "q", "maxResults": "5 "}),
        refused("number-text", "search", {"query": "q", "maxResults": "500"}),
        refused("number-lossy", "search", {"query": "q", "maxResults": 1.5}),
        refused("list-for-number", "search", {"query": "q", "maxResults": "[3, 5]"}),
        refused("boolean-text", "search", {"query": "q", "includeArchived": "yes"}),
        refused("boolean-text", "search", {"query": "q", "includeArchived": "true "}),
        refused("scalar-for-array", "search", {"query": "q", "tags": "a"}),
        refused("python-literal", "search", {"query": "q", "tags": "['a', 'b']"}),
        refused("not-json", "search", {"query": "q", "tags": '["a"] and more'}),
        refused("not-json", "search", {"query": "q", "filter": '{"minScore": NaN}'}),
        refused(
            "number-lossy", "search", {"query": "q", "filter": '{"minScore": 9007199254740993}'}
        ),
        refused(
            "number-lossy",
            "search",
            {"query": "q", "filter": '{"minScore": 0.10000000000000000555}'},
        ),
        refused("number-lossy", "search", {"query": "q", "filter": '{"minScore": 1e400}'}),
        refused("ambiguous", "search", {"query": "q", "filter": '{"minScore": 1, "minScore": 1}'}),
        # What a text holds is taken as it is or not at all.
        refused("nested", "search", {"query": "q", "filter": '{"min_score": 1}'}),
        refused("nested", "search", '{"query": "q", "max_results": 1}'),
        refused("bad-item", "update_items", {"items": [{"itemId": "1"}, {"itemId": "x"}]}),
        refused("enum-unknown", "search", {"query": "q", "sortOrder": "best"}),
        refused("enum-unknown", "search", {"query": "q", "filter": {"fileTypes": ["Source", "x"]}}),
        refused("several", "search", {"query": "q", "max_results": "5", "tags": 7}),
        refused("number-for-string", "search", {"query": 1}),
        refused("container-for-scalar", "search", {"query": {"query": "q"}}),
        refused("unknown-tool", "Search", {"query": "q"}),
        refused("unknown-tool", "nothing", {"max_results": "1"}),
    ]
