module form

go 1.19
