local grades = {}

local function weight(list)
  sum = 0
  for _, it in ipairs(list) do
    sum = sum + it.weight
  end
  return sum
end

function grades.average(list)
  sum = 0
  for _, it in ipairs(list) do
    sum = sum + it.points * it.weight
  end
  local weights = weight(list)
  return sum / weights
end

function grades.passed(list)
  return grades.average(list) >= 50
end

return grades
