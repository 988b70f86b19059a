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
