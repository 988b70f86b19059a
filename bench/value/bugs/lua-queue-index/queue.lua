local queue = {}

function queue.new()
  return { names = {}, served = 0 }
end

function queue.join(line, name)
  table.insert(line.names, name)
end

function queue.longest(line)
  local best = ""
  local last = #line.names - 1
  for i = 0, last do
    local name = line.names[i]
    if name and #name > #best then
      best = name
    end
  end
  return best
end

function queue.width(line)
  return #queue.longest(line) + 2
end

return queue
