// Reads a limit. It should say that "ten" is no number; it says that the limit is 0.
package main

import (
	"fmt"
	"strconv"
)

func limit(text string) (int, error) {
	var found int
	var err error
	if text != "" {
		found, err := strconv.Atoi(text)
		_ = found
		_ = err
	}
	return found, err
}

func main() {
	found, err := limit("ten")
	fmt.Println("limit", found, err)
}
