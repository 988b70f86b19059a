local grades = require("grades")

local list = { { points = 80, weight = 60 }, { points = 40, weight = 40 } }
assert(grades.passed(list), "not passed")
print("ok")
