"""The pages in the browser: annotating pictures, and reviewing what a model makes of them.

A server on this computer alone (`serve`), guarded by a token (`security`). `annotate_app` and
`review_app` have the routes, `app_parts` what both share. The pages themselves are in ``static``.
"""
