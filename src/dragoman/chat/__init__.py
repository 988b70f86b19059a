"""Chat: conversations, the runs of agents in them, and the approvals that agents need."""
