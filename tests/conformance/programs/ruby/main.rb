def twice(n)
  result = n * 2
  result
end

def main
  total = 0
  puts "read #{$stdin.gets}" unless ARGV.empty?
  10.times do |n|
    total += twice(n)
    puts "total #{total}"
  end
  total
end

exit(main / 30)
