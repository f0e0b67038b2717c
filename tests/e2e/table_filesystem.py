"""Calls to the filesystem server."""

from __future__ import annotations

import json
from pathlib import Path

from tests.e2e.calls import Call, bent, failing, proper, refused

# One pixel.
_PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


def lay_out(root: Path) -> None:
    """The files that the calls are about."""
    (root / "docs" / "old").mkdir(parents=True)
    (root / "notes.txt").write_text("".join(f"line {number}\n" for number in range(1, 21)))
    (root / "ä b.txt").write_text('Grüße, "quoted" \\ 日本\n')
    (root / "docs" / "one.md").write_text("# One\nalpha\n")
    (root / "docs" / "two.md").write_text("# Two\nbeta\n")
    (root / "docs" / "old" / "three.md").write_text("# Three\n")
    (root / "pixel.png").write_bytes(_PIXEL)


def calls(root: str) -> list[Call]:
    """The table, in the order in which it is sent: some calls change files."""
    notes, docs = f"{root}/notes.txt", f"{root}/docs"
    one, two = f"{docs}/one.md", f"{docs}/two.md"
    change = [{"oldText": "alpha", "newText": 'ALPHA "1"'}]
    again = [{"oldText": "beta", "newText": "tab\t\\ end"}, {"oldText": "# Two", "newText": "# 2"}]
    both = json.dumps([one, two])
    return [
        proper("list_allowed_directories"),
        proper("read_text_file", path=notes),
        proper("read_text_file", path=notes, head=2),
        proper("read_text_file", path=notes, tail=1),
        proper("read_text_file", path=f"{root}/ä b.txt"),
        proper("read_text_file", path=notes, note="an undeclared key is legal here", head=1),
        proper("read_file", path=one, head=1.0),
        proper("read_media_file", path=f"{root}/pixel.png"),
        proper("read_multiple_files", paths=[one, two]),
        proper("list_directory", path=root),
        proper("list_directory_with_sizes", path=docs, sortBy="size"),
        proper("directory_tree", path=root, excludePatterns=["old"]),
        proper("search_files", path=root, pattern="**/*.md", excludePatterns=[]),
        proper("create_directory", path=f"{root}/new"),
        proper("write_file", path=f"{root}/new/a.txt", content="[1, 2] \u2028 \x7f \\u0041 {}\n"),
        proper("write_file", path=f"{root}/new/b.txt", content="true"),
        proper("edit_file", path=notes, edits=[{"oldText": "line 20", "newText": "end"}]),
        proper("move_file", source=f"{root}/new/b.txt", destination=f"{root}/new/c.txt"),
        failing("read_text_file", path="/etc/hostname"),
        failing("read_text_file", path=f"{root}/none.txt"),
        failing("edit_file", path=one, edits=[{"oldText": "not there", "newText": ""}]),
        proper("write_file", path=f"{root}/new/big.txt", content="a long text \\ \n" * 200_000),
        bent("json-text", "read_multiple_files", {"paths": both}, paths=[one, two]),
        bent("json-text", "read_multiple_files", {"paths": _paths(one, 3000)}, paths=[one] * 3000),
        bent("json-text", "read_multiple_files", {"paths": f'\n [ "{one}" ]\r\n'}, paths=[one]),
        bent(
            "json-text",
            "directory_tree",
            {"path": root, "excludePatterns": '["old", "new"]'},
            path=root,
            excludePatterns=["old", "new"],
        ),
        bent(
            "json-text",
            "search_files",
            {"path": root, "pattern": "**/*.md", "excludePatterns": "[]"},
            path=root,
            pattern="**/*.md",
            excludePatterns=[],
        ),
        bent(
            "json-text",
            "edit_file",
            {"path": one, "edits": json.dumps(change)},
            path=one,
            edits=change,
        ),
        bent(
            "several",
            "edit_file",
            {"path": two, "edits": json.dumps(again, indent=2), "dryRun": "False"},
            path=two,
            edits=again,
            dryRun=False,
        ),
        bent("number-text", "read_text_file", {"path": notes, "head": "3"}, path=notes, head=3),
        bent("number-text", "read_text_file", {"path": notes, "tail": "2"}, path=notes, tail=2),
        bent("number-text", "read_file", {"path": notes, "head": "1"}, path=notes, head=1),
        bent("null-optional", "read_text_file", {"path": notes, "head": None}, path=notes),
        bent("null-optional", "read_text_file", {"tail": None, "path": notes}, path=notes),
        bent(
            "null-optional",
            "read_text_file",
            {"head": None, "path": notes, "tail": None},
            path=notes,
        ),
        bent(
            "null-optional", "list_directory_with_sizes", {"path": docs, "sortBy": None}, path=docs
        ),
        bent("null-optional", "directory_tree", {"path": docs, "excludePatterns": None}, path=docs),
        bent(
            "several",
            "read_text_file",
            {"path": notes, "head": "4", "tail": None},
            path=notes,
            head=4,
        ),
        *(
            bent(
                "boolean-text",
                "edit_file",
                {
                    "path": notes,
                    "edits": [{"oldText": "line 1\n", "newText": "first\n"}],
                    "dryRun": said,
                },
                path=notes,
                edits=[{"oldText": "line 1\n", "newText": "first\n"}],
                dryRun=True,
            )
            for said in ("true", "True", "TRUE", "tRuE")
        ),
        *(
            bent(
                "enum-form",
                "list_directory_with_sizes",
                {"path": docs, "sortBy": said},
                path=docs,
                sortBy=said.lower(),
            )
            for said in ("Size", "NAME")
        ),
        bent(
            "nested",
            "edit_file",
            {"path": notes, "edits": ['{"oldText": "line 2\\n", "newText": "second\\n"}']},
            path=notes,
            edits=[{"oldText": "line 2\n", "newText": "second\n"}],
        ),
        bent("whole", "read_text_file", f'{{"path": "{notes}", "head": 2}}', path=notes, head=2),
        bent("whole", "list_directory", json.dumps({"path": docs}, indent=1), path=docs),
        refused("python-literal", "read_multiple_files", {"paths": f"['{one}', '{two}']"}),
        refused("not-json", "read_multiple_files", {"paths": f'["{one}", ]'}),
        refused("scalar-for-array", "read_multiple_files", {"paths": one}),
        refused("json-text", "read_multiple_files", {"paths": "[]"}),
        # Above a mebibyte no text is read.
        refused("json-text", "read_multiple_files", {"paths": _paths(one, 40_000)}),
        refused("bad-item", "read_multiple_files", {"paths": "[1, 2]"}),
        refused("bad-item", "read_multiple_files", {"paths": [one, 2]}),
        refused("list-for-number", "read_text_file", {"path": notes, "head": "[1, 5]"}),
        refused("list-for-number", "read_text_file", {"path": notes, "head": [5]}),
        refused("number-lossy", "read_text_file", {"path": notes, "head": "05"}),
        refused("number-lossy", "read_text_file", {"path": notes, "head": " 5"}),
        refused("boolean-text", "edit_file", {"path": one, "edits": change, "dryRun": "yes"}),
        refused("enum-unknown", "list_directory_with_sizes", {"path": docs, "sortBy": "date"}),
        refused("enum-unknown", "list_directory_with_sizes", {"path": docs, "sortBy": '"size"'}),
        refused("alias-key", "read_text_file", {"file_path": notes}),
        refused("missing-required", "write_file", {"path": f"{root}/new/d.txt"}),
        refused("null-required", "read_text_file", {"path": None}),
        refused("number-for-string", "write_file", {"path": f"{root}/new/d.txt", "content": 1.5}),
        refused("container-for-scalar", "write_file", {"path": f"{root}/d", "content": {"a": 1}}),
        # Nothing is half repaired.
        refused("several", "edit_file", {"path": one, "edits": "no", "dryRun": "true"}),
        refused("unknown-tool", "readTextFile", {"path": notes}),
    ]


def _paths(path: str, count: int) -> str:
    return json.dumps([path] * count)
