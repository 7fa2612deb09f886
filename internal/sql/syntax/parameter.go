package syntax

// A Parameter is the name of a parameter.
type Parameter struct {
	Name   string // with its first byte, for example ":a"
	Number int
}

// fewParameters is how many names are found without a map.
const fewParameters = 16

// parameters are the names of parameters.
type parameters struct {
	list    []Parameter
	numbers map[string]int // of all names, once there are more than a few
	named   map[int]bool   // all numbers, then, too
}

func (n *parameters) add(p Parameter) {
	n.list = append(n.list, p)
	switch {
	case len(n.list) == fewParameters:
		n.numbers, n.named = make(map[string]int), make(map[int]bool)
		for _, p := range n.list {
			n.numbers[p.Name], n.named[p.Number] = p.Number, true
		}
	case n.numbers != nil:
		n.numbers[p.Name], n.named[p.Number] = p.Number, true
	}
}

// has reports whether the parameter of a number has a name.
func (n *parameters) has(number int) bool {
	if n.named != nil {
		return n.named[number]
	}
	for _, p := range n.list {
		if p.Number == number {
			return true
		}
	}
	return false
}

// number returns the number of the parameter of a name, 0 if there is none yet.
func (n *parameters) number(name string) int {
	if n.numbers != nil {
		return n.numbers[name]
	}
	for _, p := range n.list {
		if p.Name == name {
			return p.Number
		}
	}
	return 0
}
