local paths = {}

local PACKED = { ["tar.gz"] = true, zip = true }

function paths.split(name)
  local stem, ending = name:match("^(.*)%.([%w.]+)$")
  return stem or name, ending or ""
end

function paths.is_packed(name)
  local _, ending = paths.split(name)
  return PACKED[ending] or false
end

function paths.packed(names)
  local count = 0
  for _, name in ipairs(names) do
    if paths.is_packed(name) then
      count = count + 1
    end
  end
  return count
end

return paths
