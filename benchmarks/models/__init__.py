"""Which model when: trees on groups, trees on candidates, rankers and the linear GCM.

Run as ``python -m benchmarks.models``.
"""
