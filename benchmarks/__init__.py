"""How fast groupcm is, as ratios that are measured side by side in one run.

``python -m benchmarks --rows 1e7 --json bench.json`` prints the table; README.md
beside this file says what each figure means.
"""
