"""Calls to the memory server."""

from __future__ import annotations

import json

from tests.e2e.calls import Call, bent, proper, refused


def _entity(name: str, *said: str) -> dict[str, object]:
    return {"name": name, "entityType": "person", "observations": list(said)}


def _relation(one: str, other: str) -> dict[str, object]:
    return {"from": one, "to": other, "relationType": "knows"}


def calls() -> list[Call]:
    """The table, in the order in which it is sent: the graph grows."""
    ada, bob, cy = _entity("Ada", "maths"), _entity("Bob \u00fc"), _entity("Cy", "[1]", "true")
    add = {"entityName": "Ada", "contents": ["engines", '"notes"']}
    gone = {"entityName": "Ada", "observations": ["engines"]}
    return [
        proper("create_entities", entities=[ada]),
        proper("create_relations", relations=[_relation("Ada", "Ada")]),
        proper("add_observations", observations=[{"entityName": "Ada", "contents": []}]),
        proper("read_graph"),
        proper("search_nodes", query="Ada"),
        proper("search_nodes", query='["Ada"]'),
        proper("open_nodes", names=["Ada", "nobody"]),
        proper("open_nodes", names=[]),
        proper("delete_entities", entityNames=["nobody"]),
        bent(
            "json-text", "create_entities", {"entities": json.dumps([bob, cy])}, entities=[bob, cy]
        ),
        bent(
            "json-text",
            "create_relations",
            {"relations": json.dumps([_relation("Ada", "Cy")], indent=4)},
            relations=[_relation("Ada", "Cy")],
        ),
        bent(
            "json-text", "add_observations", {"observations": json.dumps([add])}, observations=[add]
        ),
        bent("json-text", "open_nodes", {"names": '["Ada","Cy"]'}, names=["Ada", "Cy"]),
        bent("json-text", "open_nodes", {"names": '\t["\\u0041da" ] '}, names=["Ada"]),
        bent("json-text", "open_nodes", {"names": "[]"}, names=[]),
        bent(
            "nested",
            "create_entities",
            {"entities": [{"name": "Di", "entityType": "x", "observations": '["a", "b"]'}]},
            entities=[{"name": "Di", "entityType": "x", "observations": ["a", "b"]}],
        ),
        bent(
            "nested",
            "create_entities",
            {"entities": [json.dumps(_entity("Eve")), _entity("Fay", "f")]},
            entities=[_entity("Eve"), _entity("Fay", "f")],
        ),
        bent(
            "nested",
            "delete_observations",
            {"deletions": [{"entityName": "Ada", "observations": '["engines"]'}]},
            deletions=[gone],
        ),
        bent(
            "json-text", "delete_observations", {"deletions": json.dumps([gone])}, deletions=[gone]
        ),
        bent("json-text", "delete_entities", {"entityNames": '["Di"]'}, entityNames=["Di"]),
        bent(
            "json-text",
            "delete_relations",
            {"relations": json.dumps([_relation("Ada", "Ada")])},
            relations=[_relation("Ada", "Ada")],
        ),
        bent("whole", "open_nodes", '{"names": ["Ada"]}', names=["Ada"]),
        bent("whole", "search_nodes", ' {"query":"Cy"}\n', query="Cy"),
        refused("python-literal", "open_nodes", {"names": "['Ada']"}),
        refused("scalar-for-array", "open_nodes", {"names": "Ada"}),
        refused("scalar-for-array", "open_nodes", {"names": "Ada, Bob"}),
        refused("bad-item", "open_nodes", {"names": ["Ada", None]}),
        refused("bad-item", "create_entities", {"entities": '[{"name": "Gus"}]'}),
        refused("bad-item", "create_entities", {"entities": json.dumps([{**ada, "name": 5}])}),
        refused("container-for-scalar", "create_entities", {"entities": json.dumps(ada)}),
        refused("not-json", "create_entities", {"entities": '[{"name": "Gus", "entityType": "x"'}),
        refused(
            "ambiguous",
            "create_entities",
            {"entities": '[{"name": "a", "name": "b", "entityType": "x", "observations": []}]'},
        ),
        refused(
            "key-form",
            "add_observations",
            {"observations": [{"entity_name": "Ada", "contents": ["c"]}]},
        ),
        refused("missing-required", "search_nodes", {}),
        refused("alias-key", "search_nodes", {"q": "Ada"}),
        refused("null-required", "search_nodes", {"query": None}),
        refused("number-for-string", "search_nodes", {"query": 7}),
        refused("not-json", "search_nodes", "query=Ada"),
    ]
