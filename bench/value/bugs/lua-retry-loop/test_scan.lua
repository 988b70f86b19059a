local scan = require("scan")

assert(scan.count(12, 4) == 4)
assert(scan.count(5, 8) == 5)
print("ok")
