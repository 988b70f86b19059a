module example.org/jobs

go 1.19
