package main

import (
	"debug/buildinfo"
	"fmt"
	"io"
	"path/filepath"

	"github.com/CycloneDX/cyclonedx-go"
)

// writeComponents writes the list of a binary's modules, as the binary itself records them, in the
// form of CycloneDX.
func (r *release) writeComponents(t target, binary string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	if info.Main.Path != modulePath || info.Main.Version != r.version {
		return fmt.Errorf("the binary says %s %s, want %s %s", info.Main.Path, info.Main.Version, modulePath, r.version)
	}
	folio := component(cyclonedx.ComponentTypeApplication, modulePath, r.version)
	parts := []cyclonedx.Component{component(cyclonedx.ComponentTypeLibrary, "std", info.GoVersion)}
	uses := []string{parts[0].BOMRef}
	for _, d := range info.Deps {
		parts = append(parts, component(cyclonedx.ComponentTypeLibrary, d.Path, d.Version))
		uses = append(uses, parts[len(parts)-1].BOMRef)
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Timestamp: r.made.Format("2006-01-02T15:04:05Z"), Component: &folio}
	bom.Components = &parts
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: folio.BOMRef, Dependencies: &uses}}
	return create(filepath.Join(r.dist, r.fileName(t)+".cdx.json"), func(w io.Writer) error {
		return cyclonedx.NewBOMEncoder(w, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	})
}

func component(kind cyclonedx.ComponentType, path, version string) cyclonedx.Component {
	url := "pkg:golang/" + path + "@" + version
	return cyclonedx.Component{Type: kind, BOMRef: url, PackageURL: url, Name: path, Version: version}
}
