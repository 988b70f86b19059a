"""`dragoman share` and `dragoman open`: a debug session as one signed file, for a colleague or another agent."""
