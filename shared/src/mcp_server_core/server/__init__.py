"""What an author of a server uses. Knows methods, never bytes."""
