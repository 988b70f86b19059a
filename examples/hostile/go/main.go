// Programs that misbehave, and values that harm whoever shows them: `main NAME`.
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
)

type endless struct{ harmless int }

func (endless) String() string {
	for {
	}
}

type node struct {
	next *node
	name string
}

func stop() {
	fmt.Println("ready") // stop here
}

func look(value any) {
	fmt.Println("ready") // look here
}

func cyclic() *node {
	first := &node{name: "first"}
	first.next = &node{first, "second"}
	return first
}

func deep(depth int) int {
	if depth == 0 {
		stop()
		return 0
	}
	return 1 + deep(depth-1)
}

func wide() map[int]string {
	made := map[int]string{}
	for n := 0; n < 100_000; n++ {
		made[n] = "x"
	}
	return made
}

func flood() {
	line := strings.Repeat(strings.Repeat("x", 99)+"\n", 1000)
	for n := 0; n < 50; n++ {
		fmt.Print(line)
	}
	stop()
}

func reads() {
	read, _ := io.ReadAll(os.Stdin)
	fmt.Println("read", len(read))
	stop()
}

func child() {
	left := exec.Command("sleep", "600")
	left.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := left.Start(); err != nil {
		panic(err)
	}
	stop()
	select {}
}

func many() {
	var waiting sync.WaitGroup
	waiting.Add(1)
	for n := 0; n < 1000; n++ {
		go waiting.Wait()
	}
	stop()
}

func busy() {
	stop()
	for {
	}
}

func null() {
	var nothing *node
	fmt.Println(nothing.name)
}

func kill(number syscall.Signal) func() {
	return func() {
		syscall.Kill(os.Getpid(), number)
		select {}
	}
}

var programs = map[string]func(){
	"endless":  func() { look(endless{7}) },
	"string":   func() { look(strings.Repeat("s", 64<<20)) },
	"list":     func() { look(make([]int, 1_000_000)) },
	"map":      func() { look(wide()) },
	"cyclic":   func() { look(cyclic()) },
	"deep":     func() { deep(5_000) },
	"flood":    flood,
	"reads":    reads,
	"child":    child,
	"many":     many,
	"busy":     busy,
	"exit-3":   func() { os.Exit(3) },
	"killed":   kill(syscall.SIGKILL),
	"aborts":   kill(syscall.SIGABRT),
	"null":     null,
	"panics":   func() { panic(strings.Repeat("m", 1_000_000)) },
	"deadlock": func() { select {} },
}

func main() {
	programs[os.Args[1]]()
}
