"""The pages in the browser: annotating pictures, and reviewing the results of a model.

`annotate` and `review` have the routes of the two pages and their state; `server` has what both
share: a local server, guarded by a token, that serves pictures. The built pages are in ``static``.
"""
