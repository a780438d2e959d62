"""Sets that join: each is told by its root."""

from numba import njit

from groupcm.kernels import FLAGS


@njit(nogil=True, cache=True, fastmath=FLAGS)
def find(root, member):
    """Root of a member's set; halves the way there for the next time."""
    while root[member] != member:
        root[member] = root[root[member]]
        member = root[member]
    return member
