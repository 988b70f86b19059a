# Groups words by their first letter. It should print a and b with their words; it prints an empty table.
def grouped(words)
  groups = Hash.new([])
  words.each do |word|
    groups[word[0]] << word
  end
  groups
end

puts "groups #{grouped(%w[apple avocado banana])}"
