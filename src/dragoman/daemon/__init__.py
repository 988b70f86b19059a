"""The daemon: the only composition root. `app` puts the rooms together, `instance` makes sure there is one."""
