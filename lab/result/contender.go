package result

// A Contender is one way to store things: a program, and an interface of the library that it
// drives.
type Contender struct {
	// ID names the contender in samples: NAME[@VERSION][:API], such as "modernc@v1.35.0:sql". It
	// says an API only where the contender has more than one.
	ID      string `json:"id"`
	Name    string `json:"name"`              // its directory in lab/contender
	Version string `json:"version,omitempty"` // that was asked for; "" is the one in its go.mod
	API     string `json:"api"`               // "native", "sql" for database/sql, "gorm", "os", ...
	Title   string `json:"title"`             // for people: "modernc.org/sqlite v1.35.0, database/sql"
	Kind    Kind   `json:"kind"`
	Ours    bool   `json:"ours,omitempty"`
	// Module and ModuleVersion are those that the program was built with, as debug.ReadBuildInfo
	// reports.
	Module        string            `json:"module,omitempty"`
	ModuleVersion string            `json:"module_version,omitempty"`
	Modules       map[string]string `json:"modules,omitempty"` // all other modules in the program, by path
	Build         map[string]string `json:"build,omitempty"`   // CGO_ENABLED, GOAMD64, -tags, ... of the program
	SQLite        string            `json:"sqlite,omitempty"`  // sqlite_version()
	// CompileOptions are the answers of PRAGMA compile_options: rule 3.
	CompileOptions []string `json:"compile_options,omitempty"`
	// Notes tell a reader how to judge the figures, for example "prepares again at every call".
	Notes []string `json:"notes,omitempty"`
}

// A Kind is the kind of store of a contender.
type Kind string

// The kinds of contenders.
const (
	KindSQL    Kind = "sql"    // SQLite through SQL
	KindServer Kind = "server" // another database through SQL
	KindEngine Kind = "engine" // SQLite's file format without SQL
	KindVolume Kind = "volume" // a file system in a file
	KindKV     Kind = "kv"     // a store of keys and values
	KindFiles  Kind = "files"  // files of the operating system
)

// A Skip says why a contender takes no part, in a case, in a workload, or at all.
type Skip struct {
	Contender string `json:"contender"`          // as the user named it
	Workload  string `json:"workload,omitempty"` // "" is all
	Case      string `json:"case,omitempty"`     // "" is all of the workload
	Reason    string `json:"reason"`             // one line
}

// String says it in a line.
func (s *Skip) String() string {
	if s.Workload == "" {
		return s.Contender + ": " + s.Reason
	}
	return s.Contender + " in " + s.Workload + ": " + s.Reason
}
