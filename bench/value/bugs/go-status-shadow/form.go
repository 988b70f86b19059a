package form

import "strconv"

// Form holds texts that should be numbers.
type Form struct {
	Fields []string
}

// Validate returns the sum of the fields, and the first error.
func (f Form) Validate() (int, error) {
	var err error
	sum := 0
	for _, text := range f.Fields {
		number, err := strconv.Atoi(text)
		if err != nil {
			break
		}
		sum += number
	}
	return sum, err
}

// Accept reports whether a form may be stored.
func Accept(fields ...string) bool {
	_, err := Form{fields}.Validate()
	return err == nil
}
