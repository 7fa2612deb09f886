package workload

// imports stores a whole tree at once.
var imports = &Workload{
	Name:  "import",
	Short: "a tree of files stored at once",
	Flags: []Flag{
		{"tree", "goroot/src", "generated", "a tree as in walk", anything},
		{"entries", "10000", "500", "files in a generated tree", number},
		{"size", "11000", "", "bytes of a generated file on average", number},
		{"durability", "none,durable", "", "the promise at the end: none, log-consistent, durable", groups},
	},
	Varied:      []string{"tree", "durability"},
	Unit:        "entry",
	Question:    "How fast is a tree stored?",
	Description: "Names and contents of all directories and regular files, in one transaction where there are any; read back afterwards.",
	Check:       checkTrees,
	Supports:    func(a *API) bool { return a.Tree != nil },
	Needs:       "tree of files",
	Start:       startImport,
	Want:        func(j *Job) (Answer, error) { return wantTree(j, true) },
	Settings:    writeSettings, // each contender in the way of its kind
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
	answer := func() (a Answer, err error) {
		tree, err := t.FS()
		if err != nil {
			return a, err
		}
		return visit(tree, true)
	}
	return single(t, answer, func() (int64, error) { return all.Count, t.Import(src) })
}
