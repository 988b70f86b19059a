require "minitest/autorun"
require_relative "pricing"

class PriceTest < Minitest::Test
  def test_three_cost_twenty
    count = 3
    total = price(count)
    assert_equal 20, total
  end

  def test_none_cost_nothing
    assert_equal 0, price(0)
  end
end
