// What the benchmark of stalls steps through.
package main

import "fmt"

func main() {
	result := 0
	for number := 0; number < 45; number++ {
		doubled := 0
		doubled = number * 2
		result += doubled
		if result%7 == 0 {
			result++
		}
		fmt.Println("round", number, result)
	}
}
