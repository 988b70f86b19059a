module shelf

go 1.19
