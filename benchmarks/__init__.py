"""Benchmarks anyone can repeat: our servers, their peers and the floor, side by side in one run."""
