-- Runs inside the debugged program, beside an unmodified LuaPanda: what it lacks, by the commands of our extension.
-- It is loaded from a string, which LuaPanda never stops in. It touches no global of the program except as `install`
-- says, and calls no metamethod of the program without a limit of time.
local panda, word = ...
local debug, coroutine, string, table, os = debug, coroutine, string, table, os
local getinfo, getlocal, setlocal, sethook = debug.getinfo, debug.getlocal, debug.setlocal, debug.sethook
local getupvalue, setupvalue = debug.getupvalue, debug.setupvalue
local getmetatable_of = debug.getmetatable
local type, tostring, tonumber, next, select = type, tostring, tonumber, next, select
local rawget, rawset, rawequal, pcall, xpcall, error = rawget, rawset, rawequal, pcall, xpcall, error
local rawlen = rawlen or function(t) return #t end
local unpack = table.unpack or unpack
local format, concat, sort = string.format, table.concat, table.sort
local clock = os.clock
local running, status, resume = coroutine.running, coroutine.status, coroutine.resume
local is_jit = rawget(_G, "jit") ~= nil
local globals = _G

local H = { version = 1 }
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
  local co = create(f)
  local till = clock() + ms / 1000
  sethook(co, function() if clock() > till then error(TIMED_OUT, 0) end end, "", 1000)
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

-- Frames. Level and index: LuaPanda calls the innermost frame 2, and counts C functions.

local own_source, this_source = getinfo(panda.sendMsg, "S").source, getinfo(1, "S").source

-- The level, as its caller sees it, of the program's innermost frame.
local function base()
  local level, inside = 2, false
  while true do
    local info = getinfo(level, "fS")
    if not info then return nil end
    if info.func == panda.debug_hook then return level end
    if info.source == own_source then inside = true
    elseif inside and info.what ~= "C" and info.source ~= this_source then return level - 1 end  -- its C library has no such function
    level = level + 1
  end
end

local main = nil
do
  local co, is_main = running()
  if co and is_main then main = co end
end

local known = setmetatable({}, { __mode = "k" })  -- coroutine -> number
local last_known = 1

local function name_of(co)
  if co == nil or co == main then return "main" end
  if not known[co] then
    last_known = last_known + 1
    known[co] = last_known
  end
  return tostring(co)
end

local function current()
  local co, is_main = running()
  if is_main then main = main or co; return nil end
  return co
end

local function coroutine_named(name)
  if not name or name == "" then return current(), true end
  local here = current()
  if name == name_of(here) then return here, true end
  if name == "main" then return main, false end
  for co in next, known do if tostring(co) == name then return co, false end end
  return nil, nil
end

local raised = nil  -- the error that the program is stopped for: text, traceback, uncaught, handler

-- How many of the innermost frames are the debugger's own.
local function own_frames(level)
  if not raised then return 0 end
  local n, past = 0, false
  while true do
    local info = getinfo(level + n + 1, "fS")
    if not info then return 0 end
    if past and info.what ~= "C" then return n end
    if info.func == raised.handler then past = true end
    n = n + 1
  end
end

local boot = package and package.loaded and package.loaded["dragoman.boot"]

-- What started the program is no part of it.
local function is_boot(info)
  return boot ~= nil and boot.own[info.source] == true
end

-- Code from a string has no file: it is told by what Lua calls it.
local function entry(info, index)
  local source, path, original = info.source or "", nil, nil
  local is_file = source:sub(1, 1) == "@" or not source:find("[\n;=]")
  if is_file then
    path = panda.getPath(source)
    original = panda.truncatedPath(panda.formatOpath(source), upvalue(panda.getStackTable, "truncatedOPath") or "")
  end
  return {
    source = is_file and printable(source) or "",
    file = printable(path or info.short_src or ""),
    oPath = printable(original or ""),
    line = info.currentline,
    index = index,
    ["function"] = info.what == "main" and "main chunk" or printable(info.name or ""),
    nameKind = info.namewhat or "",
    defined = info.linedefined,
    tail = info.istailcall and true or info.what == "tail" or false,
  }
end

function H.stack(asked)
  local co, here = coroutine_named(asked.coroutine)
  if here == nil then return nil, "no_such_frame", "there is no such coroutine" end
  if not here and co == nil then return nil, "no_such_frame", "this Lua cannot look into the main coroutine from another" end
  local start, most, frames, depth = asked.start or 0, asked.count or 100, list(), 0
  local level = here and base() or 0
  if not level then return nil, "not_stopped", "the program runs" end
  local first = here and own_frames(level) or 0
  local index = first
  while true do
    local info
    if here then info = getinfo(level + index, "nSl") else info = getinfo(co, level + index, "nSl") end
    if not info then break end
    if info.what ~= "C" and info.what ~= "tail" and not is_boot(info) then
      depth = depth + 1
      if depth > start and #frames < most then frames[#frames + 1] = entry(info, index + 2) end
    end
    index = index + 1
    if index > 200000 then break end
  end
  return {
    frames = frames, depth = depth, coroutine = name_of(here and current() or co),
    exception = raised and { text = raised.text, traceback = raised.traceback, uncaught = raised.uncaught } or nil,
  }
end

function H.coroutines()
  local here, found = current(), list()
  local function add(co, is_here)
    found[#found + 1] = {
      id = name_of(co), current = is_here, number = co and co ~= main and known[co] or 1,
      status = is_here and "running" or co and status(co) or "normal",
    }
  end
  add(here, true)
  if here ~= nil then add(nil, false) end
  for co in next, upvalue(panda.changeCoroutinesHookState, "coroutinePool") or {} do
    local each = upvalue(panda.changeCoroutinesHookState, "coroutinePool")[co]
    if type(each) == "thread" and each ~= here and status(each) ~= "dead" and #found < 100 then add(each, false) end
  end
  return { coroutines = found }
end

-- A frame's names as they are now: locals by name (the innermost of a name last), varargs, and its function.
local function snapshot(index, co, here)
  local level
  if here then
    level = base()
    if not level then return nil end
    level = level + index - 2
  else
    level = index - 2
  end
  local info
  if here then info = getinfo(level, "f") else info = getinfo(co, level, "f") end
  if not info then return nil end
  local frame = { func = info.func, slots = {}, varargs = {}, by_name = {} }
  for i = 1, 250 do
    local name, value
    if here then name, value = getlocal(level, i) else name, value = getlocal(co, level, i) end
    if not name then break end
    if name:sub(1, 1) ~= "(" then
      frame.slots[#frame.slots + 1] = { name = name, value = value, slot = i }
      frame.by_name[name] = frame.slots[#frame.slots]
    end
  end
  for i = 1, 10000 do
    local name, value
    if here then name, value = getlocal(level, -i) else name, value = getlocal(co, level, -i) end
    if not name then break end
    frame.varargs[i] = { name = tostring(i), value = value, slot = -i }
  end
  return frame
end

local function store(index, co, here, slot, value)
  local name
  if here then name = setlocal(base() + index - 2, slot, value) else name = setlocal(co, index - 2, slot, value) end
  return name  -- no tail call: it would take this level away
end

local function upvalues(f)
  local found, by_name = {}, {}
  for i = 1, 255 do
    local name, value = getupvalue(f, i)
    if not name then break end
    if name == "" then name = "(upvalue " .. i .. ")" end
    if name ~= "_ENV" then
      found[#found + 1] = { name = name, value = value, up = i }
      by_name[name] = i
    end
  end
  return found, by_name
end

local function globals_of(f)
  if getfenv then return getfenv(f) or globals end
  local env = upvalue(f, "_ENV")
  return type(env) == "table" and env or globals
end

-- Values.

local refs, stop_number = {}, 0

local function reference(record)
  refs[#refs + 1] = record
  return #refs
end

local function counted(t)
  local n = 0
  for _ in next, t do
    n = n + 1
    if n >= 2000000 then break end
  end
  return n
end

local function plain(value, most)
  local kind = type(value)
  if kind == "string" then return format('"%s"', (printable((cut(value, most)))):gsub("\n", "\\n")) end
  if kind == "number" then
    if value ~= value then return "nan" end
    return tostring(value)
  end
  if kind == "nil" or kind == "boolean" then return tostring(value) end
  if kind == "table" then return next(value) == nil and "{}" or "{…}" end
  return kind
end

local function key_text(k)
  if type(k) == "string" then return printable((cut(k, 200))) end
  return "[" .. (type(k) == "string" and k or plain(k, 100)) .. "]"
end

local function preview(t)
  local parts, n, length = {}, 0, 0
  local array = rawlen(t)
  for k, v in next, t do
    n = n + 1
    if n > 6 or length > 70 then parts[#parts + 1] = "…" break end
    local part = plain(v, 30)
    if not (type(k) == "number" and k >= 1 and k <= array) then part = key_text(k) .. " = " .. part end
    parts[#parts + 1] = part
    length = length + #part
  end
  return "{" .. concat(parts, ", ") .. "}"
end

local function address(value)
  local mt = getmetatable_of(value)
  local own = type(mt) == "table" and rawget(mt, "__tostring")
  if own == nil or own == false then
    local ok, text = pcall(tostring, value)
    return ok and type(text) == "string" and text or type(value)
  end
  local ok, text = limited(own, 250, value)
  if ok and type(text) == "string" then return text end
  local _, why = reason(ok and "'__tostring' must return a string" or text)
  return type(value), why
end

local function has_tostring(value)
  local mt = getmetatable_of(value)
  return type(mt) == "table" and rawget(mt, "__tostring") ~= nil
end

local describe_by = {}

function describe_by.string(value, v, most)
  local shown, length = cut(value, most)
  v.value, v.length = printable(shown), length
end

function describe_by.table(value, v)
  if has_tostring(value) then v.value, v.failed = address(value) else v.value = preview(value) end
  v.value = printable((cut(v.value or "table", 1024)))
  v.indexed, v.count = rawlen(value), counted(value)
  if getmetatable_of(value) ~= nil then v.count = v.count + 1 end
  if v.count > 0 then v.reference = reference({ value = value, kind = "table" }) end
end

describe_by["function"] = function(value, v)
  local info = getinfo(value, "S")
  v.value = info.what == "C" and "function (C)" or format("function (%s:%d)", printable(info.short_src), info.linedefined)
  v["function"] = info.what ~= "C" and printable(info.short_src) .. ":" .. info.linedefined or nil
  local found = upvalues(value)
  v.count = #found
  if v.count > 0 then v.reference = reference({ kind = "function", func = value }) end
end

function describe_by.userdata(value, v)
  v.value, v.failed = address(value)
  v.value = printable((cut(v.value, 1024)))
  if getmetatable_of(value) ~= nil then v.reference, v.count = reference({ kind = "userdata", value = value }), 1 end
end

function describe_by.thread(value, v)
  v.value = tostring(value) .. " (" .. status(value) .. ")"
end

local function describe(name, value, position, most, key)
  local kind = type(value)
  local v = { name = name, type = kind, reference = 0, position = position, keyType = key ~= nil and type(key) or nil }
  local by = describe_by[kind]
  if by then by(value, v, most or 1024) else v.value = plain(value) end
  return v
end

-- The keys behind the list part: sorted where they are few, else in the order that `next` gives, as far as was asked.
local function keys_until(record, wanted)
  local t, keys = record.value, record.keys
  local array = rawlen(t)
  if not keys then
    keys = {}
    record.keys = keys
  end
  local key = record.last
  while not record.complete and #keys < wanted do
    key = next(t, key)
    if key == nil then record.complete = true break end
    record.last = key
    if not (type(key) == "number" and key >= 1 and key <= array and key % 1 == 0) then keys[#keys + 1] = key end
  end
  return keys, array
end

local function compared(a, b)
  local ta, tb = type(a), type(b)
  if ta ~= tb then return ta < tb end
  if ta == "number" or ta == "string" then return a < b end
  return tostring(a) < tostring(b)
end

local function table_child(record, position)
  if not record.keys then
    local keys = keys_until(record, 2001)
    if record.complete then pcall(sort, keys, compared) end
  end
  local array = rawlen(record.value)
  if position <= array then return key_text(position), rawget(record.value, position), position end
  local keys = keys_until(record, position - array)
  local key = keys[position - array]
  if key ~= nil then return key_text(key), rawget(record.value, key), key end
  if position - array == #keys + 1 and record.complete then
    local mt = getmetatable_of(record.value)
    if mt ~= nil then return "(metatable)", mt, nil end
  end
  return nil
end

local child_by = {}
child_by.table = table_child
function child_by.userdata(record, position)
  if position == 1 then return "(metatable)", getmetatable_of(record.value), nil end
end
child_by["function"] = function(record, position)
  local found = upvalues(record.func)[position]
  if found then return found.name, found.value, nil end
end
function child_by.locals(record, position)
  local frame = snapshot(record.index, record.co, record.here)
  local found = frame and frame.slots[position]
  if found then return found.name, found.value, nil end
end
function child_by.varargs(record, position)
  local frame = snapshot(record.index, record.co, record.here)
  local found = frame and frame.varargs[position]
  if found then return found.name, found.value, nil end
end

-- All that a frame has at once; one position after another would look at the stack for each.
local function frame_children(record)
  local frame = snapshot(record.index, record.co, record.here)
  return frame and frame[record.kind == "locals" and "slots" or "varargs"] or {}
end

function H.variables(asked)
  local record = refs[asked.reference]
  if not record then return nil, "no_such_reference", "there is no such reference in this stop" end
  local start, most, found = asked.start or 0, asked.count or 100, list()
  local many = (record.kind == "locals" or record.kind == "varargs") and frame_children(record)
  local position = start + 1
  while #found < most do
    local name, value, key
    if many then
      if not many[position] then break end
      name, value = many[position].name, many[position].value
    else
      name, value, key = child_by[record.kind](record, position)
    end
    if not name then break end
    found[#found + 1] = describe(printable(name), value, position, asked.text, key)
    position = position + 1
  end
  local following
  if many then following = many[position] else following = child_by[record.kind](record, position) end
  return { variables = found, more = following ~= nil }
end

function H.scopes(asked)
  local co, here = coroutine_named(asked.coroutine)
  if here == nil then return nil, "no_such_frame", "there is no such coroutine" end
  local frame = snapshot(asked.frame, co, here)
  if not frame then return nil, "no_such_frame", "there is no such frame" end
  local found = list()
  local function add(name, record, count, indexed)
    record.kind = record.kind or name
    found[#found + 1] = { name = name, reference = reference(record), count = count, indexed = indexed }
  end
  local place = function() return { index = asked.frame, co = co, here = here } end
  add("locals", place(), #frame.slots)
  if #frame.varargs > 0 then add("varargs", place(), #frame.varargs) end
  local ups = upvalues(frame.func)
  if #ups > 0 then add("upvalues", { kind = "function", func = frame.func }, #ups) end
  local env = globals_of(frame.func)
  add("globals", { kind = "table", value = env }, counted(env), rawlen(env))
  return { scopes = found }
end

-- A stop as everybody first looks at it, in one answer: the frames, and the locals of the innermost.
function H.look(asked)
  local found, code, why = H.stack(asked)
  if not found then return nil, code, why end
  if found.frames[1] then
    local scopes = H.scopes({ frame = found.frames[1].index })
    if scopes then
      found.scopes = scopes
      found.locals = H.variables({ reference = scopes.scopes[1].reference, count = 200 })
    end
  end
  return found
end

-- Expressions in a frame: names are its locals, its upvalues, then its globals, for reading and for setting.

local function names_of(frame, changed)
  local _, ups = upvalues(frame.func)
  local env = globals_of(frame.func)
  return setmetatable({}, {
    __index = function(_, k)
      local found = frame.by_name[k]
      if found then return found.value end
      if ups[k] then
        local _, value = getupvalue(frame.func, ups[k])
        return value
      end
      return env[k]
    end,
    __newindex = function(_, k, value)
      local found = frame.by_name[k]
      if found then
        found.value, changed[found.slot] = value, found
      elseif ups[k] then setupvalue(frame.func, ups[k], value)
      else env[k] = value end
    end,
  })
end

local function compiled(text, names)
  if setfenv then
    local f, why = loadstring(text, "=expression")
    if f then setfenv(f, names) end
    return f, why
  end
  return load(text, "=expression", "t", names)
end

local function expression(text, names)
  local f, why = compiled("return " .. text .. "\n", names)
  if f then return f end
  local statement, other = compiled(text, names)
  if statement then return statement end
  return nil, text:find("[=;]") and not text:find("[=~<>]=") and other or why
end

local function packed(...) return { n = select("#", ...), ... } end

local function evaluated(text, index, co, here, ms)
  local frame = snapshot(index, co, here)
  if not frame then return nil, "no_such_frame", "there is no such frame" end
  local changed, values = {}, {}
  local f, why = expression(text, names_of(frame, changed))
  if not f then return nil, "failed", why end
  for i = 1, #frame.varargs do values[i] = frame.varargs[i].value end
  local results = packed(limited(f, ms, unpack(values, 1, #frame.varargs)))
  for slot, found in next, changed do store(index, co, here, slot, found.value) end
  if not results[1] then return nil, reason(results[2]) end
  return results
end

function H.evaluate(asked)
  local co, here = coroutine_named(asked.coroutine)
  if here == nil then return nil, "no_such_frame", "there is no such coroutine" end
  local results, code, why = evaluated(asked.expression, asked.frame or 2, co, here, asked.timeout or 5000)
  if not results then return nil, code, why end
  local found = list()
  for i = 2, math.min(results.n, 101) do found[i - 1] = describe(tostring(i - 1), results[i], i - 1, asked.text) end
  return { results = found }
end

local assign_by = {}
function assign_by.locals(record, position, value)
  local frame = snapshot(record.index, record.co, record.here)
  local found = frame and frame[record.kind == "locals" and "slots" or "varargs"][position]
  return found and store(record.index, record.co, record.here, found.slot, value) ~= nil
end
assign_by.varargs = assign_by.locals
assign_by["function"] = function(record, position, value)
  local found = upvalues(record.func)[position]
  return found and setupvalue(record.func, found.up, value) ~= nil
end
function assign_by.table(record, position, value)
  local _, _, key = table_child(record, position)
  if key == nil then return false end
  rawset(record.value, key, value)
  return true
end

function H.assign(asked)
  local record = refs[asked.reference]
  if not record then return nil, "no_such_reference", "there is no such reference in this stop" end
  local co, here = coroutine_named(nil)
  local results, code, why = evaluated(asked.expression, asked.frame or 2, co, here, asked.timeout or 5000)
  if not results then return nil, code, why end
  local set = assign_by[record.kind]
  if not set or not set(record, asked.position, results[2]) then
    return nil, "no_such_variable", "this cannot be assigned to"
  end
  return describe("", results[2], asked.position)
end

-- Breakpoints with more than a line. LuaPanda asks `hit` as the condition.

local places, told = {}, {}

local function notice(cmd, info)
  panda.sendMsg({ cmd = cmd, callbackId = "0", info = info })
end

local function condition_failed(place, text, why)
  local once = place.path .. "\0" .. place.line .. "\0" .. text .. "\0" .. why
  if told[once] then return end
  told[once] = true
  notice("conditionFailed", { path = place.path, line = tostring(place.line), expression = text, message = printable(why) })
end

local function compare(hits, form, number)
  if form == "==" then return hits == number end
  if form == ">" then return hits > number end
  if form == ">=" then return hits >= number end
  if form == "<" then return hits < number end
  if form == "<=" then return hits <= number end
  return hits % number == 0
end

local function in_words(value)
  if type(value) == "string" then return value end
  local v = describe("", value, 0)
  return v.value
end

local function filled(place)
  local parts = {}
  for _, part in next, place.log do
    if type(part) == "string" then parts[#parts + 1] = part
    else
      local results, _, why = evaluated(part[1], 2, current(), true, 250)
      local words = {}
      for i = 2, results and results.n or 0 do words[#words + 1] = in_words(results[i]) end
      parts[#parts + 1] = results and concat(words, ", ") or "<" .. tostring(why) .. ">"
    end
  end
  return concat(parts)
end

-- The same place keeps its count when the list of its file is sent anew.
function H.breakpoints(asked)
  for id, place in next, asked.places do
    local before = places[id]
    place.hits = before and before.same == place.same and before.hits or 0
    places[id] = place
  end
  return {}
end

function H.hit(id)
  local place = places[id]
  if not place then return false end
  if place.ends then  -- of several files with the same name, this one
    local info = getinfo(base(), "S")
    local source = info.source:gsub("\\", "/"):gsub("^@", ""):gsub("^%./", "")
    local ends = place.ends
    if source:sub(1, 1) ~= "/" then ends = ends:sub(-#source) end
    if source ~= ends then return false end
  end
  if place.condition then
    local results, _, why = evaluated(place.condition, 2, current(), true, 250)
    if not results then condition_failed(place, place.condition, tostring(why)) return false end
    if not results[2] then return false end
  end
  place.hits = place.hits + 1
  if place.form and not compare(place.hits, place.form, place.number) then return false end
  if place.log then notice("debug_console", { logInfo = filled(place) }) return false end
  return true
end

-- Errors. Lua has no hook for them: what can be wrapped is wrapped.

local filter, wraps_errors = "none", false
-- LuaPanda forgets a wish to stop at the first call: it must be made, and met, within one function.
local stop_here = (loadstring or load)("return function(stop)\nstop()\nreturn true\nend", LINE_CHUNK)()

local function stop_for(text, uncaught, handler)
  if raised then return end
  local _, shown = reason(text)
  raised = { text = printable(shown), uncaught = uncaught, handler = handler }
  raised.traceback = printable(debug.traceback("", 3))
  stop_here(panda.BP)
  raised = nil
end

local function is_caught()
  if current() ~= nil then return true end
  local level = 3
  while true do
    local info = getinfo(level, "f")
    if not info then return false end
    if info.func == pcall or info.func == xpcall then return true end
    level = level + 1
  end
end

local function consider(text, handler)
  if filter == "none" or raised then return end
  local caught = is_caught()
  if filter == "all" or not caught then stop_for(text, not caught, handler) end
end

-- What the starter of the program calls with an error that nothing has caught, where it was raised.
function H.uncaught(text)
  if filter ~= "none" then stop_for(text, true, getinfo(2, "f").func) end
end

local function wrap_errors()
  if wraps_errors then return end
  wraps_errors = true
  local plain_error, plain_assert = panda.dragoman_error or globals.error, panda.dragoman_assert or globals.assert
  panda.dragoman_error, panda.dragoman_assert = plain_error, plain_assert
  local function error_here(text, level)
    consider(text, getinfo(1, "f").func)
    level = level or 1
    plain_error(text, type(level) == "number" and level > 0 and level + 1 or level)
  end
  local function assert_here(...)
    if not (...) and select("#", ...) > 0 then
      consider(select("#", ...) > 1 and (select(2, ...)) or "assertion failed!", getinfo(1, "f").func)
    end
    return plain_assert(...)
  end
  rawset(globals, "error", error_here)
  rawset(globals, "assert", assert_here)
end

function H.setExceptions(asked)
  filter = asked.filter
  if filter ~= "none" then wrap_errors() end
  return {}
end

function H.pause()
  return { paused = panda.BP() and true or false }
end

-- A breakpoint came first: else the next line would be a stop again.
function H.unpause()
  local _, at = upvalue(process, "hitBP")
  if at then setupvalue(process, at, false) end
  return {}
end

-- Which chunks are there: those that hooks saw, and those of functions that can be reached.

local function collect(found, seen, value, depth)
  if type(value) == "function" then
    local info = getinfo(value, "SL")
    if info.what ~= "C" and info.source:sub(1, 1) == "@" and info.source ~= own_source and not is_boot(info) then
      local lines = found[info.source] or {}
      for line in next, info.activelines or {} do lines[line] = true end
      found[info.source] = lines
    end
  elseif type(value) == "table" and depth > 0 and not seen[value] then
    seen[value] = true
    local n = 0
    for _, v in next, value do
      n = n + 1
      if n > 2000 then break end
      if type(v) == "function" or type(v) == "table" then collect(found, seen, v, depth - 1) end
    end
  end
end

function H.sources(asked)
  local found, sources = {}, list()
  collect(found, {}, globals, 3)
  if package and package.loaded then collect(found, {}, package.loaded, 3) end
  for source in next, panda.formatPathCache() do
    if source:sub(1, 1) == "@" and source ~= own_source and source ~= LINE_CHUNK and not is_boot({ source = source }) then
      found[source] = found[source] or {}
    end
  end
  local level = base()
  while level do
    local info = getinfo(level, "f")
    if not info then break end
    collect(found, {}, info.func, 1)
    level = level + 1
  end
  for source, lines in next, found do
    if #sources >= (asked.limit or 1000) then break end
    local each, known_lines = entry({ source = source }, 0), list()
    for line in next, lines do known_lines[#known_lines + 1] = line end
    sources[#sources + 1] = { source = each.source, file = each.file, oPath = each.oPath, lines = known_lines }
  end
  return { sources = sources }
end

-- The way in.

local function answer(cmd, asked)
  if asked.stop ~= stop_number then refs, stop_number = {}, asked.stop end
  return H[cmd](asked)
end

function H.call(cmd, asked)
  local ok, found, code, why = pcall(answer, cmd, asked)
  if not ok then return json({ error = { code = "failed", message = printable(tostring(found)) } }) end
  if not found then return json({ error = { code = code, message = printable(tostring(why)) } }) end
  return json(found)
end

-- What is changed in the program, once a connection.

local function answer_to_our_name()
  local env = upvalue(panda.processExp, "env")
  local meta = getmetatable_of(env)
  local plain_index = meta.dragoman or meta.__index
  meta.dragoman = plain_index
  meta.__index = function(t, k)
    if k == word then return H end
    return plain_index(t, k)
  end
end

local function follow_wrapped_coroutines()
  if is_jit or panda.dragoman_wraps then return end
  panda.dragoman_wraps = true
  coroutine.wrap = function(f)
    local co = coroutine.create(f)
    return function(...)
      local results = packed(resume(co, ...))
      if results[1] then return unpack(results, 2, results.n) end
      error(results[2], type(results[2]) == "string" and 2 or 0)
    end
  end
end

-- A loop that calls nothing has no other hook while there are no breakpoints.
local function look_now_and_then()
  if is_jit or panda.dragoman_counts then return end
  panda.dragoman_counts = true
  local change = panda.changeHookState
  panda.changeHookState = function(s)
    change(s)
    local hook, mask = debug.gethook()
    if hook == panda.debug_hook and mask ~= "" then sethook(hook, mask, 1000000) end
  end
end

-- LuaJIT reports a line again when a call in it returns: that is no new pass, neither for a step nor for a breakpoint.
local function pass_over_returns()
  if not is_jit or panda.dragoman_returns then return end
  panda.dragoman_returns = true
  local lines_of = setmetatable({}, { __mode = "k" })
  local came_back = false
  panda.real_hook_process = function(info)
    local thread = running() or globals
    local lines = lines_of[thread]
    if not lines or #lines > 1000 then
      lines = {}
      lines_of[thread] = lines
    end
    local event, again = info.event, false
    if event == "call" then lines[#lines + 1] = 0
    elseif event == "return" then lines[#lines] = nil
    elseif event == "line" then
      again = came_back and lines[#lines] == info.currentline
      lines[#lines == 0 and 1 or #lines] = info.currentline
    end
    came_back = event == "return"
    if not again then process(info) end
  end
end

answer_to_our_name()
pass_over_returns()
follow_wrapped_coroutines()
look_now_and_then()
pcall(function() upvalue(panda.sendMsg, "sock"):setoption("tcp-nodelay", true) end)
if boot then boot.on_error = H.uncaught end
return json({ lua = _VERSION, jit = is_jit and jit.version or "", starter = boot and true or false })
