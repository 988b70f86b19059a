// Adds up what is on the shelves. The sum should be 30; it is NaN.
"use strict";

const shelves = ["10 apples", "10 pears", "10 plums"];

function amounts(lines) {
  return lines.map(parseInt);
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}

const found = amounts(shelves);
console.log("in stock", sum(found));
