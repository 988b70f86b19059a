# Loaded before a debugged program: what it prints is seen when it prints it.
$stdout.sync = true
