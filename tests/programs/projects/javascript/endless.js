// How often a price can be halved. The last cent stays, so it never ends.
function rounds(cents) {
  let count = 0;
  while (cents > 0) {
    cents = Math.ceil(cents / 2);
    count += 1;
  }
  return count;
}

console.log(rounds(20));
