"""The omnish server: shell wrappers connect to the daemon here."""
