"""Adapters to libraries that fake the time of a program."""
