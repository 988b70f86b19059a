def price(count)
  unit = 7
  total = count * unit
  total
end
