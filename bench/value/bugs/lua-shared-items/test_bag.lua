local Bag = require("bag")

local first, second = Bag.new("ada", 1), Bag.new("bo", 1)
first:put("apple")
assert(first:is_full())
assert(second:put("book"), "no room in an empty bag")
print("ok")
