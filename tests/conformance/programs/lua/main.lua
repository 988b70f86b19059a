local function twice(n)
  local result = n * 2
  return result
end

local function main()
  local total = 0
  if #arg > 0 then print("read " .. tostring(io.read())) end
  for n = 0, 9 do
    total = total + twice(n)
    print("total " .. total)
  end
  return total
end

os.exit(math.floor(main() / 30))
