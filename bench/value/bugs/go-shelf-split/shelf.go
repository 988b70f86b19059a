package shelf

// Book is one of the library.
type Book struct {
	Title string
	Pages int
}

func chunks(books []Book, size int) [][]Book {
	full := len(books) / size
	var parts [][]Book
	for i := 0; i < full; i++ {
		parts = append(parts, books[i*size:(i+1)*size])
	}
	return parts
}

// Shelve puts so many books on each shelf, and says on how many pages each shelf has.
func Shelve(books []Book, size int) []int {
	var pages []int
	for _, part := range chunks(books, size) {
		sum := 0
		for _, book := range part {
			sum += book.Pages
		}
		pages = append(pages, sum)
	}
	return pages
}
