package shelf

import "testing"

func TestEveryBookHasAShelf(t *testing.T) {
	var books []Book
	for i := 0; i < 8; i++ {
		books = append(books, Book{Title: "volume", Pages: 100})
	}
	sum := 0
	for _, pages := range Shelve(books, 3) {
		sum += pages
	}
	if sum != 800 {
		t.Fatalf("%d pages are on shelves, want 800", sum)
	}
}
