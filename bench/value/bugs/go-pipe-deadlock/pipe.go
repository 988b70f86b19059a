package pipe

// Work doubles a number.
func Work(id int) int {
	return 2 * id
}

// Collect does so many jobs, with room for some results.
func Collect(jobs, room int) int {
	results := make(chan int, room)
	for id := 0; id < jobs; id++ {
		results <- Work(id)
	}
	close(results)
	sum := 0
	for one := range results {
		sum += one
	}
	return sum
}

// Average is over all jobs.
func Average(jobs int) float64 {
	return float64(Collect(jobs, 2)) / float64(jobs)
}
