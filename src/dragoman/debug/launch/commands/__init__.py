"""Command lines such as `npm test` or `go run .`, turned into launch configurations of what they run."""
