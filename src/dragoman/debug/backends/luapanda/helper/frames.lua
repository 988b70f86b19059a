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

-- What started the program is no part of it, nor is this helper, which stands in for coroutine.wrap.
local function is_boot(info)
  return info.source == this_source or boot ~= nil and boot.own[info.source] == true
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
