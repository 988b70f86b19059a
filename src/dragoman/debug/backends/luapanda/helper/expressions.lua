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
