local queue = require("queue")

local line = queue.new()
for _, name in ipairs({ "al", "bob", "charlotte" }) do
  queue.join(line, name)
end
assert(queue.width(line) == 11, "the board is too narrow: " .. queue.width(line))
print("ok")
