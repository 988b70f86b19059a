"""What one answer of a debugging tool is worth: bugs with failing tests, a judge, and the ways to ask about them."""
