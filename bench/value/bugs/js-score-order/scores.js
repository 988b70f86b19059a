'use strict';

function parse(lines) {
  return lines.map((line) => Number(line.split(' ')[1]));
}

function ranking(scores) {
  const sorted = [...scores].sort();
  return sorted;
}

function median(lines) {
  const order = ranking(parse(lines));
  return order[Math.floor(order.length / 2)];
}

function grade(lines) {
  return median(lines) >= 50 ? 'good' : 'fair';
}

module.exports = { grade, median };
