"""Real servers, a real client, and the gateway between them: run by `make e2e` only."""
