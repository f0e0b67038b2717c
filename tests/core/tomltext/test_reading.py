"""Where the values of a TOML text stand."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.tomltext.reading import BadToml, read

TEXT = """\
# a comment = "no"
top = 1979-05-27 07:32:00 # when
"a.b" . 'c d' = '''
[not.a.table]
x'''
[ mcp_servers . "my server" ]
command = "np\\"x" # why
args = [
  "a", # ] not the end
  'b',
  [1, { x = "}" }],
]
env = { TOKEN = "t#", deep.er = [ "x" ] }
[[list]]
name = "one"
[list.inner]
value = 1
[[list]]
name = "two"
last = \"\"\"a "" quote\"\"\"\"\"
"""


def test_values_stand_where_they_are_said_to() -> None:
    document = read(TEXT)

    def spelled(*path: str) -> str:
        value = document.at(*path)
        assert value is not None
        return TEXT[value.start : value.end]

    assert spelled("top") == "1979-05-27 07:32:00"
    assert spelled("a.b", "c d") == "'''\n[not.a.table]\nx'''"
    assert spelled("mcp_servers", "my server", "command") == '"np\\"x"'
    assert spelled("mcp_servers", "my server", "env", "deep", "er") == '[ "x" ]'
    arguments = document.at("mcp_servers", "my server", "args")
    assert arguments is not None and arguments.items is not None
    assert [TEXT[item.start : item.end] for item in arguments.items] == [
        '"a"',
        "'b'",
        '[1, { x = "}" }]',
    ]
    paths = [member.path for member in document.members]
    assert ("list", 0, "name") in paths and ("list", 0, "inner", "value") in paths
    assert ("list", 1, "last") in paths


@pytest.mark.parametrize("text", ["a = ", "[a", "a = 1\na = 2", "x", '"', "a = [" * 5000])
def test_what_is_no_toml_is_said(text: str) -> None:
    with pytest.raises(BadToml):
        read(text)


_KEYS = st.text(alphabet="ab .\"'é", min_size=1, max_size=4)
_PLAIN = st.one_of(st.text(alphabet="ab\"'\\#[]{},=\n", max_size=6), st.integers(), st.booleans())


def _spelled(value: object) -> str:
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"'
    if isinstance(value, list):
        inside = ", # ]\n".join(map(_spelled, value))
        return f"[ {inside}\n]" if value else "[]"
    return str(value).lower()


@given(
    st.dictionaries(
        _KEYS, st.dictionaries(_KEYS, st.one_of(_PLAIN, st.lists(_PLAIN, max_size=3)), max_size=3)
    )
)
def test_each_value_alone_is_what_it_is_in_its_place(tables: dict[str, dict[str, object]]) -> None:
    text = "".join(
        f"[{_spelled(name)}]\n"
        + "".join(f"{_spelled(key)} = {_spelled(value)} # x\n" for key, value in table.items())
        for name, table in tables.items()
    )
    document = read(text)
    assert tomllib.loads(text) == tables
    for name, table in tables.items():
        for key, value in table.items():
            found = document.at(name, key)
            assert found is not None and document.string(found) == value
