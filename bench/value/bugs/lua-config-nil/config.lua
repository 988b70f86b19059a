local config = {}

function config.parse_line(line)
  local key, value = line:match("^%s*([^=]+)=%s*(.-)%s*$")
  return key, tonumber(value)
end

function config.read(lines)
  local found = {}
  for _, line in ipairs(lines) do
    local key, value = config.parse_line(line)
    if key then
      found[key] = value
    end
  end
  return found
end

function config.area(lines)
  local read = config.read(lines)
  return read.width * read.height
end

return config
