package route

// Route is a list of stops.
type Route struct {
	Stops []string
}

// New makes a route with room for more stops.
func New(room int, stops ...string) Route {
	all := make([]string, 0, room)
	return Route{append(all, stops...)}
}

// Extend returns a route with one stop more.
func (r Route) Extend(stop string) Route {
	return Route{append(r.Stops, stop)}
}

// Fork returns two routes that begin as this one.
func Fork(base Route, first, second string) (Route, Route) {
	left := base.Extend(first)
	right := base.Extend(second)
	return left, right
}

// Ends reports whether the route ends there.
func (r Route) Ends(stop string) bool {
	return r.Stops[len(r.Stops)-1] == stop
}
