local paths = require("paths")

local names = { "notes.txt", "site.zip", "report.tar.gz" }
assert(paths.packed({ "site.zip" }) == 1)
assert(paths.packed(names) == 2, "packed: " .. paths.packed(names))
print("ok")
