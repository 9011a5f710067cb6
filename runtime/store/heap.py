"""Gives memory that was freed back to the system."""

from __future__ import annotations


def trim() -> None:
    """Let the C library return what it keeps of freed memory, where it can.

    SQLite frees what its open files took, some 30 MB after 256 of them, but glibc by itself gives back only what lies
    at the end of its heap.
    """
    import ctypes  # takes a while, and is not needed before much has happened

    give_back = getattr(ctypes.CDLL(None), "malloc_trim", None)  # a function of glibc alone
    if give_back is not None:
        give_back(0)
