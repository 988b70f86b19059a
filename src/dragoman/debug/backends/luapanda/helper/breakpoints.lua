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
