"""Requests to a server behind a URL."""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit

from fabricd.ipc.gateway.responses import STREAM, Broken

CONNECT_SECONDS = 30.0
_SESSION = "Mcp-Session-Id"
_VERSION = "MCP-Protocol-Version"
_RESUME = "Last-Event-ID"


class BadUrl(ValueError):
    """Raised by `address_of`: the URL leads to no server. The message says why."""


def address_of(url: str) -> SplitResult:
    """The parts of a URL that leads to a server.

    Raises:
        BadUrl: it does not.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise BadUrl(str(error)) from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise BadUrl("it is no http or https address")
    if parts.username is not None or parts.password is not None:
        raise BadUrl("it names a user: give a header instead")
    return parts


class Server:
    """Where requests go, and the headers that all of them carry.

    Attributes:
        version: of the protocol, once both have agreed on one.
    """

    def __init__(self, address: SplitResult, headers: Mapping[str, str]) -> None:
        self._address = address
        self._headers = dict(headers)
        self.version: str | None = None

    @property
    def has_session(self) -> bool:
        """Whether the server has given us a session."""
        return _SESSION in self._headers

    def post(self, body: bytes) -> http.client.HTTPConnection:
        """Send a line; the response is still to be read.

        Raises:
            Broken: the server cannot be reached.
        """
        accept = {"Content-Type": "application/json", "Accept": f"application/json, {STREAM}"}
        return self._request("POST", body, accept)

    def listen(self, last: bytes) -> http.client.HTTPConnection:
        """Ask for a stream, after the event with an id, if there is one.

        Raises:
            Broken: the server cannot be reached.
        """
        # HTTP carries the bytes of an id as latin-1.
        resume = {_RESUME: last.decode("latin-1")} if last else {}
        return self._request("GET", None, {"Accept": STREAM, **resume})

    def leave(self) -> http.client.HTTPConnection:
        """Ask for the end of the session.

        Raises:
            Broken: the server cannot be reached.
        """
        return self._request("DELETE", None, {})

    def note_session(self, response: http.client.HTTPResponse) -> None:
        """Remember the session that a response names."""
        if session := response.getheader(_SESSION):
            self._headers[_SESSION] = session

    def _request(
        self, method: str, body: bytes | None, more: Mapping[str, str]
    ) -> http.client.HTTPConnection:
        host, port = self._address.hostname or "", self._address.port
        if self._address.scheme == "https":
            context = ssl.create_default_context()
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                host, port, timeout=CONNECT_SECONDS, context=context
            )
        else:
            connection = http.client.HTTPConnection(host, port, timeout=CONNECT_SECONDS)
        path = self._address.path or "/"
        if self._address.query:
            path += f"?{self._address.query}"
        told = {} if self.version is None else {_VERSION: self.version}
        try:
            connection.request(method, path, body, {**told, **self._headers, **more})
        except (OSError, http.client.HTTPException, ValueError) as error:
            connection.close()
            raise Broken(f"{host} cannot be reached: {error}") from None
        if connection.sock is not None:
            # A tool may take as long as it takes.
            connection.sock.settimeout(None)
        return connection
