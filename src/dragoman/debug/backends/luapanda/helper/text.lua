-- Runs inside the debugged program, beside an unmodified LuaPanda: what it lacks, by the commands of our extension.
-- It is loaded from a string, which LuaPanda never stops in. It touches no global of the program except as `install`
-- says, and calls no metamethod of the program without a limit of time. The files of this folder are one chunk.
local panda, word = ...
local debug, coroutine, string, table, os = debug, coroutine, string, table, os
local getinfo, getlocal, setlocal, sethook = debug.getinfo, debug.getlocal, debug.setlocal, debug.sethook
local getupvalue, setupvalue = debug.getupvalue, debug.setupvalue
local getmetatable_of = debug.getmetatable
local type, tostring, next, select = type, tostring, next, select
local rawget, rawset, rawequal, pcall, xpcall, error = rawget, rawset, rawequal, pcall, xpcall, error
local rawlen = rawlen or function(t) return #t end
local unpack = table.unpack or unpack
local format, concat, sort = string.format, table.concat, table.sort
local clock = os.clock
local running, status, resume = coroutine.running, coroutine.status, coroutine.resume
local is_jit = rawget(_G, "jit") ~= nil
local globals = _G

local H = {}
local LINE_CHUNK = "@(dragoman)"

-- Upvalues of LuaPanda that have no other door.

-- A program that is attached to a second time has these changed already.
local process = panda.dragoman_process or panda.real_hook_process
panda.dragoman_process = process

local function upvalue(f, wanted)
  for i = 1, 250 do
    local name, value = getupvalue(f, i)
    if not name then return nil end
    if name == wanted then return value, i end
  end
end

local create = upvalue(panda.replaceCoroutineFuncs, "coroutineCreate") or coroutine.create

-- Text.

local function is_utf8(s)
  local i, n = 1, #s
  while i <= n do
    local b = s:byte(i)
    local more = b < 0x80 and 0 or b >= 0xC2 and b < 0xE0 and 1 or b >= 0xE0 and b < 0xF0 and 2 or b >= 0xF0 and b < 0xF5 and 3
    if not more or b == 0 then return false end
    for j = i + 1, i + more do
      local c = s:byte(j)
      if not c or c < 0x80 or c > 0xBF then return false end
    end
    if b == 0xED and s:byte(i + 1) > 0x9F or b == 0xE0 and s:byte(i + 1) < 0xA0 then return false end
    if b == 0xF0 and s:byte(i + 1) < 0x90 or b == 0xF4 and s:byte(i + 1) > 0x8F then return false end
    i = i + more + 1
  end
  return true
end

local function printable(s)
  if is_utf8(s) then return s end
  return (s:gsub("[%z\1-\8\14-\31\\\127-\255]", function(c) return format("\\%03d", c:byte()) end))
end

local function cut(s, most)
  if #s <= most then return s, nil end
  local at = most
  while at > 0 and at > most - 4 do  -- never within a character
    local following = s:byte(at + 1)
    if following < 0x80 or following >= 0xC0 then break end
    at = at - 1
  end
  return s:sub(1, at), #s
end

local function json_text(s)
  return '"' .. s:gsub('[%c"\\]', function(c) return format("\\u%04x", c:byte()) end) .. '"'
end

local function json(value)
  local kind = type(value)
  if kind == "string" then return json_text(value) end
  if kind == "number" then return format("%.0f", value) end
  if kind ~= "table" then return value == nil and "null" or tostring(value) end
  local parts = {}
  if value.is_list then
    for i = 1, #value do parts[i] = json(value[i]) end
    return "[" .. concat(parts, ",") .. "]"
  end
  for k, v in next, value do parts[#parts + 1] = json_text(k) .. ":" .. json(v) end
  return "{" .. concat(parts, ",") .. "}"
end

local function list() return { is_list = true } end

-- Code of the program, within a limit of time. A coroutine has hooks of its own even while we are inside one. LuaJIT's
-- are global, and off in here: there it runs without a limit.

local TIMED_OUT = {}

local function limited(f, ms, ...)
  if is_jit then return pcall(f, ...) end
  local co = create(function(...) return f(...) end)  -- 5.1 makes none of a C function
  local till, latest = clock() + ms / 1000, os.time() + math.ceil(ms / 1000)
  local function check()
    if clock() > till or os.time() > latest then error(TIMED_OUT, 0) end
  end
  -- The processor's time, and whole seconds of the clock's: a busy machine gives a program little of the former.
  sethook(co, check, "", 1000)
  local function outcome(ok, ...)
    if ok and status(co) == "suspended" then return false, "attempt to yield from the debugger" end
    return ok, ...
  end
  return outcome(resume(co, ...))
end

local function reason(err)
  if rawequal(err, TIMED_OUT) then return "timed_out", "it did not end in time" end
  local shown, ok = err, true
  if type(err) ~= "string" then ok, shown = limited(tostring, 250, err) end
  return "failed", ok and type(shown) == "string" and shown or type(err)
end
