package main

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/value"
	"github.com/foliofs/folio/serve"
)

func (c *command) linksCommand() *cobra.Command {
	cmd := c.newGroup("links", "List and end the links to share that folio serve has made",
		`A link lets people without a login see, or upload, files that a user has shared by folio serve. Its address is
known only to those who have it: the volume keeps a sum of it, which is the ID that these commands show and
take. Users list and end their own links in the page of the server.`,
		`  folio links list photos.folio
  folio links end photos.folio 3f2a9c1d2b7e`,
		c.linksListCommand(), c.linksEndCommand())
	cmd.SuggestFor = []string{"shares"}
	return cmd
}

func (c *command) linksEndCommand() *cobra.Command {
	cmd := writingCommand("end VOLUME[:PATH] ID...", "End links to share",
		`End links, all of them or none. Nobody can open them any more, and they cannot be made again: a new link has
another address. An ID may be cut after its first eight digits. A server need not be stopped.`,
		"  folio links end photos.folio 3f2a9c1d2b7e",
		between(2, -1, "VOLUME and ID"))
	cmd.SuggestFor = []string{"remove", "rm", "delete"}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return location.Change(cmd.Context(), &c.Streams, args[:1], nil, func(tx *folio.Tx, o *location.Operand) error {
			for _, id := range args[1:] {
				if err := serve.EndLink(tx, o.Path, id); err != nil {
					return failure.Hint(failure.At(o.String()+": "+id, err), "folio links list shows them")
				}
			}
			return nil
		})
	}
	return cmd
}

// shownID is how many digits of the ID of a link are shown.
const shownID = 12

// A linkJSON is a link as --json tells it.
type linkJSON struct {
	ID string `json:"id"`
	value.JSONPath
	Rights   string         `json:"rights"`
	State    string         `json:"state"`
	User     string         `json:"user,omitempty"`
	Snapshot value.JSONText `json:"snapshot,omitempty"`
	Made     string         `json:"made"`
	Expires  string         `json:"expires,omitempty"`
	MaxSize  int64          `json:"max_size,omitempty"`
	Used     int64          `json:"used,omitempty"`
}

func (c *command) linksListCommand() *cobra.Command {
	var json bool
	cmd := newCommand("list VOLUME[:PATH]", "List the links to share",
		`List the links of a volume, the newest first: the ID of each, whether it is for reading or for uploading, when
it ends, who made it, and the path that it leads to. PATH is the directory that folio serve was given, if
it was not the whole volume.

With --json: one object for each link and line, as docs/reference/json.md describes.`,
		`  folio links list photos.folio
  folio links list --json photos.folio | jq -r 'select(.user == "ann") | .id'`,
		between(1, 1, "one VOLUME"))
	cmd.Aliases = []string{"ls"}
	cmd.Flags().BoolVar(&json, "json", false, "one JSON object for each link")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		loc := location.Parse(args[0])
		v, err := loc.Open()
		if err != nil {
			return err
		}
		defer v.Close()
		links, err := serve.Links(cmd.Context(), v.Volume, loc.Path)
		if err != nil {
			return loc.Failure(loc.Path, err)
		}
		c.printLinks(links, json)
		return nil
	}
	return cmd
}

func (c *command) printLinks(links []serve.Link, json bool) {
	for i := range links {
		l := &links[i]
		expires := l.Expires.Local().Format("2006-01-02 15:04:05 -0700")
		c.list(json, linkOf(l), "%s  %-7s  %s  %-8s  %s%s\n", l.ID[:shownID], linkState(l), expires, cmp.Or(l.User, "-"), c.Name(l.Path), used(l))
	}
}

// linkState returns the use of a link, read or upload, or the reason why it has none.
func linkState(l *serve.Link) string {
	switch {
	case l.Expired():
		return "expired"
	case l.Gone:
		return "gone"
	case l.Upload:
		return "upload"
	}
	return "read"
}

// used says how much of a limit was uploaded.
func used(l *serve.Link) string {
	if l.MaxSize == 0 {
		return ""
	}
	return fmt.Sprintf("  %s of %s bytes", value.Grouped(l.Used), value.Grouped(l.MaxSize))
}

// jsonTime writes a time as value.JSONTime does, also one that no number of nanoseconds holds: the
// record may say anything.
func jsonTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func linkOf(l *serve.Link) linkJSON {
	j := linkJSON{
		ID: l.ID, JSONPath: value.JSONPathOf(l.Path), Rights: "read", State: "open", User: l.User, Snapshot: value.JSONText(l.Snapshot),
		Made: jsonTime(l.Made), MaxSize: l.MaxSize, Used: l.Used,
	}
	if l.Upload {
		j.Rights = "upload"
	}
	if l.Gone || l.Expired() {
		j.State = linkState(l)
	}
	if !l.Expires.IsZero() {
		j.Expires = jsonTime(l.Expires)
	}
	return j
}
