package page

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"sync"
)

//go:embed assets
var assetFiles embed.FS

// assetsHash returns a hash of all assets. It is a part of their URLs, so that browsers may keep
// them for ever. The modules of the script find each other by relative URLs.
var assetsHash = sync.OnceValue(func() string {
	sum := sha256.New()
	err := fs.WalkDir(assetFiles, "assets", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := assetFiles.ReadFile(name)
		sum.Write([]byte(name + "\x00"))
		sum.Write(text)
		return err
	})
	if err != nil {
		panic(err) // the files are in the program
	}
	return hex.EncodeToString(sum.Sum(nil))[:16]
})

// Assets returns the files that pages load. Their paths begin with a hash, which changes with any
// of them. A server serves them below BASE/-/assets/, and browsers may keep them for ever.
func Assets() fs.FS { return hashedFS{assetsHash(), assetFiles} }

// Icon returns the picture of the tab, an SVG.
func Icon() []byte {
	text, err := assetFiles.ReadFile("assets/icon.svg")
	if err != nil {
		panic(err) // the file is in the program
	}
	return text
}

// A hashedFS serves the assets in a directory that is named by their hash.
type hashedFS struct {
	hash  string
	files embed.FS
}

// Open opens HASH/NAME. Any other name does not exist.
func (f hashedFS) Open(name string) (fs.File, error) {
	if rest, ok := cutDir(name, f.hash); ok && fs.ValidPath(rest) {
		return f.files.Open("assets/" + rest)
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// cutDir returns the part of a path below a directory.
func cutDir(name, dir string) (rest string, ok bool) {
	if len(name) <= len(dir)+1 || name[:len(dir)] != dir || name[len(dir)] != '/' {
		return "", false
	}
	return name[len(dir)+1:], true
}
