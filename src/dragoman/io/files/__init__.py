"""Files that only their owner can read, the instance lock, and the seam of system calls that tests make fail."""
