package main

import (
	"bufio"
	"fmt"
	"os"
)

func twice(n int) int {
	result := n * 2
	return result
}

func main() {
	total := 0
	if len(os.Args) > 1 {
		line, _ := bufio.NewReader(os.Stdin).ReadString('\n')
		fmt.Print("read ", line)
	}
	for n := 0; n < 10; n++ {
		total += twice(n)
		fmt.Println("total", total)
	}
	os.Exit(total / 30)
}
