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

-- A loop that calls nothing has no other hook while there are no breakpoints. Where calls and returns are followed, LuaJIT
-- would tell no return while it counts, and LuaPanda not know that it is back in a file with breakpoints.
local function look_now_and_then()
  if panda.dragoman_counts then return end
  panda.dragoman_counts = true
  local change = panda.changeHookState
  panda.changeHookState = function(s)
    change(s)
    local hook, mask = debug.gethook()
    local hides_returns = is_jit and mask == "cr"
    if hook == panda.debug_hook and mask ~= "" and not hides_returns then sethook(hook, mask, 1000000) end
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

-- Compiled code calls no hooks: a line that is hot would be passed by.
local compiles = is_jit and jit.status()
local function without_compiler()
  if compiles then jit.off() jit.flush() end
end

-- The program is let go: it is as fast as before.
function H.leave()
  filter = "none"
  if compiles then jit.on() end
  return {}
end

answer_to_our_name()
without_compiler()
pass_over_returns()
follow_wrapped_coroutines()
look_now_and_then()
pcall(function() upvalue(panda.sendMsg, "sock"):setoption("tcp-nodelay", true) end)
if boot then boot.on_error = H.uncaught end
return json({ lua = _VERSION, jit = is_jit and jit.version or "", starter = boot and true or false })
