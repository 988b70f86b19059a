def twice(n)
  result = n * 2 # @computes
  result # @returns
end

def lap
  total = 0 # @home
  # @moved
  first = 0 # @bound
  point = { x: 1, inner: { deep: 42 } }
  big = (0...1000).to_a
  first = twice(1); second = twice(first) # @columns
  10.times do |n|
    total += twice(n) # @calls
    puts "total #{total}" # @prints
  end
  warn "warned"
  sleep 0.005 # @done
  total + second + big.size + point[:x]
end

def walk
  loop { lap }
end

def once
  puts "read #{$stdin.gets.to_s.strip}"
  puts "env #{ENV["WHO"]} cwd #{Dir.pwd}" # @reads
  lap
  exit 3
end

def risky(n)
  raise ArgumentError, "too large: #{n}" if n > 2 # @raises
  n
end

def fails
  begin
    risky(3)
  rescue ArgumentError
    puts "caught"
  end
  risky(4) # @uncaught
end

def work(number)
  worked = 0
  loop do
    worked += number # @works
    sleep 0.01
  end
end

def threads
  Thread.new { sleep }
  Thread.new { work(2) }.join
end

def child
  system("ruby", __FILE__, "born")
  puts "child #{$?.exitstatus}"
end

def born
  inner = twice(21) # @born
  puts "born #{inner}"
  exit 5
end

def killed
  Process.kill("KILL", Process.pid)
end

send(ARGV[0])
