// Adds an urgent job to the first two of four. The list of all should stay a, b, c, d; c has gone.
package main

import "fmt"

func urgentFirst(jobs []string) []string {
	first := jobs[:2]
	return append(first, "urgent")
}

func main() {
	all := []string{"a", "b", "c", "d"}
	today := urgentFirst(all)
	fmt.Println("today", today)
	fmt.Println("all", all)
}
