"""The omnish face: shell wrappers speak to the daemon here."""
