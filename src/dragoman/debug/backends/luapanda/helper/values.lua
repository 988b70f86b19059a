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
