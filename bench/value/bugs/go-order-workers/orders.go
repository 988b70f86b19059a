package orders

// Order is of one article.
type Order struct {
	Article string
	Cents   int
}

// Job does one thing, later.
type Job func() int

// Plan makes a job of each order.
func Plan(list []Order) []Job {
	var jobs []Job
	total := 0
	for _, order := range list {
		jobs = append(jobs, func() int {
			total += order.Cents
			return total
		})
	}
	return jobs
}

// Run runs all jobs, and returns what the last one did.
func Run(list []Order) int {
	last := 0
	for _, job := range Plan(list) {
		last = job()
	}
	return last / 10
}
