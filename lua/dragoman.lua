-- Dragoman's debugger for Lua 5.1, 5.2, 5.3, 5.4 and LuaJIT: one file, put beside the program.
--
--   require("dragoman").start("127.0.0.1", 8818)        -- connect to the IDE, now or whenever it listens
--   require("dragoman").startServer("127.0.0.1", 8818)  -- let the IDE connect
--   lua dragoman.lua 127.0.0.1:8818 program.lua ...     -- run a program; its uncaught errors stop
--
-- It speaks LuaPanda's protocol (docs/protocols/luapanda.md) and takes the place of LuaPanda.lua 3.3.1.
-- Whatever goes wrong in here, the program goes on.

local this = {}

-- A host without the debug library, or without coroutines, is left as it is: every function of this module does nothing.
if type(debug) ~= "table" or not debug.sethook or type(coroutine) ~= "table" then
  return setmetatable(this, { __index = function() return function() end end })
end

-- The program may replace library functions, or hide them: ours are taken once.
local type, tostring, tonumber, pairs, ipairs, select, next = type, tostring, tonumber, pairs, ipairs, select, next
local pcall, xpcall, error, assert, setmetatable = pcall, xpcall, error, assert, setmetatable
local rawget, rawset, rawequal = rawget, rawset, rawequal
local format, find, match, gmatch, sub, gsub = string.format, string.find, string.match, string.gmatch, string.sub, string.gsub
local byte, char, lower = string.byte, string.char, string.lower
local concat, remove, sort = table.concat, table.remove, table.sort
local floor = math.floor
local getinfo, getlocal, setlocal, getupvalue, setupvalue = debug.getinfo, debug.getlocal, debug.setlocal, debug.getupvalue, debug.setupvalue
local getmetatable, sethook, gethook, traceback = debug.getmetatable, debug.sethook, debug.gethook, debug.traceback
local create, wrap, resume, running, status = coroutine.create, coroutine.wrap, coroutine.resume, coroutine.running, coroutine.status
-- Not every Lua has these, and a program may forbid to read globals that are not there.
local globals = _G
local function optional(name) return rawget(globals, name) end
local io, os, package = optional("io") or {}, optional("os") or {}, optional("package") or {}
local collectgarbage, os_time = collectgarbage, os.time or function() return 0 end
local setfenv, getfenv, load, loadstring = optional("setfenv"), optional("getfenv"), optional("load"), optional("loadstring")
local jit, newproxy = optional("jit"), optional("newproxy")
local own_source = getinfo(1, "S").source
local is_51 = _VERSION == "Lua 5.1"

local VERSION = "3.3.1"
local EXTENSION = "1"
-- Seconds, bytes and counts. In one table, for a function may have no more than 200 locals.
local LIMIT = {
  poll_s = 0.02, attach_s = 1, handshake_s = 1, first_message_s = 1, send_s = 3,
  connect_first_s = 0.2, connect_again_s = 0.005, accept_s = 0.5,
  value_s = 0.25, values_s = 1, evaluate_s = 5,
  line_bytes = 67108864, frames_told = 100, old_frames_told = 1000,
  sorted_keys = 1000, counted_keys = 2000000, old_fields = 100000, old_references = 9999, scanned_objects = 50000,
}

local function pack(...) return { n = select("#", ...), ... } end
local unpack = rawget(table, "unpack") or optional("unpack")

---------------------------------------------------------------------------------------------------
-- JSON, as this wire writes it
---------------------------------------------------------------------------------------------------

local Json, encode, base64, is_utf8, printable
do

Json = { null = setmetatable({}, { __tostring = function() return "null" end }) }

local ESCAPES = { ['"'] = '\\"', ["\\"] = "\\\\", ["/"] = "\\/", ["\b"] = "\\b", ["\f"] = "\\f", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t" }
for code = 0, 31 do
  local letter = char(code)
  ESCAPES[letter] = ESCAPES[letter] or format("\\u%04x", code)
end
ESCAPES["\127"] = "\\u007f"

-- %c misses the zero byte on Lua 5.1; %z is its name there.
local TO_ESCAPE = is_51 and '[%c%z"\\/]' or '[%c"\\/]'

local function quoted(text) return '"' .. gsub(text, TO_ESCAPE, ESCAPES) .. '"' end

local function number_text(value)
  if value ~= value or value == 1 / 0 or value == -1 / 0 then return quoted(tostring(value)) end
  if value == floor(value) and value > -1e15 and value < 1e15 then return format("%d", value) end
  return format("%.14g", value)
end

local function encode_table(value)
  if value == Json.null then return "null" end
  if next(value) == nil then return "[]" end
  local parts = {}
  if value[1] ~= nil then
    for position, item in ipairs(value) do parts[position] = encode(item) end
    return "[" .. concat(parts, ",") .. "]"
  end
  for key, item in next, value do parts[#parts + 1] = quoted(tostring(key)) .. ":" .. encode(item) end
  return "{" .. concat(parts, ",") .. "}"
end

local ENCODERS = { string = quoted, number = number_text, table = encode_table, boolean = tostring }

function encode(value)
  local encoder = ENCODERS[type(value)]
  return encoder and encoder(value) or "null"
end
Json.encode = encode

local function utf8_of(code)
  if code < 128 then return char(code) end
  if code < 2048 then return char(192 + floor(code / 64), 128 + code % 64) end
  if code < 65536 then return char(224 + floor(code / 4096), 128 + floor(code / 64) % 64, 128 + code % 64) end
  return char(240 + floor(code / 262144), 128 + floor(code / 4096) % 64, 128 + floor(code / 64) % 64, 128 + code % 64)
end

local function joined_surrogates(text)
  return (gsub(text, "\\u([dD][89abAB]%x%x)\\u([dD][c-fC-F]%x%x)", function(high, low)
    return utf8_of(65536 + (tonumber(high, 16) - 55296) * 1024 + tonumber(low, 16) - 56320)
  end))
end

local UNESCAPES = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t" }

local function unescaped(text, joins)
  if not find(text, "\\", 1, true) then return text end
  -- Pairs of backslashes first, so that none of them starts another escape.
  text = gsub(text, "\\\\", "\\u005c")
  if joins then text = joined_surrogates(text) end
  text = gsub(text, "\\([^u])", function(letter) return UNESCAPES[letter] or letter end)
  return (gsub(text, "\\u(%x%x%x%x)", function(digits) return utf8_of(tonumber(digits, 16)) end))
end

local function decode_string(text, position, joins)
  local from = position + 1
  local at = from
  while true do
    local stop = find(text, '["\\]', at)
    if not stop then error("a string has no end", 0) end
    if byte(text, stop) == 34 then return unescaped(sub(text, from, stop - 1), joins), stop + 1 end
    at = stop + 2
  end
end

local WORDS = { ["true"] = true, ["false"] = false, ["null"] = Json.null }

local function decode_word(text, position)
  local word = match(text, "^%a+", position)
  if word and WORDS[word] ~= nil then return WORDS[word], position + #word end
  -- The original makes text of every number; ids and settings rely on it.
  local digits = match(text, "^%-?%d[%d%.eE%+%-]*", position)
  if digits then return digits, position + #digits end
  error("no JSON value at " .. position, 0)
end

local function skip(text, position) return find(text, "[^ \t\r\n]", position) or #text + 1 end

local decode_value

local function decode_items(text, position, joins, depth, close, read)
  position = skip(text, position + 1)
  if sub(text, position, position) == close then return position + 1 end
  while true do
    position = skip(text, read(position, joins, depth))
    local mark = sub(text, position, position)
    if mark == close then return position + 1 end
    if mark ~= "," then error("no comma at " .. position, 0) end
    position = skip(text, position + 1)
  end
end

local function decode_list(text, position, joins, depth)
  local list = {}
  local stop = decode_items(text, position, joins, depth, "]", function(at)
    local value, after = decode_value(text, at, joins, depth + 1)
    if value ~= Json.null then list[#list + 1] = value end
    return after
  end)
  return list, stop
end

local function decode_object(text, position, joins, depth)
  local object = {}
  local stop = decode_items(text, position, joins, depth, "}", function(at)
    if byte(text, at) ~= 34 then error("no name at " .. at, 0) end
    local key, after = decode_string(text, at, joins)
    after = skip(text, after)
    if byte(text, after) ~= 58 then error("no colon at " .. after, 0) end
    local value
    value, after = decode_value(text, skip(text, after + 1), joins, depth + 1)
    if value ~= Json.null then object[key] = value end
    return after
  end)
  return object, stop
end

local DECODERS = { [34] = decode_string, [91] = decode_list, [123] = decode_object }

function decode_value(text, position, joins, depth)
  if depth > 64 then error("nested too deeply", 0) end
  local decoder = DECODERS[byte(text, position) or 0] or decode_word
  local value, after = decoder(text, position, joins, depth)
  return value, after
end

-- The first value of a line and what stands after it; nil and the reason otherwise.
function Json.decode(text, joins)
  local ok, value, after = pcall(decode_value, text, skip(text, 1), joins, 0)
  if not ok then return nil, value end
  return value, after
end

local BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

local function base64_group(a, b, c)
  local bits = a * 65536 + (b or 0) * 256 + (c or 0)
  local out = {}
  for place = 1, 4 do
    local digit = floor(bits / 64 ^ (4 - place)) % 64 + 1
    out[place] = sub(BASE64, digit, digit)
  end
  if not b then out[3] = "=" end
  if not c then out[4] = "=" end
  return concat(out)
end

function base64(text)
  local out = {}
  for position = 1, #text, 3 do out[#out + 1] = base64_group(byte(text, position, position + 2)) end
  return concat(out)
end

-- The length of the UTF-8 letter at a byte; nil where there is none.
local function letter_length(text, position)
  local first = byte(text, position)
  if first < 128 then return first ~= 0 and 1 or nil end
  local length = first >= 194 and first < 224 and 2 or first >= 224 and first < 240 and 3 or first >= 240 and first < 245 and 4
  if not length then return nil end
  local second = byte(text, position + 1) or 0
  local low = first == 224 and 160 or first == 240 and 144 or 128
  local high = first == 237 and 159 or first == 244 and 143 or 191
  if second < low or second > high then return nil end
  for at = position + 2, position + length - 1 do
    local follower = byte(text, at) or 0
    if follower < 128 or follower > 191 then return nil end
  end
  return length
end

function is_utf8(text)
  if not find(text, is_51 and "[%z\128-\255]" or "[\0\128-\255]") then return true end
  local position = 1
  while position <= #text do
    local length = letter_length(text, position)
    if not length then return false end
    position = position + length
  end
  return true
end

function printable(text)
  if is_utf8(text) then return text end
  local out, position = {}, 1
  while position <= #text do
    local length = letter_length(text, position)
    out[#out + 1] = length and sub(text, position, position + length - 1) or format("\\%03d", byte(text, position))
    position = position + (length or 1)
  end
  return concat(out)
end

end

---------------------------------------------------------------------------------------------------
-- What is known of the session
---------------------------------------------------------------------------------------------------

local sock, server, socket_library
local callback_id = ""
local host, port
local as_server, attach_wanted, handed_over = false, true, false
local session = {} -- settings of initSuccess; empty when nobody has sent one
local stop -- what the program is stopped for; nil while it runs
local busy = false -- the debugger itself is at work in this Lua state
local partial = ""
local references = {}
local next_poll, next_beat, last_heard, last_attempt = 0, 0, 0, 0

local gettime = os_time

local function count_kib() return collectgarbage("count") end

local function libraries()
  if socket_library then return socket_library end
  for _, name in ipairs({ "socket.core", "socket" }) do
    local ok, library = pcall(require, name)
    if ok and type(library) == "table" and library.tcp then
      socket_library, gettime = library, library.gettime
      return library
    end
  end
end

local function complain(text) pcall(function() io.stderr:write("[dragoman] ", text, "\n") end) end

---------------------------------------------------------------------------------------------------
-- Paths: what the IDE calls the file of a chunk
---------------------------------------------------------------------------------------------------

local Paths, exists, folded, placed, chunk_path, key_of, has_file
do

Paths = { cache = {} }

function exists(path)
  local ok, file = pcall(io.open, path, "r")
  if ok and file then file:close() end
  return ok and file ~= nil
end

function folded(path)
  if session.ignores_case then path = lower(path) end
  path = gsub(path, "\\", "/")
  local parts = {}
  for part in gmatch(path, "[^/]+") do
    if part == ".." and #parts > 0 and not match(parts[#parts], "^%a:$") then
      remove(parts)
    elseif part ~= "." then
      parts[#parts + 1] = part
    end
  end
  local whole = (sub(path, 1, 1) == "/" and "/" or "") .. concat(parts, "/")
  return session.windows and gsub(whole, "^%a:", lower) or whole
end

local function is_absolute(path) return sub(path, 1, 1) == "/" or match(path, "^%a:") ~= nil end

-- Hosts name a chunk after the argument of require: a.b is a/b. A file that is there keeps its dots.
local function undotted(path)
  if exists(path) then return path end
  local extension = session.extension ~= "" and "." .. session.extension or Paths.extension
  local stem, tail = path, ""
  if extension ~= "" and sub(path, -#extension) == extension then
    stem, tail = sub(path, 1, -#extension - 1), extension
  elseif extension == "" then
    return path
  end
  return gsub(stem, "([^%./\\])%.([^%./\\])", "%1/%2") .. tail
end

local function with_extension(path)
  local extension = session.extension
  if extension == "" then return path end
  if find(extension, "%%%d") then return (gsub(path, "%.[%w%.]+$", extension)) end
  if sub(path, -#extension - 1) == "." .. extension then return path end
  return gsub(path, "%.[%w]+$", "") .. "." .. extension
end

function placed(path)
  local cwd = session.cwd
  if is_absolute(path) or cwd == "" or find(path, cwd, 1, true) then return path end
  return cwd .. "/" .. path
end

function chunk_path(source)
  local path = gsub(source, "^@", "")
  path = gsub(path, "^%./", "")
  return undotted(path)
end

local function told_path(source)
  local path = gsub(source, "^@", "")
  path = folded(undotted((gsub(path, "^%./", "/"))))
  local cwd = folded(session.cwd)
  if cwd ~= "" and sub(path, 1, #cwd) == cwd then path = sub(path, #cwd + 1) end
  if session.truncated ~= "" then
    local ok, _, after = pcall(find, path, session.truncated)
    if ok and after then path = sub(path, after + 1) end
  end
  return path
end

function key_of(path) return session.names_only and match(path, "[^/]*$") or path end

-- Code that was loaded from a string has no file to stop in.
function has_file(source)
  return source ~= own_source and source ~= "=[C]" and source ~= "temp buffer" and source ~= "chunk" and not find(source, "[\n;=]")
end

function Paths.of(source)
  local known = Paths.cache[source]
  if not known then
    local full = folded(session.names_only and with_extension(chunk_path(source)) or placed(with_extension(chunk_path(source))))
    known = { file = key_of(full), opath = told_path(source), stops = has_file(source) }
    Paths.cache[source] = known
  end
  return known
end

Paths.extension = match(own_source, "(%.[%w]+)$") or ""

end

---------------------------------------------------------------------------------------------------
-- The line to the IDE
---------------------------------------------------------------------------------------------------

local Wire = {}
local leave_session

local function send_all(text)
  local from, deadline = 1, gettime() + LIMIT.send_s
  while from <= #text do
    local left = deadline - gettime()
    if left <= 0 then return false end
    sock:settimeout(left)
    local sent, why, last = sock:send(text, from)
    if not sent and why ~= "timeout" then return false end
    from = (sent or last) + 1
  end
  return true
end

function this.sendMsg(message)
  if not sock then return false end
  local ok, sent = pcall(send_all, encode(message) .. "|*|\n")
  if not (ok and sent) then leave_session() end
  return ok and sent
end

function Wire.take_id()
  local id = callback_id
  callback_id = "0"
  return id
end

function Wire.keep_id(id)
  if id ~= nil and id ~= "0" then callback_id = tostring(id) end
end

function Wire.answer(cmd, info) return this.sendMsg({ cmd = cmd, callbackId = Wire.take_id(), info = info or {} }) end

function Wire.refuse(cmd, code, message) return Wire.answer(cmd, { error = { code = code, message = printable(tostring(message)) } }) end

function Wire.notice(cmd, info) return this.sendMsg({ cmd = cmd, callbackId = "0", info = info }) end

function Wire.log(text) return Wire.notice("output", { logInfo = printable(tostring(text)) }) end

function Wire.tip(text) return Wire.notice("tip", { logInfo = printable(tostring(text)) }) end

function Wire.memory() return Wire.notice("refreshLuaMemory", { memInfo = tostring(count_kib()) }) end

-- One line, or nil and why there is none.
function Wire.line(timeout)
  if not sock then return nil, "closed" end
  sock:settimeout(timeout)
  local line, why, rest = sock:receive("*l", partial)
  partial = line and "" or rest or ""
  if #partial > LIMIT.line_bytes then return nil, "closed" end
  if line then last_heard = gettime() end
  return line, why
end

---------------------------------------------------------------------------------------------------
-- The program's own code, run for the debugger: it may raise, and it may never end
---------------------------------------------------------------------------------------------------

local Guard, guard_hook, TIMED_OUT, without_compiler, restore_hook, safe_text
do

Guard = { deadline = nil, spent = 0 }
TIMED_OUT = setmetatable({}, { __tostring = function() return "it did not end in time" end })

function guard_hook()
  -- On LuaJIT it is everybody's hook; the debugger itself is not to be stopped by it.
  if not Guard.deadline or gettime() < Guard.deadline or running() == Guard.home then return end
  -- From here on every instruction raises, or a loop around pcall would outlive us.
  sethook(guard_hook, "", 1)
  error(TIMED_OUT, 0)
end

-- LuaJIT runs no hook within a hook, in no coroutine; a coroutine that dies of an error ends that state.
local function allow_hooks() resume(create(function() error() end)) end

local function guarded_results(thread, ...)
  if status(thread) == "suspended" and (...) then return false, "it yielded" end
  return ...
end

function Guard.run(seconds, action, ...)
  if Guard.deadline then return pcall(action, ...) end
  Guard.deadline, Guard.home = gettime() + seconds, running()
  local thread = create(action)
  if jit then
    allow_hooks()
    without_compiler()
  end
  sethook(thread, guard_hook, "", 1000)
  local results = pack(guarded_results(thread, resume(thread, ...)))
  Guard.deadline = nil
  if jit then restore_hook() end
  return unpack(results, 1, results.n)
end

local function text_of(value) return (tostring(value)) end

function safe_text(value)
  local meta = getmetatable(value)
  if not meta or type(value) == "string" then return tostring(value) end
  if Guard.spent > LIMIT.values_s then return nil, "not asked for: others before it took too long" end
  local began = gettime()
  local ok, text = Guard.run(LIMIT.value_s, text_of, value)
  Guard.spent = Guard.spent + gettime() - began
  if ok and type(text) == "string" then return text end
  return nil, ok and "no text" or tostring(type(text) == "table" and text ~= TIMED_OUT and "an error object" or text)
end

end

---------------------------------------------------------------------------------------------------
-- The stack of the stopped program
---------------------------------------------------------------------------------------------------

local Stack, base_level, frame_info, set_frame_local, is_shown
do

Stack = {}

-- The level, for the caller, of the frame the program stopped in: the one below the function that stopped it.
function base_level()
  local level = 2
  while true do
    local info = getinfo(level, "f")
    if not info then return nil end
    if info.func == stop.anchor then return level end
    level = level + 1
  end
end

-- A frame is a place: an offset from where the program stopped, in this coroutine or in another.
function frame_info(offset, thread, what)
  if thread then return getinfo(thread, offset, what) end
  local base = base_level()
  return base and getinfo(base + offset, what)
end

function Stack.value(frame, slot)
  if frame.thread then
    local name, value = getlocal(frame.thread, frame.offset, slot)
    return name, value
  end
  local name, value = getlocal(base_level() + frame.offset, slot)
  return name, value
end

function set_frame_local(frame, slot, value)
  if frame.thread then
    local name = setlocal(frame.thread, frame.offset, slot, value)
    return name
  end
  local name = setlocal(base_level() + frame.offset, slot, value)
  return name
end

local function shown_name(info)
  if info.what == "main" then return "main chunk" end
  return info.name or ""
end

local function stack_entry(info, offset)
  local path = Paths.of(info.source)
  local entry = { file = path.file, oPath = path.opath, line = tostring(info.currentline), index = tostring(offset + 2), name = "文件名" }
  if session.extended then
    entry["function"], entry.nameKind, entry.defined = shown_name(info), info.namewhat or "", info.linedefined
    entry.tail = info.istailcall == true
  end
  return entry
end

function is_shown(info) return info.currentline and info.currentline >= 0 and info.source ~= own_source end

-- To reach a level costs as many steps as it is deep, so that a runaway recursion is halved, not walked.
function Stack.level_count(thread)
  local low, high = 0, 1
  while frame_info(high, thread, "l") do low, high = high, high * 2 end
  while high - low > 1 do
    local middle = floor((low + high) / 2)
    if frame_info(middle, thread, "l") then low = middle else high = middle end
  end
  return high
end

-- The frames of a page, and how many there are in all; of a stack that goes on, its levels.
function Stack.entries(thread, from, limit)
  local entries, depth, offset = {}, 0, 0
  while #entries < limit do
    local info = frame_info(offset, thread, "nSl" .. (is_51 and "" or "t"))
    if not info then return entries, depth end
    if is_shown(info) then
      depth = depth + 1
      if depth > from then entries[#entries + 1] = stack_entry(info, offset) end
    end
    offset = offset + 1
  end
  return entries, frame_info(offset, thread, "l") and Stack.level_count(thread) or depth
end

-- The chunk that the innermost frame with a file is of.
function Stack.source()
  local offset, info = 0, nil
  repeat
    info = frame_info(offset, nil, "Sl")
    offset = offset + 1
  until not info or is_shown(info) and has_file(info.source)
  return info and info.source
end

function Stack.frame(index, thread)
  local offset = (tonumber(index) or 2) - 2
  if offset < 0 or offset ~= floor(offset) or not stop and not thread then return nil end
  local info = frame_info(offset, thread, "f")
  return info and { offset = offset, thread = thread, func = info.func }
end

-- The original looks a frame up by its function: in a recursion it finds the innermost call.
function Stack.innermost_like(frame)
  for offset = 0, frame.offset do
    local info = frame_info(offset, nil, "f")
    if info and info.func == frame.func then return { offset = offset, func = frame.func } end
  end
  return frame
end

function Stack.locals(frame)
  local found, slot = {}, 1
  while true do
    local name, value = Stack.value(frame, slot)
    if not name then return found end
    if sub(name, 1, 1) ~= "(" then found[#found + 1] = { name = name, value = value, slot = slot } end
    slot = slot + 1
  end
end

function Stack.varargs(frame)
  local found = {}
  if is_51 and not jit then return found end
  while true do
    local name, value = Stack.value(frame, -#found - 1)
    if not name then return found end
    found[#found + 1] = { name = "..." .. #found + 1, value = value, slot = -#found - 1 }
  end
end

function Stack.upvalues(func)
  local found, slot = {}, 1
  while true do
    local name, value = getupvalue(func, slot)
    if not name then return found end
    found[slot] = { name = name, value = value, slot = slot }
    slot = slot + 1
  end
end

end

---------------------------------------------------------------------------------------------------
-- Expressions in a frame
---------------------------------------------------------------------------------------------------

local Expression, frame_names, frame_globals, within, within_value_time, error_text
do

Expression = {}

function frame_names(frame)
  local names = {}
  if not frame then return names end
  for _, found in ipairs(Stack.upvalues(frame.func)) do
    found.of = frame.func
    names[found.name] = found
  end
  for _, found in ipairs(Stack.locals(frame)) do names[found.name] = found end
  return names
end

function frame_globals(frame, names)
  if not frame then return globals end
  if getfenv then
    local ok, environment = pcall(getfenv, frame.func)
    return ok and type(environment) == "table" and environment or globals
  end
  local environment = names._ENV and names._ENV.value
  return type(environment) == "table" and environment or globals
end

local function environment_for(scope)
  return setmetatable({}, {
    __index = function(_, name)
      local found = scope.names[name]
      if found then return found.value end
      return scope.globals[name]
    end,
    __newindex = function(_, name, value)
      local found = scope.names[name]
      if not found then
        scope.globals[name] = value
        return
      end
      found.value, found.changed = value, true
    end,
  })
end

local function compiled(text, environment)
  if not setfenv then return load(text, text, "t", environment) end
  local chunk, why = loadstring(text)
  if chunk then setfenv(chunk, environment) end
  return chunk, why
end

-- An expression, or statements. The scope is filled in before each run.
function Expression.compile(text, no_statements)
  local scope = { names = {}, globals = globals }
  local environment = environment_for(scope)
  local chunk, why = compiled("return " .. text, environment)
  if not chunk and not no_statements then chunk = compiled(text, environment) end
  return chunk and { chunk = chunk, scope = scope }, why
end

-- Locals live on a stack that another coroutine cannot always reach, so they are written back afterwards.
local function write_back(frame, names)
  for _, found in next, names do
    if found.changed and found.of then
      setupvalue(found.of, found.slot, found.value)
    elseif found.changed then
      set_frame_local(frame, found.slot, found.value)
    end
  end
end

-- run is Guard.run with a limit, or pcall.
function Expression.run(expression, frame, run, arguments)
  local scope = expression.scope
  scope.names = frame_names(frame)
  scope.globals = frame_globals(frame, scope.names)
  local results = pack(run(expression.chunk, unpack(arguments or {}, 1, arguments and arguments.n or 0)))
  if frame then write_back(frame, scope.names) end
  return results
end

function within(seconds)
  return function(...) return Guard.run(seconds, ...) end
end
within_value_time = within(LIMIT.value_s)

function error_text(value)
  if value == TIMED_OUT then return tostring(value) end
  return (safe_text(value)) or "an error object of type " .. type(value)
end

end

---------------------------------------------------------------------------------------------------
-- Breakpoints
---------------------------------------------------------------------------------------------------

local Breaks, of_function, any_line, break_lines, lines, rebuild_lines
do

Breaks = { by_key = {}, by_source = {}, changed = false }
of_function = setmetatable({}, { __mode = "k" }) -- function -> the breakpoints of its file by line; false where none is in it
any_line = setmetatable({}, { __index = function(all, line)
  all[line] = true
  return true
end })
break_lines = {}
lines = break_lines -- what the hook looks at first

function rebuild_lines()
  break_lines = {}
  for _, files in next, Breaks.by_key do
    for _, nodes in next, files do
      for line in next, nodes do break_lines[line] = true end
    end
  end
  Breaks.by_source, of_function, Breaks.changed = {}, setmetatable({}, { __mode = "k" }), true
end

function Breaks.exist() return next(Breaks.by_key) ~= nil end

local function node_of(raw)
  local line = tonumber(raw.line)
  if not line then return nil end
  local kind = tonumber(raw.type) or 2
  local node = { line = line, type = kind, hits = 0, told = {}, verified = raw.verified }
  node.condition = (kind == 0 or session.extended) and raw.condition ~= "" and raw.condition or nil
  node.logMessage = (kind == 1 or session.extended) and raw.logMessage ~= "" and raw.logMessage or nil
  node.hitCondition = session.extended and raw.hitCondition ~= "" and raw.hitCondition or nil
  return node
end

-- A list is sent whole whenever one of its breakpoints changes: the others go on counting.
local function continued(node, before)
  if before and before.condition == node.condition and before.hitCondition == node.hitCondition and before.logMessage == node.logMessage then
    node.hits, node.told = before.hits, before.told
  end
  return node
end

function Breaks.set(path, list)
  local full = folded(path)
  local key = key_of(full)
  local files = Breaks.by_key[key] or {}
  local nodes, before = {}, files[full] or {}
  for _, raw in ipairs(type(list) == "table" and list or {}) do
    local node = type(raw) == "table" and node_of(raw)
    if node then nodes[node.line] = continued(node, before[node.line]) end
  end
  files[full] = next(nodes) and nodes or nil
  Breaks.by_key[key] = next(files) and files or nil
  rebuild_lines()
  return nodes
end

function Breaks.clear()
  Breaks.by_key = {}
  rebuild_lines()
end

-- line -> breakpoint, for one chunk; false when it has none.
local function of_source(source)
  local path = Paths.of(source)
  local files = path.stops and Breaks.by_key[path.file]
  local found = {}
  for full, nodes in next, files or {} do
    if not session.tells_apart or find(full, path.opath, 1, true) then
      for line, node in next, nodes do found[line] = node end
    end
  end
  return next(found) and found or false
end

-- A main chunk spans its file, and a function those within it: so the range first, which is cheap, then the lines.
local function has_line_of(func, info, nodes)
  local near = info.what == "main"
  for line in next, nodes do near = near or line >= info.linedefined and line <= info.lastlinedefined end
  if not near then return false end
  local active = getinfo(func, "L").activelines or {}
  for line in next, nodes do
    if active[line] then return true end
  end
  return false
end

function Breaks.of(func)
  local found = of_function[func]
  if found == nil then
    local info = getinfo(func, "S")
    found = Breaks.by_source[info.source]
    if found == nil then
      found = of_source(info.source)
      Breaks.by_source[info.source] = found
    end
    found = found and has_line_of(func, info, found) and found
    of_function[func] = found
  end
  return found
end

-- Once for each reason. A client that knows no more than the protocol is told in a hint.
local function tell_failure(node, text, message)
  if node.told[message] then return end
  node.told[message] = true
  local place = tostring(node.file) .. ":" .. tostring(node.line)
  if not session.extended then return Wire.tip(place .. ": " .. tostring(text) .. " failed: " .. tostring(message)) end
  Wire.notice("conditionFailed", { path = node.file, line = node.line, expression = text, message = printable(message) })
end

-- Whether an expression of a breakpoint ran, and its first value.
local function value_at(node, text, frame)
  node.compiled = node.compiled or {}
  local expression, why = node.compiled[text], nil
  if not expression then
    expression, why = Expression.compile(text)
    node.compiled[text] = expression
  end
  if not expression then return false, tostring(why) end
  local results = Expression.run(expression, frame, within_value_time)
  if results[1] then return true, results[2] end
  return false, error_text(results[2])
end

local function condition_holds(node, frame)
  if not node.condition then return true end
  local ok, value = value_at(node, node.condition, frame)
  if not ok then tell_failure(node, node.condition, value) end
  return ok and value ~= nil and value ~= false
end

local COMPARISONS = {
  ["=="] = function(hits, wanted) return hits == wanted end,
  [">="] = function(hits, wanted) return hits >= wanted end,
  ["<="] = function(hits, wanted) return hits <= wanted end,
  [">"] = function(hits, wanted) return hits > wanted end,
  ["<"] = function(hits, wanted) return hits < wanted end,
  ["%"] = function(hits, wanted) return wanted ~= 0 and hits % wanted == 0 end,
}
COMPARISONS["="], COMPARISONS[""] = COMPARISONS["=="], COMPARISONS[">="]

local function hits_suffice(node)
  node.hits = node.hits + 1
  if not node.hitCondition then return true end
  local operator, number = match(tostring(node.hitCondition), "^%s*([=<>%%]*)%s*(%d+)%s*$")
  local comparison = operator and COMPARISONS[operator]
  if not comparison then tell_failure(node, node.hitCondition, "not a hit condition") end
  return comparison ~= nil and comparison(node.hits, tonumber(number))
end

local function interpolated(node, frame)
  if not session.extended then return node.logMessage end
  local text = gsub(node.logMessage, "{{", "\1")
  text = gsub(text, "}}", "\2")
  text = gsub(text, "(%b{})", function(braced)
    local ok, value = value_at(node, sub(braced, 2, -2), frame)
    if ok then return (printable(safe_text(value) or type(value))) end
    tell_failure(node, sub(braced, 2, -2), value)
    return "{" .. printable(value) .. "}"
  end)
  return (gsub(gsub(text, "\1", "{"), "\2", "}"))
end

local function write_log(node, frame)
  local info = { logInfo = "[LogPoint Output]: " .. interpolated(node, frame) }
  if session.extended then info.file, info.line = node.file, node.line end
  Wire.notice("debug_console", info)
end

-- Whether the program stops for this breakpoint, which it has just reached.
function Breaks.stops(node)
  local frame = Stack.frame(2)
  node.file = node.file or Paths.of(getinfo(frame.func, "S").source).file
  if not condition_holds(node, frame) or not hits_suffice(node) then return false end
  if not node.logMessage then return true end
  write_log(node, frame)
  return false
end

end

---------------------------------------------------------------------------------------------------
-- Values, as the original shows them
---------------------------------------------------------------------------------------------------

local Old, keep, field_count
do

Old = {}

function keep(value)
  references[#references + 1] = value
  return #references
end

function field_count(value, limit)
  local count, key = 0, next(value)
  while key ~= nil and count < limit do
    count = count + 1
    key = next(value, key)
  end
  return count, key ~= nil
end

local EXPANDS = { table = true, userdata = true, ["function"] = true }

local function old_text(value)
  local kind = type(value)
  if kind == "string" then return '"' .. value .. '"' end
  local text = safe_text(value) or kind .. " [value can't trans to string]"
  if kind == "table" then return field_count(value, 1 / 0) .. " Members " .. text end
  return text
end

-- From 10,000 on, a number means a scope.
local function old_reference(value) return #references < LIMIT.old_references and keep({ value = value }) or "0" end

function Old.variable(name, value)
  local kind = type(value)
  local text = old_text(value)
  if kind == "string" and session.encodes then text = base64(text) end
  return { name = name, type = kind, value = text, variablesReference = EXPANDS[kind] and old_reference(value) or "0" }
end

local function old_locals(frame)
  local list, place = {}, {}
  for _, found in ipairs(Stack.locals(frame)) do
    local shown = Old.variable(found.name, found.value)
    shown.index = found.slot
    place[found.name] = place[found.name] or #list + 1
    list[place[found.name]] = shown
  end
  return list
end

local function old_upvalues(func)
  local list = {}
  for position, found in ipairs(Stack.upvalues(func)) do list[position] = Old.variable(found.name, found.value) end
  return list
end

local function old_fields(value, plain)
  local list = {}
  for key, field in next, value do
    if #list >= LIMIT.old_fields then break end
    local name = type(key) == "string" and (plain and key or '"' .. key .. '"') or safe_text(key) or type(key)
    list[#list + 1] = Old.variable(name, field)
  end
  return list
end

local function old_metatable(value, list)
  local meta = getmetatable(value)
  if type(meta) == "table" then
    list[#list + 1] = { name = "_Metatable_", type = "table", value = "元表 " .. (safe_text(meta) or "table"), variablesReference = old_reference(meta) }
  end
  return list
end

local OLD_CHILDREN = {
  table = function(value) return old_metatable(value, old_fields(value)) end,
  userdata = function(value) return old_metatable(value, {}) end,
  ["function"] = old_upvalues,
}

function Old.children(reference)
  local kept = references[reference]
  if not kept or kept.scope then return {} end
  return OLD_CHILDREN[type(kept.value)](kept.value)
end

function Old.variables(reference, stack_id)
  if reference < 10000 then return Old.children(reference) end
  if reference >= 20000 and reference < 30000 then return old_fields(globals, true) end
  local frame = Stack.frame(stack_id)
  if not frame then
    if (tonumber(stack_id) or 0) > 2 then Wire.log("there is no frame " .. tostring(stack_id)) end
    return {}
  end
  if reference >= 30000 then return old_upvalues(frame.func) end
  return old_locals(Stack.innermost_like(frame))
end

local function old_failure(name, text, flag)
  return { { name = name, type = "string", value = session.encodes and base64(text) or text, variablesReference = "0", isSuccess = flag } }
end

function Old.watch(text, stack_id)
  if stop and not stack_id then return old_failure(text, '"输入了错误的变量信息"', "false") end
  local frame = stop and Stack.frame(stack_id)
  local expression = Expression.compile(text, true)
  if not expression then return old_failure(text, '"未能找到变量的值"', "false") end
  local results = Expression.run(expression, frame and Stack.innermost_like(frame), within(LIMIT.evaluate_s))
  if not results[1] then return old_failure(text, '"输入了错误的变量信息"', "false") end
  local shown = Old.variable(text, results[2])
  shown.isSuccess = "true"
  return { shown }
end

local REPL_UNREAD = '"指令执行错误。\n + 请检查指令是否正确\n + 可以直接输入表达式，执行函数或变量名，并观察执行结果"'
local REPL_FAILED = '"输入错误指令。\n + 请检查指令是否正确\n + 指令仅能在[暂停在断点时]输入, 请不要在程序持续运行时输入"'

-- An IDE that loads code of its own has helpers that walk the program's stack: from then on expressions run on it, where
-- Lua calls no hook within a hook, so that nothing can end them. Until then they end in time.
local function old_runner(text)
  session.injects = session.injects or find(text, "load", 1, true) ~= nil
  return session.injects and pcall or within(LIMIT.evaluate_s)
end

function Old.repl(text, stack_id)
  local expression = Expression.compile(text)
  if not expression then return old_failure("Exp", REPL_UNREAD, false) end
  local frame = stop and Stack.frame(stack_id)
  local results = Expression.run(expression, frame and Stack.innermost_like(frame), old_runner(text))
  if not results[1] then return old_failure("Exp", REPL_FAILED, false) end
  local shown = Old.variable("Exp", results[2])
  shown.isSuccess = "true"
  return { shown }
end

local LITERALS = { ["true"] = { value = true }, ["false"] = { value = false }, ["nil"] = {} }

-- What the text of a new value means: a literal, or the name of a variable.
local function old_new_value(text, frame)
  local quoted_text = match(text, '^"(.*)"$') or match(text, "^'(.*)'$")
  if quoted_text then return { value = quoted_text } end
  if tonumber(text) then return { value = tonumber(text) } end
  if LITERALS[text] then return LITERALS[text] end
  local names = frame_names(frame)
  local found = names[text]
  if not found and globals[text] ~= nil then found = { value = globals[text] } end
  return found and { value = found.value, name = text }
end

local function old_assign(reference, frame, name, value)
  if reference < 10000 then return true end
  if reference >= 20000 and reference < 30000 then
    globals[name] = value
    return true
  end
  local found = frame and frame_names(frame)[name]
  if not found then return false end
  if found.of then return setupvalue(found.of, found.slot, value) ~= nil end
  return set_frame_local(frame, found.slot, value) ~= nil
end

function Old.set(info)
  local name = tostring(info.varName)
  local frame = Stack.frame(info.stackId)
  local new = old_new_value(tostring(info.newValue), frame)
  if not new then return { success = "false", tip = "输入的值无意义" } end
  local kind, value = type(new.value), new.value
  if kind ~= "number" and kind ~= "boolean" and kind ~= "nil" then value = old_text(value) end
  if not old_assign(tonumber(info.varRef) or 0, frame, name, new.value) then
    return { success = "false", tip = "找不到要设置的变量", type = kind, value = value }
  end
  local reference = EXPANDS[kind] and tostring(old_reference(new.value)) or "0"
  return { success = "true", tip = "变量 " .. name .. " 赋值成功", name = new.name or name, type = kind, value = value, variablesReference = reference }
end

end

---------------------------------------------------------------------------------------------------
-- Values, as an extended session shows them
---------------------------------------------------------------------------------------------------

local New, new_rows, bounded, options_of, seconds_of
do

New = {}

-- Not through the middle of a letter.
local function cut_text(text, limit)
  local short = sub(text, 1, limit)
  for back = 0, 3 do
    if is_utf8(sub(short, 1, #short - back)) then return sub(short, 1, #short - back) end
  end
  return short
end

local function put_text(variable, text, limit)
  if #text > limit then
    variable.length = #text
    text = cut_text(text, limit)
  end
  if is_utf8(text) then
    variable.value = text
  else
    variable.value, variable.bytes = printable(text), base64(text)
  end
end

local function expands(value)
  local kind = type(value)
  if kind == "table" then return next(value) ~= nil or getmetatable(value) ~= nil end
  if kind == "function" then return getupvalue(value, 1) ~= nil end
  return kind == "userdata" and type(getmetatable(value)) == "table"
end

local function put_function(variable, value)
  local info = getinfo(value, "S")
  if info.what ~= "C" then variable["function"] = printable(Paths.of(info.source).file) .. ":" .. info.linedefined end
end

-- Within what a request may count in all; beyond that it is told how many there are at least.
local function put_count(answer, value, left)
  local count, beyond = field_count(value, left.keys)
  left.keys = left.keys - count
  answer[beyond and "least" or "count"] = count
end

New.put_count = put_count

local function put_children(variable, value, options)
  if options.parents[value] then
    variable.cycle = true
    return
  end
  if options.depth <= 1 or options.left.nodes <= 0 then return end
  options.parents[value] = true
  local inner = { depth = options.depth - 1, left = options.left, text = options.text, parents = options.parents }
  variable.children = new_rows(references[variable.reference], 0, options.left.nodes, inner)
  options.parents[value] = nil
end

function New.variable(name, value, options)
  local kind = type(value)
  local variable = { name = printable(name), type = kind, reference = 0 }
  options.left.nodes = options.left.nodes - 1
  local text, failed = value, nil
  if kind ~= "string" then text, failed = safe_text(value) end
  put_text(variable, text or kind, options.text)
  variable.failed = failed and printable(failed) or nil
  if kind == "function" then put_function(variable, value) end
  if kind == "table" then put_count(variable, value, options.left) end
  if expands(value) then
    variable.reference = keep({ value = value })
    put_children(variable, value, options)
  end
  return variable
end

local KEY_RANK = { number = 1, string = 2, boolean = 3 }

local function sorted_keys(value)
  local keys, place = {}, {}
  for key in next, value do
    keys[#keys + 1] = key
    place[key] = #keys
  end
  sort(keys, function(a, b)
    local rank_a, rank_b = KEY_RANK[type(a)] or 4, KEY_RANK[type(b)] or 4
    if rank_a ~= rank_b then return rank_a < rank_b end
    if rank_a <= 2 then return a < b end
    return place[a] < place[b]
  end)
  return keys
end

-- Small tables in order; great ones as they lie, or a page would cost a sort. The next page goes on where this one ends.
local function keys_of(kept, value, start, count)
  local total, beyond = field_count(value, LIMIT.sorted_keys)
  local page = {}
  if not beyond then
    local keys = sorted_keys(value)
    for position = start + 1, start + count do page[#page + 1] = keys[position] end
    return page, start + #page < total, total
  end
  local key, position = next(value), 0
  if kept.next_key ~= nil and kept.next_position <= start then key, position = kept.next_key, kept.next_position end
  while key ~= nil and #page < count do
    position = position + 1
    if position > start then page[#page + 1] = key end
    key = next(value, key)
  end
  kept.next_key, kept.next_position = key, position
  return page, key ~= nil, nil
end

local function key_name(key)
  if type(key) == "string" then return key end
  return "[" .. (safe_text(key) or type(key)) .. "]"
end

local function special_rows(value)
  local rows, meta = {}, getmetatable(value)
  if type(meta) ~= "table" then return rows end
  rows[1] = { name = "(metatable)", value = meta }
  if rawget(meta, "__pairs") ~= nil then rows[2] = { name = "(pairs)", pairs_of = value } end
  return rows
end

local function field_rows(kept, value, start, count)
  local keys, more, total = keys_of(kept, value, start, count)
  local rows = {}
  for place, key in ipairs(keys) do
    rows[place] = { name = key_name(key), key_type = type(key), value = rawget(value, key), position = start + place, key = key }
  end
  if not more then
    for _, row in ipairs(special_rows(value)) do rows[#rows + 1] = row end
  end
  return rows, more, total
end

local function paged(found, start, count)
  local rows = {}
  for place = start + 1, start + count do
    local item = found[place]
    if not item then break end
    rows[#rows + 1] = { name = item.name, value = item.value, position = item.position or item.slot, slot = item.slot }
  end
  return rows, start + #rows < #found, #found
end

local function collected_pairs(value, wanted)
  local found = {}
  for key, item in pairs(value) do
    found[#found + 1] = { name = key_name(key), value = item }
    if #found > wanted then break end
  end
  return found
end

local function pairs_rows(value, start, count)
  local ok, found = Guard.run(LIMIT.value_s, collected_pairs, value, start + count)
  if not ok then return { { name = "(pairs)", failed = error_text(found) } }, false end
  local rows, more = paged(found, start, count)
  return rows, more
end

local function position_from_start(found)
  for place, item in ipairs(found) do item.position = place end
  return found
end

local SCOPES = {
  locals = function(kept, start, count) return paged(Stack.locals(kept.frame), start, count) end,
  varargs = function(kept, start, count) return paged(position_from_start(Stack.varargs(kept.frame)), start, count) end,
  upvalues = function(kept, start, count) return paged(Stack.upvalues(kept.frame.func), start, count) end,
  globals = function(kept, start, count) return field_rows(kept, frame_globals(kept.frame, frame_names(kept.frame)), start, count) end,
}

local CHILDREN = {
  table = field_rows,
  userdata = function(_, value) return special_rows(value), false end,
  ["function"] = function(_, value, start, count) return paged(Stack.upvalues(value), start, count) end,
}

local function raw_rows(kept, start, count)
  if kept.scope then return SCOPES[kept.scope](kept, start, count) end
  if kept.pairs_of then return pairs_rows(kept.pairs_of, start, count) end
  return CHILDREN[type(kept.value)](kept, kept.value, start, count)
end

local function shown_row(row, options)
  if row.pairs_of then return { name = row.name, type = "pairs", value = "", reference = keep({ pairs_of = row.pairs_of }) } end
  if row.failed then return { name = row.name, type = "pairs", value = "", reference = 0, failed = printable(row.failed) } end
  local variable = New.variable(row.name, row.value, options)
  variable.keyType, variable.position = row.key_type, row.position
  return variable
end

function new_rows(kept, start, count, options)
  local rows, more, total = raw_rows(kept, start, count)
  local shown = {}
  kept.places = kept.places or {}
  for place, row in ipairs(rows) do
    if row.position then kept.places[row.position] = row end
    shown[place] = shown_row(row, options)
  end
  return shown, more, total
end

function bounded(value, least, most, default)
  value = tonumber(value) or default
  if value ~= value then value = default end
  return floor(value < least and least or value > most and most or value)
end

function options_of(info)
  local left = { nodes = bounded(info.budget, 1, 20000, 2000), keys = LIMIT.counted_keys }
  return { depth = bounded(info.depth, 1, 5, 1), left = left, text = bounded(info.text, 1, 16777216, 1024), parents = {} }
end

function seconds_of(info, default) return bounded(info.timeout, 1, 60000, default * 1000) / 1000 end

function New.assign(kept, row, value)
  if kept.scope == "locals" or kept.scope == "varargs" then return set_frame_local(kept.frame, row.slot, value) ~= nil end
  if kept.scope == "upvalues" then return setupvalue(kept.frame.func, row.slot, value) ~= nil end
  if kept.scope == "globals" then
    rawset(frame_globals(kept.frame, frame_names(kept.frame)), row.key, value)
    return true
  end
  if type(kept.value) == "function" then return setupvalue(kept.value, row.slot, value) ~= nil end
  rawset(kept.value, row.key, value)
  return true
end

end

---------------------------------------------------------------------------------------------------
-- Running: the hook, stepping, stopping
---------------------------------------------------------------------------------------------------

local Run, Watch, MAIN, threads, resting, main_thread, step, hook, call_hook, poll_hook, dispatch, poll
local current_thread, thread_name, apply, is_followed, set_step, halt, at_work
do

Run = { mode = "off", deaf = false, generation = 0, pace = 8, applied = setmetatable({}, { __mode = "k" }), last_tick = 0 }
MAIN = {}
Watch = { targets = {}, count = 0 } -- active: the data breakpoints, nil when there are none
local no_line = {}
local INSTRUCTIONS, LINES = 64, 8 -- between two looks at the clock, at the pace of 1
local lines_left = LINES
resting = setmetatable({}, { __mode = "k" }) -- threads in which calls are followed, and no lines
threads = setmetatable({}, { __mode = "k" }) -- coroutine -> what made it

function current_thread()
  local thread, is_main = running()
  if not thread or is_main then
    main_thread = thread
    return MAIN
  end
  return thread
end
current_thread()

function thread_name(thread) return thread == MAIN and "main" or tostring(thread) end

-- Compiled code calls no hooks. What the program itself has switched off stays off.
local compiler_stopped = false

function without_compiler()
  if not jit or not jit.status() then return end
  jit.off()
  jit.flush()
  compiler_stopped = true
end

local function follow_compiler()
  if Run.mode == "line" then
    without_compiler()
  elseif compiler_stopped then
    jit.on()
    compiler_stopped = false
  end
end

-- Never lines and counts together: after a count, Lua up to 5.3 compares the line with that of another function.
local HOOKS = {
  line = function() return Run.first_line and Run.first_line_hook or hook, Run.first_line and "cl" or "l", 0 end,
  call = function() return call_hook, "c", INSTRUCTIONS * Run.pace end,
  poll = function() return poll_hook, "", INSTRUCTIONS * Run.pace end,
  off = function() end,
}

local own_hooks = {}

-- Until somebody debugs, a hook of the program's own (a profiler, a limit) is left alone.
local function is_foreign(thread)
  if sock then return false end
  local found
  if thread then found = gethook(thread) else found = gethook() end
  return found ~= nil and not own_hooks[found]
end

function apply(thread, mode)
  if is_foreign(thread) then return end
  resting[thread or current_thread()] = mode == "call" or nil
  if thread then sethook(thread, HOOKS[mode or Run.mode]()) else sethook(HOOKS[mode or Run.mode]()) end
end

function restore_hook()
  apply()
  follow_compiler()
end

-- The original follows no coroutine of coroutine.wrap, where hooks belong to coroutines.
function is_followed(thread) return threads[thread] ~= "wrap" or session.extended or Run.mode == "off" end

local function wanted_mode()
  if sock then return (Breaks.exist() or step or Watch.active) and "line" or "poll" end
  return attach_wanted and host and jit and "poll" or "off"
end

function Run.refresh()
  local mode = wanted_mode()
  lines = (step or Watch.active) and any_line or Run.deaf and no_line or break_lines
  local rested = (step or Watch.active or Breaks.changed) and next(resting) ~= nil
  Breaks.changed = false
  if mode == Run.mode and not rested then return end
  Run.mode, Run.generation = mode, Run.generation + 1
  follow_compiler()
  apply()
  Run.applied[current_thread()] = Run.generation
  if jit then return end
  for thread in next, threads do
    if is_followed(thread) and status(thread) ~= "dead" then apply(thread) end
  end
  if main_thread and running() ~= main_thread then apply(main_thread) end
end

function set_step(kind)
  step = { kind = kind, since = gettime() }
  if stop then
    local here = frame_info(0, nil, "lf")
    step.thread, step.depth, step.func, step.line = stop.thread, Stack.level_count(), here.func, here.currentline
  end
  Run.refresh()
end

local LEAVES_CALL, step_is_done = {}, nil
do

local function left_behind(thread) return thread ~= MAIN and status(thread) ~= "normal" end

-- Over: a line of the same call, or of a caller. A function that is called next at the same depth is a sibling.
local function over_is_done(func)
  if frame_info(step.depth, nil, "l") then
    step.called = true
    return false
  end
  local same_depth = frame_info(step.depth - 1, nil, "l") ~= nil
  if same_depth and step.func and func ~= step.func then
    step.depth, step.func = step.depth - 1, nil
    return false
  end
  -- LuaJIT tells a line again after each call in it.
  local again = jit and step.called and same_depth and frame_info(0, nil, "l").currentline == step.line
  step.called = false
  return not again
end

local function out_is_done() return frame_info(step.depth - 1, nil, "l") == nil end

LEAVES_CALL.over, LEAVES_CALL.out = over_is_done, out_is_done

function step_is_done(func, source)
  if source == own_source then return false end
  if step.kind == "pause" then return true end
  if not Paths.of(source).stops then return false end
  local done = LEAVES_CALL[step.kind]
  if not done then return true end
  if stop.thread ~= step.thread then return left_behind(step.thread) end
  return done(func)
end

end

do

local STOP_COMMANDS = {
  entry = "stopOnEntry", breakpoint = "stopOnBreakpoint", data = "stopOnBreakpoint",
  over = "stopOnStep", ["in"] = "stopOnStepIn", out = "stopOnStepOut",
  code = "stopOnCodeBreakpoint", pause = "stopOnPause", exception = "stopOnException",
}
local REASONS = { over = "step", ["in"] = "step", out = "step" }

local function tell_stop(kind, detail)
  local entries, depth = Stack.entries(nil, 0, session.extended and LIMIT.frames_told or LIMIT.old_frames_told)
  local info = {}
  if session.extended then
    info = detail or {}
    info.reason, info.coroutine, info.memory, info.depth = REASONS[kind] or kind, thread_name(stop.thread), count_kib(), depth
  end
  this.sendMsg({ cmd = STOP_COMMANDS[kind], callbackId = 0, info = info, stack = entries })
end

local function is_silent()
  local interval = session.heartbeat or 0
  return interval > 0 and gettime() - last_heard > 3 * interval
end

local function patience() return session.heartbeat > 0 and session.heartbeat < 1 and session.heartbeat or 1 end

-- A loop, not a recursion: a stop may see any number of requests.
local function wait_for_orders()
  local asked = true
  while sock and not stop.resumed do
    if asked and not session.extended then Wire.memory() end
    local line, why = Wire.line(patience())
    asked = line ~= nil
    if line then
      dispatch(line)
    elseif why ~= "timeout" or is_silent() then
      leave_session()
    end
  end
end

function halt(kind, detail)
  step, stop.kind = nil, kind
  stop.source = Stack.source() -- now, since an expression that asks for it runs in another coroutine
  references = {}
  last_heard = gettime()
  tell_stop(kind, detail)
  wait_for_orders()
  Watch.read_again()
end

end

-- LuaJIT tells a line again after each call in it, which is no new arrival. To know, every line of a function that has
-- breakpoints is looked at. A function's first line may be a new call as well: until something else is called
-- from as far down, or another line is told, calls are followed too.
local is_told_again, forget_arrivals
do

local arrivals, first_lines, seen_with = {}, nil, nil

local function look_at_all_lines(func)
  local first = 1 / 0
  for line in next, getinfo(func, "L").activelines do
    break_lines[line] = true
    if line < first then first = line end
  end
  first_lines[func] = first
end

local function leave_from(depth)
  for deeper in next, arrivals do
    if deeper >= depth then arrivals[deeper] = nil end
  end
end

local function follow_calls(arrival)
  if Run.first_line == arrival then return end
  Run.first_line = arrival
  apply()
end

function forget_arrivals()
  arrivals = {}
  follow_calls(nil)
end

local function on_call()
  stop = { anchor = Run.first_line_hook, thread = current_thread() }
  local depth = Stack.level_count()
  if stop.thread == Run.first_line.thread and depth <= Run.first_line.depth then
    leave_from(depth)
    follow_calls(nil)
  end
end

function Run.first_line_hook(event, line)
  if event == "line" then return hook(event, line) end
  if busy or not Run.first_line then return end
  pcall(on_call)
  stop = nil
end

function is_told_again(func, line, nodes)
  if seen_with ~= break_lines then
    first_lines, seen_with = setmetatable({}, { __mode = "k" }), break_lines
    forget_arrivals()
  end
  if not first_lines[func] then look_at_all_lines(func) end
  local depth = Stack.level_count()
  local last, here = arrivals[depth], { func = func, line = line, thread = stop.thread, depth = depth }
  leave_from(depth)
  arrivals[depth] = here
  follow_calls(nodes[line] and line == first_lines[func] and here or nil)
  return last and last.func == func and last.line == line and last.thread == stop.thread
end

end

-- Data breakpoints. Lua has no watchpoints: values are compared at each line.
do

-- A call is known by its distance from the bottom of its stack. nil: it is over. false: not to be seen from here.
local function local_value(watch)
  if watch.thread ~= stop.thread then
    if watch.thread ~= MAIN and status(watch.thread) == "dead" then return nil end
    return false
  end
  local frame = { offset = Stack.level_count() - watch.depth }
  local info = frame.offset >= 0 and frame_info(frame.offset, nil, "f")
  if not info or info.func ~= watch.func then return nil end
  local name, value = Stack.value(frame, watch.slot)
  return name == watch.slot_name, value
end

local READ = {
  field = function(watch) return true, rawget(watch.of, watch.key) end,
  upvalue = function(watch) return true, select(2, getupvalue(watch.func, watch.slot)) end,
  ["local"] = local_value,
}

local function same(a, b) return rawequal(a, b) or a ~= a and b ~= b end

local function finish(place)
  local watch = remove(Watch.active, place)
  if #Watch.active == 0 then Watch.active = nil end
  Wire.notice("dataEnded", { data = watch.id })
end

-- To find a call costs some levels of its stack each time. Its own lines are compared, and those of its caller, where it is over.
local function is_near(watch, func) return func == watch.func or func == watch.caller end

local function changed_local(func)
  stop = { anchor = hook, thread = current_thread() }
  for place = #Watch.active, 1, -1 do
    local watch = Watch.active[place]
    if watch.kind == "local" and is_near(watch, func) then
      local alive, value = local_value(watch)
      if alive == nil then
        finish(place)
      elseif alive and not same(value, watch.value) then
        return watch, value
      end
    end
  end
end

-- What has changed, and its value; or whether a local may have.
local function first_change(func)
  local active, near = Watch.active, false
  for place = 1, #active do
    local watch = active[place]
    if watch.kind == "local" then
      near = near or is_near(watch, func)
    else
      local _, value = READ[watch.kind](watch)
      if not same(value, watch.value) then return watch, value end
    end
  end
  return near
end

local function on_change(watch, value)
  stop, Guard.spent = { anchor = hook, thread = current_thread() }, 0
  local old = watch.value
  watch.value, watch.stopped = value, Breaks.stops(watch)
  if not watch.stopped then return end
  local function shown(it) return printable(safe_text(it) or type(it)) end
  halt("data", { data = watch.id, name = watch.name, old = shown(old), new = shown(value), hits = watch.hits })
end

local function first_local(func)
  busy = true
  local ok, watch, value = pcall(changed_local, func)
  busy, stop = false, nil
  if not Watch.active then pcall(Run.refresh) end
  if ok then return watch, value end
end

-- Whether the program was stopped because of a change.
function Watch.look(func)
  local watch, value = first_change(func)
  if watch == true then watch, value = first_local(func) end
  if not watch then return false end
  at_work(on_change, watch, value)
  return watch.stopped
end

-- What the debugger itself has changed is no change of the program's.
function Watch.read_again()
  for _, watch in ipairs(Watch.active or {}) do
    local alive, value = READ[watch.kind](watch)
    if alive then watch.value = value end
  end
end

local function caller_of(frame)
  local offset, info = frame.offset, nil
  repeat
    offset = offset + 1
    info = frame_info(offset, frame.thread, "fS")
  until not info or info.what ~= "C"
  return info and info.func
end

local function local_target(frame, row)
  local thread = frame.thread and (frame.thread == main_thread and MAIN or frame.thread) or stop.thread
  local depth = Stack.level_count(frame.thread) - frame.offset
  local name = Stack.value(frame, row.slot)
  return { kind = "local", thread = thread, depth = depth, func = frame.func, caller = caller_of(frame), slot = row.slot, slot_name = name }
end

local function target_of(kept, row)
  if kept.scope == "locals" or kept.scope == "varargs" then return local_target(kept.frame, row) end
  if kept.scope == "upvalues" then return { kind = "upvalue", func = kept.frame.func, slot = row.slot } end
  if kept.scope == "globals" then return { kind = "field", of = frame_globals(kept.frame, frame_names(kept.frame)), key = row.key } end
  if type(kept.value) == "function" then return { kind = "upvalue", func = kept.value, slot = row.slot } end
  return { kind = "field", of = kept.value, key = row.key }
end

function Watch.add(kept, row)
  local target = target_of(kept, row)
  Watch.count = Watch.count + 1
  target.id, target.name, target.value = tostring(Watch.count), printable(row.name), row.value
  Watch.targets[target.id] = target
  return target
end

local function activated(raw)
  local target = Watch.targets[tostring(raw.id)]
  if not target then return nil end
  local watch = { hits = 0, told = {}, line = 0, condition = raw.condition ~= "" and raw.condition or nil }
  watch.hitCondition = raw.hitCondition ~= "" and raw.hitCondition or nil
  for name, value in next, target do watch[name] = value end
  return watch
end

function Watch.set(list)
  local active, report = {}, {}
  for place, raw in ipairs(list) do
    local watch = type(raw) == "table" and activated(raw)
    report[place] = { id = type(raw) == "table" and raw.id or Json.null, verified = watch ~= nil and watch ~= false }
    if watch then active[#active + 1] = watch else report[place].message = "nothing is watched under this id" end
  end
  Watch.active = #active > 0 and active or nil
  if stop then Watch.read_again() end
  return report
end

end

local function on_line(func, line, nodes)
  stop, Guard.spent = { anchor = hook, thread = current_thread() }, 0
  local node = nodes and nodes[line]
  if jit and session.extended and nodes and is_told_again(func, line, nodes) then node = nil end
  if node and Breaks.stops(node) then
    halt("breakpoint", { hits = node.hits })
  elseif step and step_is_done(func, getinfo(func, "S").source) then
    halt(step.kind)
  end
end

function at_work(action, ...)
  busy = true
  local ok, why = pcall(action, ...)
  if not ok then pcall(Wire.log, "the debugger failed: " .. tostring(why)) end
  stop, references = nil, {}
  pcall(Run.refresh)
  busy = false
end

-- As seldom as the poll needs, whatever the program does between two lines.
local function adapt(now)
  local since = now - Run.last_tick
  Run.last_tick = now
  local pace, thread = Run.pace, current_thread()
  if since > LIMIT.poll_s then
    pace = 1
  elseif since < LIMIT.poll_s / 20 and pace < 64 then
    pace = pace * 2
  end
  local changed, rests = pace ~= Run.pace, resting[thread]
  Run.pace = pace
  if Run.applied[thread] ~= Run.generation then
    Run.applied[thread] = Run.generation
    apply()
  elseif changed and (rests or Run.mode ~= "line") then
    apply(nil, rests and "call")
  end
end

-- What was sent for the stop that comes with the next line is not read before it.
local function stops_at_once(now) return step ~= nil and not LEAVES_CALL[step.kind] and now - step.since < 0.2 end

function Run.look(now)
  if busy or now < next_poll or stops_at_once(now) then return end
  next_poll = now + LIMIT.poll_s
  at_work(poll)
end

local function tick()
  local now = gettime()
  adapt(now)
  Run.look(now)
end

local function arrive(line)
  if busy then return end
  local func = getinfo(3, "f").func
  if Watch.active and Watch.look(func) then return end
  local ok, nodes = pcall(Breaks.of, func)
  nodes = ok and nodes
  if step or nodes and (nodes[line] or jit) then at_work(on_line, func, line, nodes) end
end

local collisions, beat_of_lines = 0, nil
do

-- Where no call of this thread's stack is of a function with a breakpoint, none can be reached but by another call: lines
-- may rest then, and calls alone are followed. That pays where lines are many, or collide with breakpoints of other files.
-- A call costs as much as the lines of some instructions (but for LuaJIT, the hook's own are counted too).
local REST_LEVELS, AWAKE_BEATS, DENSE = 100, 64, jit and 12 or 22
local calls, awake_beats = 0, 0

-- On LuaJIT one hook is everybody's, and on 5.1 no coroutine can wake the main program.
local function is_alone(thread)
  if jit or is_51 and thread == MAIN then return thread == MAIN and not Run.has_coroutines end
  return true
end

local function may_rest()
  if step or Watch.active or Run.mode ~= "line" or not is_alone(current_thread()) then return false end
  for level = 1, REST_LEVELS do
    local info = getinfo(level, "f")
    if not info then return true end
    if info.func and Breaks.of(info.func) then return false end
  end
  return false
end

function beat_of_lines()
  local collided = collisions * 4 > LINES * Run.pace
  lines_left, collisions, awake_beats = LINES * Run.pace, 0, awake_beats - 1
  if busy then return end
  tick()
  if collided then awake_beats = -1 end
  if awake_beats >= 0 then return end
  awake_beats = AWAKE_BEATS
  if select(2, pcall(may_rest)) == true then
    calls = collided and -1 / 0 or 0
    forget_arrivals()
    apply(nil, "call")
  end
end

local function beat_of_calls()
  local dense = calls * DENSE > INSTRUCTIONS * Run.pace
  if calls > 0 then calls = 0 end
  if busy then return end
  tick()
  if dense and resting[current_thread()] then
    awake_beats = AWAKE_BEATS
    apply()
  end
end

-- LuaJIT: a coroutine that was made before this file was loaded may go on within any C function but the library's.
local harmless = {}
local BASE = "assert collectgarbage dofile error getfenv getmetatable ipairs load loadfile loadstring next pairs pcall print "
  .. "rawequal rawget rawset require select setfenv setmetatable tonumber tostring type unpack xpcall"
for name in gmatch(BASE, "%a+") do harmless[optional(name) or name] = true end
for _, library in next, { string, table, math, os, io, optional("bit") } do
  for _, value in next, library do harmless[value] = true end
end

local function enter()
  local info = getinfo(3, "fS")
  local strange = jit and info.what == "C" and not harmless[info.func]
  local ok, nodes = pcall(Breaks.of, info.func)
  if strange or not ok or nodes then apply() end
end

function call_hook(event)
  if event == "count" then return beat_of_calls() end
  calls = calls + 1
  if of_function[getinfo(2, "f").func] ~= false then enter() end
end

end

-- For every line of the program: hence one look into a table, and for a line that some file has a breakpoint on, no more
-- than it takes to see that this function has none. On one line, because Lua looks for new lines in its hooks as well.
function hook(_, line) if lines[line] then if step or Watch.active or of_function[getinfo(2, "f").func] ~= false then arrive(line) else collisions = collisions + 1 end end local left = lines_left if left > 0 then lines_left = left - 1 return end beat_of_lines() end

function poll_hook()
  if not busy then tick() end
end

for _, own in next, { hook, call_hook, poll_hook, Run.first_line_hook } do own_hooks[own] = true end

end

---------------------------------------------------------------------------------------------------
-- Coroutines: hooks belong to one each, except on LuaJIT
---------------------------------------------------------------------------------------------------

local function adopt(thread, maker)
  threads[thread] = maker
  if jit then return end
  if Guard.deadline then
    sethook(thread, guard_hook, "", 1000)
  elseif Run.mode ~= "off" and is_followed(thread) then
    apply(thread)
  end
end

local function wake_main()
  Run.has_coroutines = true
  if is_51 and resting[MAIN] and current_thread() == MAIN then apply() end
end

local function followed_create(body)
  wake_main()
  local thread = create(body)
  adopt(thread, "create")
  return thread
end

-- Within the coroutine, so that wrap itself stays what it is.
local function followed_wrap(body)
  if type(body) ~= "function" then return wrap(body) end
  wake_main()
  return wrap(function(...)
    adopt(running(), "wrap")
    return body(...)
  end)
end

function this.replaceCoroutineFuncs()
  coroutine.create, coroutine.wrap = followed_create, followed_wrap
end
this.replaceCoroutineFuncs()

---------------------------------------------------------------------------------------------------
-- Errors of the program
---------------------------------------------------------------------------------------------------

local Errors, run_main
do

Errors = { filter = "none" }
local call_for_host

-- Whether something waits for an error that is raised here.
local function is_caught()
  local level = 2
  while true do
    local info = getinfo(level, "f")
    if not info then break end
    if info.func == pcall or info.func == xpcall then
      local below = getinfo(level + 1, "f")
      return not (below and (below.func == run_main or below.func == call_for_host))
    end
    level = level + 1
  end
  local thread = current_thread()
  return thread ~= MAIN and threads[thread] ~= "wrap"
end

local function text_of_error(value)
  if type(value) == "string" then return value end
  return error_text(value)
end

local function tell_error(anchor, value, uncaught)
  stop = { anchor = anchor, thread = current_thread() }
  local trace = traceback("", base_level())
  halt("exception", { text = printable(text_of_error(value)), traceback = printable((gsub(trace, "^\n", ""))), uncaught = uncaught })
end

local function on_error(anchor, value, uncaught)
  if busy or not sock or not session.extended or Errors.filter == "none" then return end
  if Errors.filter == "uncaught" and not uncaught then return end
  Errors.told = uncaught
  at_work(tell_error, anchor, value, uncaught)
end

local function followed_error(message, level)
  if Errors.filter ~= "none" and not busy then on_error(Errors.error, message, not is_caught()) end
  level = tonumber(level) or 1
  error(message, level > 0 and level + 1 or 0)
end

local function followed_assert(...)
  if not (...) and Errors.filter ~= "none" and not busy then
    local message = select("#", ...) > 1 and select(2, ...) or "assertion failed!"
    on_error(Errors.assert, message, not is_caught())
    assert(...) -- no tail call, for it must be seen who raised this
  end
  return assert(...)
end
Errors.error, Errors.assert = followed_error, followed_assert

-- An overflow leaves little stack, and none to stop on.
local function is_overflow(value) return type(value) == "string" and find(value, "stack overflow", 1, true) ~= nil end

-- error and assert have stopped before they raised.
local function is_told()
  for level = 3, 5 do
    local info = getinfo(level, "f")
    if info and (info.func == followed_error or info.func == followed_assert) then return true end
  end
  return false
end

local function on_caught(value)
  if not is_overflow(value) and not is_told() then on_error(Errors.caught, value, false) end
  return value
end
Errors.caught = on_caught

-- What the language itself raises is seen only by a message handler: so pcall becomes an xpcall while that is wanted.
local function followed_pcall(body, ...)
  if Errors.filter ~= "all" or busy then return pcall(body, ...) end
  if not is_51 or jit then return xpcall(body, on_caught, ...) end
  local arguments = pack(...)
  return xpcall(function() return body(unpack(arguments, 1, arguments.n)) end, on_caught)
end

local function followed_xpcall(body, handler, ...)
  if Errors.filter ~= "all" or busy then return xpcall(body, handler, ...) end
  local function told(value)
    if not is_overflow(value) and not is_told() then on_error(told, value, false) end
    return handler(value)
  end
  return xpcall(body, told, ...)
end

local function is_c(value) return type(value) == "function" and getinfo(value, "S").what == "C" end

local function handled_by(original)
  local function handler(value)
    if not Errors.told and not is_overflow(value) then on_error(Errors.interpreter, value, true) end
    if type(value) == "string" then return (traceback(value, 2)) end
    return original(value)
  end
  Errors.interpreter = handler
  return handler
end

-- The stand-alone interpreter keeps its message handler in the lowest frame, the last C function there, and looks for it
-- only when an error has reached it, with the stack as it was: so ours may stand there.
local function replace_handler()
  if Errors.interpreter or current_thread() ~= MAIN then return end
  local level, slot, original, place = 1, nil, nil, 1
  while getinfo(level + 1, "l") and level < LIMIT.frames_told do level = level + 1 end
  local name, value = getlocal(level, place)
  while name and getinfo(level, "S").what == "C" do
    if is_c(value) then slot, original = place, value end
    place = place + 1
    name, value = getlocal(level, place)
  end
  if slot then setlocal(level, slot, handled_by(original)) end
end

function Errors.set(filter)
  Errors.filter, Errors.told = filter, false
  if filter == "none" then return end
  replace_handler()
  if globals.error == error then globals.error = followed_error end
  if globals.assert == assert then globals.assert = followed_assert end
  if filter == "all" and globals.pcall == pcall then globals.pcall = followed_pcall end
  if filter == "all" and globals.xpcall == xpcall then globals.xpcall = followed_xpcall end
end

-- What error and assert have told of already comes here next.
local function on_main_error(value)
  if not Errors.told then on_error(Errors.handler, value, true) end
  local text = type(value) == "string" and value or error_text(value)
  return traceback(text, 2)
end
Errors.handler = on_main_error

-- No tail call: is_caught looks for this function below xpcall.
function run_main(chunk, arguments)
  local ok, text = xpcall(function() return chunk(unpack(arguments, 1, arguments.n)) end, on_main_error)
  return ok, text
end

local function on_host_error(value)
  if not is_overflow(value) and not is_told() then on_error(Errors.host, value, true) end
  return value
end
Errors.host = on_host_error

local function results_of(ok, ...)
  if not ok then error((...), 0) end
  return ...
end

-- For hosts, which call Lua by their own means: an error that leaves the function stops where it is raised, and then leaves it.
function call_for_host(body, ...)
  if Errors.filter == "none" or busy then return body(...) end
  local arguments = pack(...)
  return results_of(xpcall(function() return body(unpack(arguments, 1, arguments.n)) end, on_host_error))
end
this.call = call_for_host

end

---------------------------------------------------------------------------------------------------
-- Commands
---------------------------------------------------------------------------------------------------

local drain, no_settings
do

local Commands = {}

local function is_true(value) return value == "true" end

local function settings_of(info)
  local extended = tostring(info.dragoman or "") == EXTENSION
  return {
    extended = extended, entry = is_true(info.stopOnEntry), entry_text = tostring(info.stopOnEntry), cwd = tostring(info.cwd or ""),
    extension = tostring(info.luaFileExtension or ""), encodes = is_true(info.isNeedB64EncodeStr) and not extended,
    encodes_text = tostring(is_true(info.isNeedB64EncodeStr)), ignores_case = not is_true(info.pathCaseSensitivity),
    names_only = is_true(info.autoPathMode), tells_apart = is_true(info.distinguishSameNameFile), truncated = tostring(info.truncatedOPath or ""),
    windows = (info.OSType or "Windows_NT") == "Windows_NT", os = tostring(info.OSType or "Windows_NT"), adapter = tostring(info.adapterVersion or ""),
    log_level = tonumber(info.logLevel) or 1, clib = tostring(info.clibPath or ""),
    heartbeat = extended and bounded((tonumber(info.heartbeat) or 0) * 1000, 0, 3600000, 0) / 1000 or 0,
    c_hook = tostring(info.useCHook == true or is_true(info.useCHook)),
  }
end

function no_settings() return settings_of({ pathCaseSensitivity = "true", OSType = "Linux" }) end
session = no_settings()

local FILTERS = { none = true, uncaught = true, all = true }

local function process_id()
  local ok, text = pcall(function()
    local file = io.open("/proc/self/stat", "r")
    local line = file and file:read("*l")
    if file then file:close() end
    return line
  end)
  return ok and text and tonumber(match(text, "^%d+")) or Json.null
end

local state_name = match(tostring({}), "0x%x+") or tostring(os_time())

local function greeting()
  local info = { debuggerVer = VERSION, UseHookLib = "0", UseLoadstring = "1", isNeedB64EncodeStr = session.encodes_text }
  if session.extended then
    info.dragoman, info.lua, info.jit = EXTENSION, _VERSION, jit and jit.version or ""
    info.state, info.pid, info.features = state_name, process_id(), { "data", "caught" }
  end
  return info
end

function drain()
  while sock do
    local line, why = Wire.line(0)
    if not line then
      if why ~= "timeout" then leave_session() end
      return
    end
    dispatch(line)
  end
end

function Commands.initSuccess(info)
  session = settings_of(info)
  Paths.cache = {}
  rebuild_lines()
  Errors.set(session.extended and FILTERS[info.exceptions] and info.exceptions or "none")
  Wire.answer("initSuccess", greeting())
  if not session.entry then
    local line = Wire.line(LIMIT.first_message_s)
    if line then dispatch(line) end
  end
  Wire.log("debugger init success")
  if session.entry then set_step("entry") else drain() end
end

local function is_loaded(found, path) return found[key_of(folded(path))] end

local known_sources

local function breakpoint_report(path, nodes)
  local known = is_loaded(known_sources(), path)
  local list = {}
  for line in next, nodes do
    list[#list + 1] = { line = line, known = known ~= nil, verified = known and known.lines[line] or Json.null }
  end
  return { breakpoints = list }
end

function Commands.setBreakPoint(info)
  local path = tostring(info.path or "")
  local nodes = Breaks.set(path, info.bks)
  Run.refresh()
  Wire.answer("setBreakPoint", session.extended and breakpoint_report(path, nodes) or {})
end

local function going_on(cmd, kind)
  return function()
    Wire.answer(cmd)
    if kind and stop.kind ~= "exception" then set_step(kind) end
    stop.resumed = true
  end
end

Commands["continue"] = going_on("continue")
Commands.stopOnStep = going_on("stopOnStep", "over")
Commands.stopOnStepIn = going_on("stopOnStepIn", "in")
Commands.stopOnStepOut = going_on("stopOnStepOut", "out")

function Commands.getVariable(info) Wire.answer("getVariable", Old.variables(tonumber(info.varRef) or 0, info.stackId)) end

function Commands.setVariable(info) Wire.answer("setVariable", Old.set(info)) end

function Commands.getWatchedVariable(info) Wire.answer("getWatchedVariable", Old.watch(tostring(info.varName), info.stackId)) end

function Commands.runREPLExpression(info) Wire.answer("runREPLExpression", Old.repl(tostring(info.Expression), info.stackId)) end

function Commands.LuaGarbageCollect()
  collectgarbage("collect")
  Wire.memory()
  if session.extended and callback_id ~= "0" and callback_id ~= "" then Wire.answer("LuaGarbageCollect") end
end

function Commands.stopRun(info)
  Wire.answer("stopRun")
  if session.extended and info.attach == "false" then attach_wanted = false end
  leave_session()
end

local Extended = {}

function Extended.pause()
  Wire.answer("pause")
  if not stop then set_step("pause") end
end

function Extended.heartbeat() Wire.answer("heartbeat") end

function Extended.setExceptions(info)
  if not FILTERS[info.filter] then return Wire.refuse("setExceptions", "bad_request", "no such filter") end
  Errors.set(info.filter)
  Wire.answer("setExceptions")
end

-- The coroutine that a request means: nil is the one that stopped.
local function thread_of(id)
  if id == nil or id == thread_name(stop.thread) then return nil, true end
  if id == "main" then return main_thread, main_thread ~= nil end
  for thread in next, threads do
    if tostring(thread) == id then return thread, true end
  end
  return nil, false
end

function Extended.stack(info)
  local thread, found = thread_of(info.coroutine)
  if not found then return Wire.refuse("stack", "bad_request", "no such coroutine") end
  local frames, depth = Stack.entries(thread, bounded(info.start, 0, 1e9, 0), bounded(info.count, 1, 1000, 100))
  Wire.answer("stack", { frames = frames, depth = depth })
end

local function coroutine_entry(thread, name, state)
  local entry = { id = name, status = state, current = name == thread_name(stop.thread) }
  local top = Stack.entries(not entry.current and thread or nil, 0, 1)[1]
  if top then entry.file, entry.line, entry["function"] = top.file, tonumber(top.line), top["function"] end
  return entry
end

function Extended.coroutines()
  local list = {}
  if stop.thread == MAIN or main_thread then
    list[1] = coroutine_entry(main_thread, "main", stop.thread == MAIN and "running" or "normal")
  end
  if stop.thread ~= MAIN and not threads[stop.thread] then
    list[#list + 1] = coroutine_entry(stop.thread, tostring(stop.thread), "running")
  end
  for thread in next, threads do
    if status(thread) ~= "dead" then list[#list + 1] = coroutine_entry(thread, tostring(thread), status(thread)) end
  end
  Wire.answer("coroutines", { coroutines = list })
end

-- The frame that a request means; false where there is none.
local function frame_of(cmd, info)
  local thread, found = thread_of(info.coroutine)
  local frame = found and Stack.frame(info.frame, thread)
  if not frame then Wire.refuse(cmd, "no_such_frame", "there is no frame " .. tostring(info.frame or 2)) end
  return frame
end

function Extended.scopes(info)
  local frame = frame_of("scopes", info)
  if not frame then return end
  local counts = { locals = #Stack.locals(frame), varargs = #Stack.varargs(frame), upvalues = #Stack.upvalues(frame.func) }
  local list = {}
  for _, name in ipairs({ "locals", "varargs", "upvalues", "globals" }) do
    local count = counts[name] or field_count(frame_globals(frame, frame_names(frame)), LIMIT.counted_keys)
    list[#list + 1] = { name = name, reference = keep({ scope = name, frame = frame }), count = count }
  end
  Wire.answer("scopes", { scopes = list })
end

function Extended.variables(info)
  local kept = references[tonumber(info.reference) or 0]
  if not kept then return Wire.refuse("variables", "no_such_reference", "references live until the program goes on") end
  local options = options_of(info)
  if kept.value ~= nil then options.parents[kept.value] = true end
  local rows, more, total = new_rows(kept, bounded(info.start, 0, 1e9, 0), bounded(info.count, 1, 10000, 100), options)
  local answer = { variables = rows, more = more, count = total }
  if not total and type(kept.value) == "table" then New.put_count(answer, kept.value, options.left) end
  Wire.answer("variables", answer)
end

-- The packed results of an expression, or nil after a refusal.
local function evaluated(cmd, info, frame)
  local expression, why = Expression.compile(tostring(info.expression))
  if not expression then return Wire.refuse(cmd, "failed", why) and nil end
  local arguments = frame and Stack.varargs(frame) or {}
  local values = { n = #arguments }
  for place, found in ipairs(arguments) do values[place] = found.value end
  local results = Expression.run(expression, frame, within(seconds_of(info, LIMIT.evaluate_s)), values)
  if results[1] then return results end
  Wire.refuse(cmd, results[2] == TIMED_OUT and "timed_out" or "failed", error_text(results[2]))
end

function Extended.evaluate(info)
  local frame
  if stop then
    frame = frame_of("evaluate", info)
    if not frame then return end
  end
  local results = evaluated("evaluate", info, frame)
  if not results then return end
  local options, shown = options_of(info), {}
  for place = 2, results.n do shown[place - 1] = New.variable(tostring(place - 1), results[place], options) end
  Wire.answer("evaluate", { results = shown })
end

-- What a reference keeps, and the row of it that has a position; nil after a refusal.
local function row_of(cmd, info)
  local kept = references[tonumber(info.reference) or 0]
  if not kept or kept.pairs_of then return Wire.refuse(cmd, "no_such_reference", "references live until the program goes on") and nil end
  local position = tonumber(info.position) or 0
  if not (kept.places and kept.places[position]) then new_rows(kept, position > 0 and position - 1 or 0, 100, options_of({})) end
  local row = kept.places and kept.places[position]
  if not row then return Wire.refuse(cmd, "no_such_variable", "no variable of that reference has this position") and nil end
  return kept, row
end

function Extended.assign(info)
  local kept, row = row_of("assign", info)
  local frame = row and frame_of("assign", { frame = info.frame })
  local results = frame and evaluated("assign", info, frame)
  if not results then return end
  if not New.assign(kept, row, results[2]) then return Wire.refuse("assign", "no_such_variable", "it is gone") end
  local shown = New.variable(row.name, results[2], options_of(info))
  shown.position, shown.keyType = row.position, row.key_type
  Wire.answer("assign", shown)
end

function Extended.watchable(info)
  local kept, row = row_of("watchable", info)
  if not row then return end
  local target = Watch.add(kept, row)
  Wire.answer("watchable", { data = target.id, name = target.name, kind = target.kind })
end

function Extended.setDataBreakpoints(info)
  if type(info.data) ~= "table" then return Wire.refuse("setDataBreakpoints", "bad_request", "data is no list") end
  local report = Watch.set(info.data)
  Run.refresh()
  Wire.answer("setDataBreakpoints", { breakpoints = report })
end

-- Every Lua function that can be reached, within bounds, by the file it is from.
local function visit_function(func, found, push)
  local info = getinfo(func, "SL")
  for _, up in ipairs(Stack.upvalues(func)) do push(up.value) end
  if info.what == "C" or not has_file(info.source) or next(info.activelines or {}) == nil then return end
  local path = Paths.of(info.source)
  local entry = found[path.file] or { source = info.source, file = path.file, oPath = path.opath, lines = {} }
  found[path.file] = entry
  for line in next, info.activelines do entry.lines[line] = true end
end

local function visit_table(value, push)
  for key, field in next, value do
    push(key)
    push(field)
  end
  local meta = getmetatable(value)
  if meta then push(meta) end
end

local function roots(push)
  push(globals)
  push(package.loaded)
  if not stop then return end
  local offset = 0
  while true do
    local info = frame_info(offset, nil, "f")
    if not info then return end
    push(info.func)
    for _, each in ipairs(Stack.locals({ offset = offset, func = info.func })) do push(each.value) end
    offset = offset + 1
  end
end

local function scanned_sources()
  local found, seen, queue = {}, { [this] = true }, {}
  local function push(value)
    local kind = type(value)
    if (kind == "table" or kind == "function") and not seen[value] and #queue < LIMIT.scanned_objects then
      seen[value] = true
      queue[#queue + 1] = value
    end
  end
  roots(push)
  local place = 1
  while place <= #queue do
    local value = queue[place]
    if type(value) == "function" then visit_function(value, found, push) else visit_table(value, push) end
    place = place + 1
  end
  return found
end

local scan, scanned_at = nil, 0

function known_sources()
  if not scan or gettime() - scanned_at > 1 then
    scan, scanned_at = scanned_sources(), gettime()
  end
  return scan
end

function Extended.sources(info)
  local list, limit = {}, bounded(info.limit, 1, 10000, 1000)
  scan = nil
  for _, entry in next, known_sources() do
    if #list >= limit then break end
    local numbers = {}
    for line in next, entry.lines do numbers[#numbers + 1] = line end
    sort(numbers)
    list[#list + 1] = { source = printable(entry.source), file = entry.file, oPath = entry.oPath, lines = numbers }
  end
  Wire.answer("sources", { sources = list })
end

local STOPPED_ONLY = {
  ["continue"] = true, stopOnStep = true, stopOnStepIn = true, stopOnStepOut = true, getVariable = true, setVariable = true,
  stack = true, coroutines = true, scopes = true, variables = true, assign = true, watchable = true,
}

local function extended_command(cmd, info)
  local command = Extended[cmd] or Commands[cmd]
  if not command then return Wire.refuse(cmd, "unknown_command", "this runtime does not know " .. cmd) end
  if STOPPED_ONLY[cmd] and not stop then return Wire.refuse(cmd, "not_stopped", "the program is running") end
  local ok, why = pcall(command, info)
  if not ok then Wire.refuse(cmd, "bad_request", why) end
end

-- What the original does with a command that it does not know, or cannot follow now: nothing, and a stop ends. It then
-- passes breakpoints over, here until it is spoken to again.
local function old_command(cmd, info)
  local command = Commands[cmd]
  Run.deaf = false
  if command and (stop or not STOPPED_ONLY[cmd]) then
    local ok, why = pcall(command, info)
    if not ok then Wire.log(why) end
  elseif stop then
    if stop.kind == "entry" then set_step("entry") else Run.deaf = true end
    stop.resumed = true
  end
end

local function understood(line)
  local text = match(line, "^%s*(.-)%s*$")
  if sub(text, -3) == "|*|" then text = sub(text, 1, -4) end
  local message, why = Json.decode(text, session.extended)
  if type(message) ~= "table" or type(message.cmd) ~= "string" then return nil, message == nil and why or "no command" end
  return message
end

function dispatch(line)
  local message, why = understood(line)
  if not message then return Wire.log("a line was not understood: " .. tostring(why)) end
  Wire.keep_id(message.callbackId)
  Guard.spent = 0
  local info = type(message.info) == "table" and message.info or {}
  if session.extended and message.cmd ~= "initSuccess" then return extended_command(message.cmd, info) end
  return old_command(message.cmd, info)
end

end

---------------------------------------------------------------------------------------------------
-- Connecting
---------------------------------------------------------------------------------------------------

do

local Link = {}

function leave_session()
  local old = sock
  sock, partial = nil, ""
  if old then pcall(old.close, old) end
  if stop then stop.resumed = true end
  step, session, Run.deaf = nil, no_settings(), false
  Paths.cache = {}
  Errors.set("none")
  Breaks.clear()
  Watch.targets, Watch.active = {}, nil
  last_attempt = gettime()
  if handed_over then attach_wanted = false end
  Run.refresh()
  Link.wait()
end

local function joined(new)
  sock, partial, last_heard = new, "", gettime()
  pcall(new.setoption, new, "tcp-nodelay", true)
  pcall(new.setoption, new, "keepalive", true)
  local line, why = Wire.line(LIMIT.handshake_s)
  if line then
    dispatch(line)
  elseif why ~= "timeout" then
    leave_session()
  end
  Run.refresh()
end

local function connected(timeout)
  local new = libraries().tcp()
  new:settimeout(timeout)
  if new:connect(host, port) then return new end
  new:close()
end

local function listening()
  local new = libraries().tcp()
  new:setoption("reuseaddr", true)
  if new:bind(host, port) and new:listen(1) then return new end
  new:close()
end

local function accepted(timeout)
  server = server or listening()
  if not server then return nil end
  server:settimeout(timeout)
  return (server:accept())
end

function Link.attempt(connect_s, accept_s)
  last_attempt = gettime()
  local new
  if as_server then new = accepted(accept_s) else new = connected(connect_s) end
  if new then joined(new) end
  return new ~= nil
end

local function beat()
  if session.heartbeat > 0 and gettime() >= next_beat then
    next_beat = gettime() + session.heartbeat
    Wire.notice("heartbeat", { memory = count_kib(), running = true })
  end
end

function poll()
  if sock then
    drain()
    return sock and beat()
  end
  if attach_wanted and host and gettime() - last_attempt >= LIMIT.attach_s then Link.attempt(LIMIT.connect_again_s, 0) end
end

-- Hooks see neither compiled code nor a program that sleeps, and while nobody listens every instruction would pay for
-- them, but on LuaJIT: a few slow functions give the beat as well, and the garbage collector.
local ticking, pulsing = false, false

local function is_waiting() return attach_wanted and host ~= nil and sock == nil end

local function with_pulse(holder, name)
  local original = holder[name]
  if type(original) ~= "function" then return end
  holder[name] = function(...)
    if not busy and (sock or is_waiting()) then Run.look(gettime()) end
    return original(...)
  end
end

local function install_pulse()
  if pulsing then return end
  pulsing = true
  with_pulse(os, "time")
  with_pulse(os, "clock")
  with_pulse(libraries(), "sleep")
  with_pulse(libraries(), "select")
end

local function once()
  sethook()
  Run.look(gettime())
  if Run.mode ~= "off" then apply() end
end

-- Not within the collector: its finalizer only asks for the next instruction.
local function arm_ticker()
  local function on_collection()
    if not is_waiting() then
      ticking = false
      return
    end
    if not gethook() and gettime() - last_attempt >= LIMIT.attach_s then sethook(once, "", 1) end
    arm_ticker()
  end
  if newproxy then
    getmetatable(newproxy(true)).__gc = on_collection
  else
    setmetatable({}, { __gc = on_collection })
  end
end

function Link.wait()
  if not is_waiting() then return end
  install_pulse()
  if not ticking and not jit then
    ticking = true
    arm_ticker()
  end
end

local function begin(new_host, new_port, serves)
  if sock then return complain("the debugger is already started") end
  if not libraries() then return complain("luasocket was not found: the program runs without a debugger") end
  host, port, as_server, attach_wanted = new_host, new_port, serves, true
  install_pulse()
  at_work(Link.attempt, LIMIT.connect_first_s, LIMIT.accept_s)
  Link.wait()
end

function this.start(new_host, new_port) begin(tostring(new_host or "127.0.0.1"), tonumber(new_port) or 8818, false) end

function this.startServer(new_host, new_port) begin(tostring(new_host or "0.0.0.0"), tonumber(new_port) or 8818, true) end

-- A connected socket of the host's own: send, receive, settimeout and close as luasocket has them.
function this.startWith(object)
  libraries()
  handed_over = true
  at_work(joined, object)
end

-- 1 when there is a connection, 0 when there is none yet.
function this.reConnect()
  if not sock and host and gettime() - last_attempt >= LIMIT.attach_s then at_work(Link.attempt, LIMIT.connect_again_s, 0) end
  return sock and 1 or 0
end

function this.disconnect()
  if sock then at_work(leave_session) end
end

function this.stopAttach()
  attach_wanted = false
  at_work(leave_session)
  if server then pcall(server.close, server) end
  server = nil
end

end

---------------------------------------------------------------------------------------------------
-- What programs call
---------------------------------------------------------------------------------------------------

do

function this.BP()
  if not sock then return end
  if not jit and current_thread() ~= MAIN then threads[current_thread()] = threads[current_thread()] or "create" end
  set_step("code")
  apply()
  return true
end

function this.getBreaks()
  local all = {}
  for _, files in next, Breaks.by_key do
    for path, nodes in next, files do
      local list = {}
      for _, node in next, nodes do list[#list + 1] = { line = node.line, type = node.type, condition = node.condition, logMessage = node.logMessage } end
      sort(list, function(a, b) return a.line < b.line end)
      all[path] = list
    end
  end
  return all
end

-- The folder that relative chunk names belong to.
function this.changePath(path)
  session.cwd = tostring(path or "")
  Paths.cache = {}
  rebuild_lines()
  Run.refresh()
end

local function breakpoint_in(file)
  for path in next, this.getBreaks() do
    if match(key_of(path), "[^/]*$") == match(file, "[^/]*$") then return path end
  end
end

local function breakpoint_test()
  local source = stop and stop.source
  local out = { "\n- BreakPoint Test:", "\nUser set lua extension:   .", session.extension, "\nAuto get lua extension:   ", Paths.extension }
  if not source then return concat(out) end
  local path = Paths.of(source)
  out[#out + 1] = "\nGetInfo:    " .. source .. "\nNormalized: " .. path.opath .. "\nFormated:   " .. path.file
  out[#out + 1] = "\nBreakpoint: " .. (breakpoint_in(path.file) or "")
  out[#out + 1] = "\n说明:从lua虚拟机获取到的是绝对路径，Formated使用GetInfo路径。"
  return concat(out)
end

function this.getBaseInfo()
  local ver = _VERSION .. (jit and "," .. jit.version or "")
  return "Lua Ver:" .. ver .. " | Adapter Ver:" .. session.adapter .. " | Debugger Ver:" .. VERSION .. " | supportREPL:true | useBase64EncodeString:"
    .. session.encodes_text .. " | codeEnv:" .. session.os .. " | distinguishSameNameFile:" .. tostring(session.tells_apart)
    .. "\n说明: 未能加载 libpdebug 库。原因请使用 LuaPanda.doctor() 查看"
end

function this.getInfo()
  return concat({
    "\n- Base Info: \n", this.getBaseInfo(), "\n\n- User Setting: \nstopOnEntry:", session.entry_text, " | logLevel:", tostring(session.log_level),
    " | consoleLogLevel:2 | pathCaseSensitivity:", tostring(not session.ignores_case), " | attachMode:", tostring(attach_wanted),
    " | autoPathMode:", tostring(session.names_only), " | useCHook:", session.c_hook, "\n\n- Path Info: \nclibPath: ", session.clib,
    "\ndebugger: ", own_source, " | ", placed(chunk_path(own_source)), "\ncwd     : ", session.cwd, "\n", breakpoint_test(),
    "\n\n- Breaks Info: \nUse 'LuaPanda.getBreaks()' to watch.",
  })
end

function this.testBreakpoint() return breakpoint_test() end

local function doctor_of_paths(out)
  local source = stop and stop.source
  if not source then return end
  local path = Paths.of(source)
  if not session.names_only and not exists(path.file) then
    out[#out + 1] = "the file of this chunk is not there: " .. path.file .. " (chunk name " .. source .. ", cwd " .. session.cwd .. ")"
  end
  local like = breakpoint_in(path.file)
  if like and key_of(like) ~= path.file then out[#out + 1] = "breakpoints are in " .. like .. ", the program runs " .. path.file end
end

-- What stands in the way, a line each.
function this.doctor()
  local out = {}
  if not libraries() then out[#out + 1] = "luasocket was not found" end
  if host and not sock then out[#out + 1] = "not connected to " .. host .. ":" .. port end
  doctor_of_paths(out)
  return #out > 0 and concat(out, "\n") or "未检测出问题"
end

end

---------------------------------------------------------------------------------------------------
-- As a library, or as the program that runs another
---------------------------------------------------------------------------------------------------

local function shifted_arguments()
  local old, new = optional("arg"), {}
  for place, value in next, old do
    if type(place) == "number" then new[place - 2] = value end
  end
  rawset(globals, "arg", new)
end

local function run_program(address, path, ...)
  local chunk, why = loadfile(path)
  if not chunk then
    io.stderr:write(tostring(why), "\n")
    os.exit(1)
  end
  shifted_arguments()
  io.stdout:setvbuf("line") -- what was printed before a stop is seen at the stop, into a pipe as well
  local target_host, target_port = match(address, "^(.*):(%d+)$")
  this.start(target_host, target_port)
  local ok, text = run_main(chunk, pack(...))
  if ok then return end
  io.stderr:write("lua: ", tostring(text), "\n")
  os.exit(1)
end

rawset(globals, "LuaPanda", this)

local arguments = optional("arg")
local is_program = type(arguments) == "table" and arguments[0] ~= nil and own_source == "@" .. arguments[0] and select("#", ...) >= 2
if is_program and match(tostring((...)), "^.*:%d+$") then return run_program(...) end

return this
