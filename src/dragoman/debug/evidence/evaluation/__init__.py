"""The expressions and values that an evidence run reads at a stop, per language of the debugger."""
