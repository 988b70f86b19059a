package load

// Node is a machine with so many slots.
type Node struct {
	Name        string
	Used, Slots int
}

func share(used, slots int) float64 {
	part := used / slots
	return float64(part)
}

// Busy returns the names of the nodes above the limit.
func Busy(nodes []Node, limit float64) []string {
	var names []string
	for _, node := range nodes {
		if share(node.Used, node.Slots) > limit {
			names = append(names, node.Name)
		}
	}
	return names
}
