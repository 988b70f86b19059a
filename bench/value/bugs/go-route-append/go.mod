module route

go 1.19
