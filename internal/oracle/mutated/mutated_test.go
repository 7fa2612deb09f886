package mutated

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/foliofs/folio/internal/oracle/judge"
)

var (
	images = flag.Int("mutated.images", 400, "damaged images to compare")
	seed   = flag.Uint64("mutated.seed", 1, "of the first image")
	show   = flag.Int("mutated.show", 3, "false alarms of each kind to show")
)

// A tally counts by kind, and keeps some examples.
type tally map[string][]string

func (c tally) add(kind, example string) { c[kind] = append(c[kind], example) }

func (c tally) log(t *testing.T, title string) {
	kinds := make([]string, 0, len(c))
	for k := range c {
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b string) int { return len(c[b]) - len(c[a]) })
	for _, k := range kinds {
		t.Logf("%s: %d: %s", title, len(c[k]), k)
		for _, e := range c[k][:min(*show, len(c[k]))] {
			t.Logf("\t%s", e)
		}
	}
}

// A comparison holds the two sides of each image against each other.
type comparison struct {
	*testing.T
	silent, alarms tally // C says that it is malformed, and the engine does not; the opposite
	malformed      int   // images of which C says so
	schemas        int   // of these, refused because of the schema
	same, written  int   // tables that both read alike; changes that both made
	unchecked      tally // images of which C says so, for entries of indexes that Check says it does not look at
	aside          tally // changes that C refuses where Check reports the damage, and the engine makes: it does not meet it
	salvagedOther  tally // of these, those of which C reads other rows if it is told to take the schema
	salvaged       int   // tables that the engine reads of databases whose schema C refuses
}

// TestMutated wants the engine to say so wherever C calls an image malformed, to read the same rows
// wherever both read, and never to leave a shorter file than C does.
func TestMutated(t *testing.T) {
	t.Parallel()
	if !judge.Available {
		t.Skip("no C SQLite in this build")
	}
	c := &comparison{T: t, silent: tally{}, alarms: tally{}, salvagedOther: tally{}, unchecked: tally{}, aside: tally{}}
	list := bases(t)
	dir := t.TempDir()
	for i := range uint64(*images) {
		r := &mutator{rand.New(rand.NewPCG(*seed+i, 5)), t}
		m := r.mutate(list[r.IntN(len(list))])
		at := filepath.Join(dir, "image")
		theirs := byC(t, m.write(t, filepath.Join(at, "c")))
		ours := byOurs(t, m.write(t, filepath.Join(at, "o")), r.IntN(2) == 0)
		if *images == 1 {
			t.Logf("%s\nC: %+v\nours: %+v", m.kind, theirs, ours)
		}
		c.compare(fmt.Sprintf("seed %d: %s", *seed+i, m.kind), int64(len(m.db)), theirs, ours)
		if err := os.RemoveAll(at); err != nil {
			t.Fatal(err)
		}
	}
	c.silent.log(t, "SILENT")
	c.alarms.log(t, "alarm")
	c.salvagedOther.log(t, "salvaged")
	c.unchecked.log(t, "unchecked")
	c.aside.log(t, "aside")
	t.Logf("%d images, %d malformed for C, %d of them because of the schema; %d tables read alike, %d more of refused schemas, %d changes made alike",
		*images, c.malformed, c.schemas, c.same, c.salvaged, c.written)
	if len(c.silent) > 0 {
		t.Error("the engine is silent about damage")
	}
}

var numbers = regexp.MustCompile(`\d+|/[^ ]*\.db[-a-z]*`)

// kindOf leaves out of a text what differs from image to image.
func kindOf(text string) string { return numbers.ReplaceAllString(text, "#") }

// compare compares what both make of an image, whose database has size bytes.
func (c *comparison) compare(what string, size int64, theirs, ours *verdict) {
	sound := slices.Equal(theirs.check, []string{"ok"}) && !theirs.lenient
	if !sound {
		c.malformed++
	}
	if theirs.lenient {
		c.schemas++
	}
	if ours.size < min(theirs.size, size) { // else the engine has left the log as it is
		c.Errorf("%s: the engine leaves %d bytes, C %d", what, ours.size, theirs.size)
	}
	for _, name := range order {
		if theirs.lenient {
			c.compareLenient(what+name, theirs.read[name], ours.read[name])
			continue
		}
		c.compareRead(what+name, sound, theirs.read[name], ours.read[name])
	}
	clean := slices.Equal(ours.check, []string{"ok"})
	switch {
	case clean && !sound && !theirs.onlyView() && ours.leavesOut(theirs.check):
		c.unchecked.add(kindOf(fmt.Sprint(ours.unchecked)), what)
	case clean && !sound && !theirs.onlyView():
		c.silent.add("Check: "+kindOf(fmt.Sprint(theirs.check)), what)
	case !clean && sound:
		c.alarms.add("Check: "+kindOf(ours.check[0]), what)
	}
	c.compareWritten(what, sound, theirs, ours)
}

func (c *comparison) compareRead(what string, sound bool, theirs, ours outcome) {
	switch {
	case theirs.class == "" && ours.class == "":
		if theirs.sum != ours.sum {
			c.Errorf("%s: the engine reads other rows: %d, C %d", what, ours.rows, theirs.rows)
			return
		}
		c.same++
	case theirs.class == corrupt && ours.class == "":
		c.silent.add("reading: "+kindOf(theirs.why), what)
	case theirs.class == "" && sound:
		c.alarms.add("reading: "+kindOf(ours.why), what)
	}
}

// compareLenient compares tables of a database whose schema C refuses. It reads them only if it is
// told to take that, in ways that no document describes: rows with one name, for example. The
// engine reads those that it understands, says in Check what is wrong, and refuses to write.
func (c *comparison) compareLenient(what string, theirs, ours outcome) {
	if ours.class != "" {
		return
	}
	c.salvaged++
	if theirs.class == "" && theirs.sum != ours.sum {
		c.salvagedOther.add("other rows", what)
	}
}

// compareWritten compares the changes, up to the first that one side has refused.
func (c *comparison) compareWritten(what string, sound bool, theirs, ours *verdict) {
	if theirs.onlyView() {
		return
	}
	for i := range theirs.written {
		a, b := theirs.written[i], ours.written[i]
		switch {
		case a.class == "" && b.class == "":
			c.written++
			continue
		case a.class == b.class && a.class == constraint:
			continue
		case a.class == corrupt && b.class == "" && slices.Equal(ours.check, []string{"ok"}):
			c.silent.add(fmt.Sprintf("change %d: %s", i, kindOf(a.why)), what)
		case a.class == corrupt && b.class == "": // the ways of both lead through other pages
			c.aside.add(fmt.Sprintf("change %d: %s", i, kindOf(a.why)), what)
		case a.class == "" && sound:
			c.alarms.add(fmt.Sprintf("change %d: %s", i, kindOf(b.why)), what)
		case a.class == constraint && b.class == "" && sound, a.class == readOnly && b.class == "":
			c.Errorf("%s: change %d: C: %v, the engine: %v", what, i, a, b)
		}
		return
	}
	if !sound {
		return
	}
	if !slices.Equal(theirs.sound, ours.sound) {
		c.Errorf("%s: after the changes C finds %q in its file, and %q in that of the engine", what, theirs.sound, ours.sound)
	}
	for _, name := range order {
		if theirs.after[name] != ours.after[name] {
			c.Errorf("%s: %s has other rows after the changes", what, name)
		}
	}
}
