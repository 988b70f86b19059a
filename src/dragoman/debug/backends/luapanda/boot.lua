-- Starts a program under LuaPanda: boot.lua PORT PACKAGE_PATH PROGRAM ARGS…
-- The work is done in code from a string, which LuaPanda never stops in: the first stop is the program's first line.
local work = [=[
local port, searched, program = arg[1], arg[2], arg[3]
local args, offset = { n = #arg - 3 }, 3
for i = 1, args.n do args[i] = arg[i + offset] end
local own = arg
arg = { [0] = program, [-1] = own[-1] }
for i = 1, args.n do arg[i] = args[i] end
local unpack = table.unpack or unpack
io.stdout:setvbuf("line")
if searched ~= "" then package.path = searched .. ";" .. package.path end
local boot = { own = {} }
for level = 1, 2 do boot.own[debug.getinfo(level, "S").source] = true end
package.loaded["dragoman.boot"] = boot
local found, panda = pcall(require, "LuaPanda")
if not found then
  io.stderr:write("LuaPanda cannot be loaded: ", tostring(panda), string.char(10))
  os.exit(1)
end
local main, why = loadfile(program)
if not main then
  io.stderr:write("lua: ", why, string.char(10))
  os.exit(1)
end
local function handler(err)
  if boot.on_error then boot.on_error(err) end
  if type(err) ~= "string" then
    local mt = getmetatable(err)
    if not (type(mt) == "table" and mt.__tostring) then return "(error object is a " .. type(err) .. " value)" end
    err = tostring(err)
  end
  return debug.traceback(err, 2)
end
panda.start("127.0.0.1", tonumber(port))
local ok, err = xpcall(function() main(unpack(args, 1, args.n)) end, handler)
if not ok then io.stderr:write("lua: ", tostring(err), string.char(10)) end
os.exit(ok and 0 or 1, true)
]=]
local run = assert((loadstring or load)(work))
run()
os.exit()
