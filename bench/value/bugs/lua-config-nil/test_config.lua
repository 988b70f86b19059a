local config = require("config")

assert(config.area({ "width=3", "height=2" }) == 6)
assert(config.area({ "width = 30", "height=20" }) == 600)
print("ok")
