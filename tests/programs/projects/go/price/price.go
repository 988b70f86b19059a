package price

// Of is the price of so many.
func Of(count int) int {
	unit := 7
	total := count * unit
	return total
}
