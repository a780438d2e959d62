"""Every compiled function of the package, and nothing else.

Kernels take plain arrays, release the GIL and are cached on disk, so that a
second process does not compile again. Their specification is the slow twin of
each in the tests. ``FLAGS`` lets the compiler reorder sums but never assume
that NaN and infinity are absent: a bad value must show itself.
"""

FLAGS = {"reassoc", "contract", "nsz"}
