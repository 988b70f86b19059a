package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

type Inner struct{ deep int }
type Point struct {
	x     int
	inner Inner
}

func twice(n int) int {
	result := n * 2 // @computes
	return result // @returns
}

func lap() int {
	total := 0 // @home
	// @moved
	first := 0 // @bound
	point := Point{1, Inner{42}}
	big := make([]int, 1000)
	for index := range big {
		big[index] = index
	}
	first = twice(1); second := twice(first) // @columns
	for n := 0; n < 10; n++ {
		total += twice(n) // @calls
		fmt.Println("total", total) // @prints
	}
	fmt.Fprintln(os.Stderr, "warned")
	time.Sleep(5 * time.Millisecond) // @done
	return total + second + len(big) + point.x
}

func walk() {
	for {
		lap()
	}
}

func once() {
	line, _ := bufio.NewReader(os.Stdin).ReadString('\n')
	fmt.Print("read ", line, "\n")
	folder, _ := os.Getwd()
	fmt.Println("env", os.Getenv("WHO"), "cwd", folder) // @reads
	lap()
	os.Exit(3)
}

func risky(n int) int {
	if n > 2 {
		panic(fmt.Sprintf("too large: %d", n)) // @raises
	}
	return n
}

func saved() {
	defer func() { fmt.Println("caught", recover()) }()
	risky(3)
}

func fails() {
	saved()
	risky(4) // @uncaught
}

func work(number int) {
	worked := 0
	for {
		worked += number // @works
		time.Sleep(10 * time.Millisecond)
	}
}

func threads() {
	go time.Sleep(time.Hour)
	work(2)
}

func child() {
	born := exec.Command(os.Args[0], "born")
	born.Stdout = os.Stdout
	born.Run()
	fmt.Println("child", born.ProcessState.ExitCode())
}

func born() {
	inner := twice(21) // @born
	fmt.Println("born", inner)
	os.Exit(5)
}

func killed() {
	syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func main() {
	modes := map[string]func(){
		"walk": walk, "once": once, "fails": fails, "threads": threads, "child": child, "born": born, "killed": killed,
	}
	modes[os.Args[1]]()
}
