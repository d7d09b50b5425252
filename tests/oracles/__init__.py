"""Definitions of the metrics, slow on purpose and exact, against which the library is tested."""
