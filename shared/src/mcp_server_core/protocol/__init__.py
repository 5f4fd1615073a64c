"""The protocol without I/O: bytes and plain values in, plain values and bytes out."""
