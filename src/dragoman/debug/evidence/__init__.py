"""Evidence: questions about a whole run, answered in one go by what is asked at each pass over a place."""
