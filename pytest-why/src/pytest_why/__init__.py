"""Shows under a failed assertion what the function did that returned the wrong value."""
