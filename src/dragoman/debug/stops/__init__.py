"""What a stopped program shows: the stop pipeline, snapshots, inspection and the history of stops."""
