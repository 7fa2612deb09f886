package fuzzdata

import (
	"fmt"
	"strings"

	"github.com/foliofs/folio/internal/oracle/judge"
)

// The classes of C SQLite's answers about an image.
const (
	classOK       = "C: integrity_check says ok"
	classPartOK   = "C: refuses a statement of the schema; ok without it"
	classNotDB    = "C: file is not a database"
	classFormat   = "C: unsupported file format"
	classPages    = "C: corrupt in a b-tree"
	classPart     = "C: refuses a statement of the schema; corrupt in a b-tree too"
	classContent  = "C: b-trees sound, a constraint broken"
	classPartCont = "C: refuses a statement of the schema; b-trees sound, a constraint broken"
	classTimeout  = "C: gave up after 3 s"
	classDied     = "C: crashed or hung"
	classOther    = "C: other error"
)

// class says of which class an image is.
func (v *verdict) class() string {
	lenient := func(strict, part string) string {
		if v.Lenient {
			return part
		}
		return strict
	}
	switch {
	case v.Died != "":
		return classDied
	case v.Code == judge.CodeNotADB:
		return classNotDB
	case v.Code == codeTimeout:
		return classTimeout
	case strings.Contains(v.Err, "unsupported file format"):
		return classFormat
	case v.Code == judge.CodeCorrupt, v.badPages():
		return lenient(classPages, classPart)
	case v.Code != 0:
		return classOther + ": " + v.Err
	case v.ok():
		return lenient(classOK, classPartOK)
	}
	return lenient(classContent, classPartCont)
}

func (v *verdict) ok() bool {
	return len(v.Integrity) == 1 && v.Integrity[0] == "ok"
}

// contentOnly are parts of lines of integrity_check that speak of rows, not of how they are stored.
var contentOnly = []string{"NULL value in", "CHECK constraint failed", " value in ", "non-unique entry"}

// badPages tells whether integrity_check, or reading a table, found a b-tree corrupt.
func (v *verdict) badPages() bool {
	for _, r := range v.Tables {
		if r.Code == judge.CodeCorrupt {
			return true
		}
	}
	for _, block := range v.Integrity {
		for line := range strings.SplitSeq(block, "\n") {
			if line != "ok" && !strings.HasPrefix(line, "***") && !anyIn(line, contentOnly) {
				return true
			}
		}
	}
	return false
}

func anyIn(line string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(line, p) {
			return true
		}
	}
	return false
}

// compare returns the error that the engine makes, or "".
func (v *verdict) compare(f *finding) string {
	switch v.class() {
	case classDied, classTimeout:
		return ""
	case classNotDB, classFormat:
		if f.openErr == nil && !f.corrupt() {
			return "ours opened it and found nothing wrong"
		}
	case classOK:
		return v.compareSound(f)
	case classPartOK:
		return v.comparePart(f)
	case classContent, classPartCont:
		if !f.corrupt() {
			return v.compareRows(f)
		}
	default:
		if !f.corrupt() {
			return v.compareCorrupt(f)
		}
	}
	return ""
}

// compareSound is for an image that C SQLite finds nothing wrong with.
func (v *verdict) compareSound(f *finding) string {
	if f.openErr != nil || f.schemaErr != nil || f.checkErr != nil {
		return fmt.Sprintf("ours has something against it: open: %v; schema: %v; check: %v", f.openErr, f.schemaErr, f.checkErr)
	}
	return v.compareRows(f)
}

// comparePart is for an image of which C SQLite refuses a statement of the schema, and finds
// nothing wrong with the rest: Check names the statement, and the rest can be read.
func (v *verdict) comparePart(f *finding) string {
	if f.openErr != nil || f.schemaErr != nil {
		return fmt.Sprintf("ours cannot read it: open: %v; schema: %v", f.openErr, f.schemaErr)
	}
	if f.checkErr == nil || !strings.Contains(f.checkErr.Error(), "malformed database schema") {
		return fmt.Sprintf("ours has nothing against the statement that C refuses: %s; check: %v", v.SchemaErr, f.checkErr)
	}
	return v.compareRows(f)
}

// compareRows wants the same rows in every table and index that C SQLite could read.
func (v *verdict) compareRows(f *finding) string {
	if d := v.compareReadings("table", v.Tables, f.tables); d != "" {
		return d
	}
	return v.compareReadings("index", v.Indexes, f.indexes)
}

func (v *verdict) compareReadings(what string, theirs, ours []reading) string {
	for _, want := range theirs {
		if want.Code != 0 {
			continue
		}
		got := named(ours, want.Name)
		switch {
		case v.Lenient && (got == nil || got.Code == codeOther):
			// Its row or its statement is one of those that C SQLite refuses unless it is told to
			// bear them.
			v.Spared++
		case got == nil:
			return fmt.Sprintf("no %s %q", what, want.Name)
		case got.Code != 0:
			return fmt.Sprintf("%s %q: %s", what, want.Name, got.Err)
		case got.Rows != want.Rows || got.Sum != want.Sum:
			return fmt.Sprintf("%s %q: %d rows %x, want %d rows %x", what, want.Name, got.Rows, got.Sum, want.Rows, want.Sum)
		}
	}
	return ""
}

func named(readings []reading, name string) *reading {
	for i := range readings {
		if readings[i].Name == name {
			return &readings[i]
		}
	}
	return nil
}

// compareCorrupt is for an image that C SQLite calls corrupt and the engine does not: the rows must
// be the same, and where C SQLite could not read a table, the engine should have had an error.
func (v *verdict) compareCorrupt(f *finding) string {
	if v.Code == judge.CodeCorrupt && len(v.Tables) == 0 {
		return fmt.Sprintf("ours found nothing wrong where C could read nothing: %s %q", v.Err, v.Integrity)
	}
	for _, t := range v.Tables {
		if got := named(f.tables, t.Name); t.Code == judge.CodeCorrupt && got != nil && got.Code == 0 {
			return fmt.Sprintf("ours read all %d rows of table %q; C: %s", got.Rows, t.Name, t.Err)
		}
	}
	return v.compareRows(f)
}

// apart counts, in tables of corrupt images, where reading alone does not tell the two apart as
// Check does: tables that only the engine read to the end, only C SQLite did, and that both did
// with different rows.
func (v *verdict) apart(f *finding) (onlyOurs, onlyTheirs, differ int) {
	for _, theirs := range v.Tables {
		ours := named(f.tables, theirs.Name)
		switch {
		case ours == nil || ours.Code == codeOther:
		case theirs.Code == 0 && ours.Code == 0 && theirs.Sum != ours.Sum:
			differ++
		case theirs.Code == judge.CodeCorrupt && ours.Code == 0:
			onlyOurs++
		case theirs.Code == 0 && ours.Code != 0:
			onlyTheirs++
		}
	}
	return onlyOurs, onlyTheirs, differ
}
