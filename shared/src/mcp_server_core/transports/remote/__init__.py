"""The client's way to a server somewhere else, by HTTP. Knows both forms of the transport and the old pair."""
