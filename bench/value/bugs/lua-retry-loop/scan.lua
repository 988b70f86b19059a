local scan = {}

function scan.sweep(length, parts)
  local step = math.floor(length / parts)
  local position, seen = 0, {}
  while position < length do
    seen[position] = true
    position = position + step
  end
  return seen
end

function scan.count(length, parts)
  local count = 0
  for _ in pairs(scan.sweep(length, parts)) do
    count = count + 1
  end
  return count
end

return scan
