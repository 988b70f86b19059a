module pipe

go 1.19
