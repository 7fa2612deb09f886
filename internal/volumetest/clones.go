package volumetest

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/foliofs/folio"
)

// Clones are a volume with clones, and one with copies in their place. Both change alike at random,
// and have snapshots.
type Clones struct {
	t             *testing.T
	r             *rand.Rand
	volumes       []*folio.Volume // connections to the same one, of which the first has snapshots
	model         *folio.Volume
	want          map[string]string // by snapshot
	made          int
	cloned, trees int
}

// NewClones returns Clones of a volume that is changed through several connections, the first of
// which makes snapshots. Both volumes must be empty.
func NewClones(r *rand.Rand, model *folio.Volume, volumes ...*folio.Volume) *Clones {
	return &Clones{r: r, volumes: volumes, model: model, want: make(map[string]string)}
}

// Run makes a number of steps, and compares the two volumes.
func (c *Clones) Run(t *testing.T, steps int) {
	t.Helper()
	c.t = t
	for i := range steps {
		c.step(i)
		if i%200 == 0 {
			c.check()
		}
	}
	c.compare()
	c.check()
	t.Logf("%d clones, %d of them of trees", c.cloned, c.trees)
}

// check lets all connections check the volume.
func (c *Clones) check() {
	c.t.Helper()
	for _, v := range c.volumes {
		WantClean(c.t, v)
	}
}

// End removes everything.
func (c *Clones) End(t *testing.T) {
	t.Helper()
	v := c.volumes[0]
	for name := range c.want {
		Must(t, v.RemoveSnapshot(t.Context(), name))
	}
	c.check()
	list, err := v.ReadDir(".")
	Must(t, err)
	for _, e := range list {
		Must(t, c.volumes[len(c.volumes)-1].RemoveAll(e.Name()))
	}
	c.check()
}

func (c *Clones) step(i int) {
	v := c.volumes[c.r.IntN(len(c.volumes))]
	ctx := c.t.Context()
	switch n := c.r.IntN(100); {
	case n < 12:
		c.clone(v)
	case n < 14:
		c.made++
		name := fmt.Sprint("s", c.made)
		Must(c.t, c.volumes[0].CreateSnapshot(ctx, name))
		Must(c.t, c.model.CreateSnapshot(ctx, name))
		c.want[name] = plainText(c.t, c.model)
	case n < 15 && len(c.want) > 0, len(c.want) > 5:
		name := c.any()
		Must(c.t, c.volumes[0].RemoveSnapshot(ctx, name))
		Must(c.t, c.model.RemoveSnapshot(ctx, name))
		delete(c.want, name)
	case n < 16 && len(c.want) > 0:
		name, dir := c.any(), randomPath(c.r)
		_, err := c.volumes[0].Restore(ctx, name, dir, nil)
		_, modelErr := c.model.Restore(ctx, name, dir, nil)
		c.same(err, modelErr)
	case n < 20:
		c.compare()
	case n < 30:
		seed := c.r.Uint64()
		abort := c.r.IntN(3) == 0
		for _, of := range []*folio.Volume{v, c.model} {
			r := rand.New(rand.NewPCG(seed, 0))
			_ = of.Update(ctx, func(tx *folio.Tx) error {
				for range 5 {
					randomPlain(r, tx)
				}
				if abort {
					return errors.New("not to be")
				}
				return nil
			})
		}
	default:
		seed := c.r.Uint64()
		for _, of := range []*folio.Volume{v, c.model} {
			randomPlain(rand.New(rand.NewPCG(seed, 0)), of)
		}
	}
	if c.t.Failed() {
		c.t.Fatalf("after %d steps", i+1)
	}
}

// randomPlain is randomChange without clones.
func randomPlain(r *rand.Rand, v treeChanger) { randomChange(r, noClones{v}) }

func (c *Clones) any() string {
	names := slices.Sorted(maps.Keys(c.want))
	return names[c.r.IntN(len(names))]
}

// same fails the test unless both calls have failed, or none.
func (c *Clones) same(err, want error) {
	if (err == nil) != (want == nil) {
		c.t.Errorf("%v, want %v", err, want)
	}
}

// clone clones a file or a tree in the volume, and copies it in the model.
func (c *Clones) clone(v *folio.Volume) {
	from, to := c.existing(v), path.Join(path.Dir(c.existing(v)), Letter(c.r))
	var err error
	if c.r.IntN(4) == 0 {
		err = v.Update(c.t.Context(), func(tx *folio.Tx) error { return cloneSmall(tx, from, to) })
	} else {
		err = cloneSmall(v, from, to)
	}
	if err != nil {
		if !errors.Is(err, errLarge) && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrInvalid) {
			c.t.Errorf("Clone(%q, %q): %v", from, to, err)
		}
		return
	}
	c.cloned++
	Must(c.t, c.model.Update(c.t.Context(), func(tx *folio.Tx) error {
		info, err := tx.Lstat(from)
		if err == nil && info.IsDir() {
			c.trees++
		}
		return errors.Join(err, copyTree(tx, from, to, make(map[uint64]string)))
	}))
}

// existing returns the path of a file, if there is one in the root.
func (c *Clones) existing(v *folio.Volume) string {
	name := "a"
	for dir := "."; ; dir = name {
		list, err := v.ReadDir(dir)
		if err != nil || len(list) == 0 {
			return name
		}
		e := list[c.r.IntN(len(list))]
		if name = path.Join(dir, e.Name()); !e.IsDir() || c.r.IntN(3) == 0 {
			return name
		}
	}
}

// copyTree copies a tree file by file.
func copyTree(tx *folio.Tx, from, to string, links map[uint64]string) error {
	info, err := tx.Lstat(from)
	if err != nil {
		return err
	}
	n := info.Sys().(*folio.Node)
	if first, ok := links[n.Ino]; ok {
		return tx.Link(first, to)
	}
	switch {
	case info.IsDir():
		if err := tx.Mkdir(to, 0o700); err != nil {
			return err
		}
		list, err := tx.ReadDir(from)
		for _, e := range list {
			err = errors.Join(err, copyTree(tx, from+"/"+e.Name(), to+"/"+e.Name(), links))
		}
		if err != nil {
			return err
		}
	case info.Mode().IsRegular():
		p, err := tx.ReadFile(from)
		if err != nil {
			return err
		}
		links[n.Ino] = to
		if err := tx.WriteFile(to, p, 0o600); err != nil {
			return err
		}
	case info.Mode().Type() == fs.ModeSymlink:
		target, err := tx.Readlink(from)
		if err != nil {
			return err
		}
		links[n.Ino] = to
		if err := tx.Symlink(target, to); err != nil {
			return err
		}
	}
	attrs, err := tx.Xattrs(from)
	for name, value := range attrs {
		err = errors.Join(err, tx.SetXattr(to, name, value))
	}
	if info.Mode().Type() == fs.ModeSymlink {
		return err
	}
	return errors.Join(err, tx.Chmod(to, info.Mode()))
}

// compare compares the volume with the model, and a snapshot with what it was.
func (c *Clones) compare() {
	c.t.Helper()
	want := plainText(c.t, c.model)
	for _, v := range c.volumes {
		if got := plainText(c.t, v); got != want {
			c.t.Errorf("the tree: %s", Difference(got, want))
		}
	}
	for name, want := range c.want {
		at, err := c.volumes[0].OpenSnapshot(c.t.Context(), name)
		Must(c.t, err)
		if got := plainText(c.t, at); got != want {
			c.t.Errorf("snapshot %s: %s", name, Difference(got, want))
		}
		Must(c.t, at.Close())
	}
}

// plainText describes a tree without the numbers of inodes, times and holes.
func plainText(t *testing.T, v *folio.Volume) string {
	t.Helper()
	var b strings.Builder
	Must(t, v.View(t.Context(), func(rx *folio.Rx) error {
		return fs.WalkDir(rx.FS(), ".", func(name string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return describePlain(&b, rx, name)
		})
	}))
	return b.String()
}

func describePlain(b *strings.Builder, rx *folio.Rx, name string) error {
	info, err := rx.Lstat(name)
	if err != nil {
		return err
	}
	attrs, err := rx.Xattrs(name)
	if err != nil {
		return err
	}
	var content []byte
	switch info.Mode().Type() {
	case 0:
		content, err = rx.ReadFile(name)
	case fs.ModeSymlink:
		var target string
		target, err = rx.Readlink(name)
		content = []byte(target)
	}
	n := info.Sys().(*folio.Node)
	fmt.Fprintf(b, "%s %o %d %d %d %d %q %s\n", name, n.Mode, n.Nlink, n.UID, n.GID, n.Size, attrs, Hash(content))
	return err
}
