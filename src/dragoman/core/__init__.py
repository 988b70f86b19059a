"""What every other package shares: errors, events, paths, settings, localization and redaction.

It imports nothing else of Dragoman. This file stays without imports: the shell wrapper and the fast commands load
`core.localization` and `core.paths` within milliseconds, with only the standard library.
"""
