package workload

import (
	"cmp"
	"time"
)

// imports stores a whole tree at once.
var imports = &Workload{
	Name:  "import",
	Short: "a tree of files stored at once",
	Flags: []Flag{
		{"tree", "goroot/src", "generated", "a tree as in walk"},
		{"entries", "10000", "500", "files in a generated tree"},
		{"size", "11000", "", "bytes of a generated file on average"},
		{"durability", "none,durable", "", "what is promised when it is done: none, log-consistent, durable"},
	},
	Cases:    importCases,
	Able:     func(a *API) bool { return a.Tree != nil },
	Needs:    "tree of files",
	Start:    startImport,
	Want:     func(j *Job) (Answer, error) { return wantTree(j, true) },
	Settings: writeSettings, // each contender in the way of its kind
}

func importCases(v Values) ([]Case, error) {
	groups, err := v.oneOf("durability", string(None), string(Consistent), string(Durable))
	if err := cmp.Or(err, v.positive("entries", "size")); err != nil {
		return nil, err
	}
	var cases []Case
	for params := range combinations([]string{"tree", "durability"}, v.List("tree"), groups) {
		if _, err := source(params[0].Value, 1, 1); err != nil {
			return nil, err
		}
		cases = append(cases, Case{
			Params: params, Group: Group(params[1].Value), Unit: "entry", Span: "import", Question: "How fast is a tree stored?",
			Description: "Names and contents of all directories and regular files, in one transaction where there are any; read back afterwards.",
		})
	}
	return cases, nil
}

func startImport(j *Job, a *API) (*Work, error) {
	src, err := j.jobTree()
	if err != nil {
		return nil, err
	}
	all, err := visit(src, true) // also brings it into the system's cache, the same for all
	if err != nil {
		return nil, err
	}
	t, err := a.Tree(j)
	if err != nil {
		return nil, err
	}
	settings, err := t.Settings()
	if err != nil {
		return nil, err
	}
	return &Work{
		Settings: []map[string]string{settings},
		Workers: []Worker{func(r *Recorder) error {
			begin := time.Now()
			err := t.Import(src)
			r.Many(all.Count, time.Since(begin))
			return err
		}},
		Answer: func() (a Answer, err error) {
			tree, err := t.FS()
			if err != nil {
				return a, err
			}
			return visit(tree, true)
		},
		Close: t.Close,
	}, nil
}
