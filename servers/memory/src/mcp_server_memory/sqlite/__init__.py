"""The graph in one SQLite file: safe against crashes, power failures and other processes."""
