local Bag = {}
Bag.__index = Bag
Bag.items = {}

function Bag.new(owner, limit)
  return setmetatable({ owner = owner, limit = limit }, Bag)
end

function Bag:put(item)
  local items = self.items
  local count = #items + 1
  if count > self.limit then
    return false
  end
  items[count] = item
  return true
end

function Bag:is_full()
  return #self.items >= self.limit
end

return Bag
