package folio

import (
	"testing"
)

// TestDirCacheOrders runs three goroutines' steps in each order that there is: two keep the list of
// one directory, and the third puts another directory into its slot. Each step does at most one
// atomic operation on the accounts, so that these are all orders of such operations. Whatever the
// order, the budget comes out even, once all are done and once the slot is empty.
func TestDirCacheOrders(t *testing.T) {
	t.Parallel()
	const size, orders = 1_000_000, 30 // 5!/(2!·2!·1!)
	list := &dirList{items: make([]listItem, 20), names: "names"}
	cost := listCost(list)
	tried := 0
	for _, order := range interleavings([]int{2, 2, 1}) {
		c := new(dirCache)
		c.init(0, size)
		_, hash := c.get(1, "a")
		d := c.put(hash, 1, "a", 1)
		take := func() {
			if !c.take(1, cost) {
				t.Error("the budget has no room")
			}
		}
		charge := func() { c.charge(d, list, cost) }
		steps := [][]func(){{take, charge}, {take, charge}, {func() { c.put(hash, 1, "a", 2) }}}
		for _, goroutine := range order {
			steps[goroutine][0]()
			steps[goroutine] = steps[goroutine][1:]
		}
		if left, spent := c.left.Load(), c.spent(); left+spent != size || left < size-cost {
			t.Errorf("order %v: %d left and %d spent of %d", order, left, spent, size)
		}
		c.sweep(2)
		if left := c.left.Load(); left != size {
			t.Errorf("order %v: %d left of %d in an empty cache", order, left, size)
		}
		tried++
	}
	if tried != orders {
		t.Errorf("%d orders, want %d", tried, orders)
	}
}

// interleavings returns every order in which goroutines can make so many steps each.
func interleavings(steps []int) (orders [][]int) {
	done := true
	for i, n := range steps {
		if n == 0 {
			continue
		}
		done = false
		steps[i]--
		for _, rest := range interleavings(steps) {
			orders = append(orders, append([]int{i}, rest...))
		}
		steps[i]++
	}
	if done {
		return [][]int{nil}
	}
	return orders
}

// TestDirCacheKeepTwice keeps the list of one directory again and again, while its slot is taken
// from it: each charge must be made once.
func TestDirCacheKeepTwice(t *testing.T) {
	t.Parallel()
	const size = 1_000_000
	list := &dirList{items: make([]listItem, 20)}
	c := new(dirCache)
	c.init(0, size)
	var d *cachedDir
	for i := range 10 {
		_, hash := c.get(1, "a")
		d = c.put(hash, 1, "a", 1)
		for range 3 {
			c.keep(d, list)
		}
		if left := c.left.Load(); left != size-listCost(list) {
			t.Fatalf("round %d: %d left of %d", i, left, size)
		}
	}
	c.sweep(2)
	c.keep(d, list)
	if left := c.left.Load(); left != size {
		t.Errorf("%d left of %d: a directory without a slot was charged", left, size)
	}
	if d.list.Load() == nil {
		t.Error("nothing was kept")
	}
}
