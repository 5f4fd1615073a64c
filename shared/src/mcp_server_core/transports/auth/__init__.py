"""Who may use a server over HTTP: static tokens, or access tokens of an OAuth authorization server."""
