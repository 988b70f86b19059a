function price(count) {
  const unit = 7;
  const total = count * unit;
  return total;
}

async function priceLater(count) {
  await new Promise((resolve) => setTimeout(resolve, 5));
  return price(count);
}

module.exports = { price, priceLater };
