"""Several targets in one `dragoman mcp`: which call goes where, and how their answers become one."""
