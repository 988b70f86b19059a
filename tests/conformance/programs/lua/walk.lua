local socket = require("socket")

local function twice(n)
  local result = n * 2 -- @computes
  return result -- @returns
end

local function lap()
  local total = 0 -- @home
  -- @moved
  local first = 0 -- @bound
  local point = { x = 1, inner = { deep = 42 } }
  local big = {}
  for i = 1, 1000 do big[i] = i - 1 end
  first = twice(1); local second = twice(first) -- @columns
  for n = 0, 9 do
    total = total + twice(n) -- @calls
    print("total " .. total) -- @prints
  end
  io.stderr:write("warned\n")
  socket.sleep(0.005) -- @done
  return total + second + #big + point.x
end

local function cwd()
  local pipe = io.popen("pwd")
  local folder = pipe:read()
  pipe:close()
  return folder
end

local modes = {}

function modes.walk()
  while true do lap() end
end

function modes.once()
  print("read " .. (io.read() or ""))
  print("env " .. os.getenv("WHO") .. " cwd " .. cwd()) -- @reads
  lap()
  os.exit(3, true)
end

local function risky(n)
  if n > 2 then error("too large: " .. n) end -- @raises
  return n
end

function modes.fails()
  if not pcall(risky, 3) then print("caught") end
  risky(4) -- @uncaught
end

local function work(number)
  local worked = 0
  while true do
    worked = worked + number -- @works
    socket.sleep(0.01)
  end
end

function modes.threads()
  local sleeper = coroutine.create(function() coroutine.yield() end)
  coroutine.resume(sleeper)
  coroutine.wrap(work)(2)
end

function modes.child()
  local _, _, code = os.execute("lua5.4 walk.lua born")
  print("child " .. tostring(code))
end

function modes.born()
  local inner = twice(21) -- @born
  print("born " .. inner)
  os.exit(5, true)
end

function modes.killed()
  os.execute("kill -KILL $PPID")
end

modes[arg[1]]()
