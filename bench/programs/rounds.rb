# What the benchmark of stalls steps through.
result = 0
45.times do |number|
  doubled = number * 2
  result += doubled
  result += 1 if (result % 7).zero?
  puts "round #{number} #{result}"
end
