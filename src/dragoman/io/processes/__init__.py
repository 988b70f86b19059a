"""Child processes that cannot outlive the daemon, terminals for them, and facts about processes."""
