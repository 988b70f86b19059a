package main

import (
	"fmt"
	"net/http"
	"os"
	"strconv"

	"shop/price"
)

func main() {
	http.HandleFunc("/price/", func(answer http.ResponseWriter, request *http.Request) {
		count, _ := strconv.Atoi(request.URL.Path[len("/price/"):])
		total := price.Of(count)
		fmt.Fprintf(answer, "{\"total\": %d}", total)
	})
	if err := http.ListenAndServe("127.0.0.1:"+os.Args[1], nil); err != nil {
		panic(err)
	}
}
