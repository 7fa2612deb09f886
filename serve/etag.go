package serve

import (
	"io/fs"
	"strings"

	"github.com/foliofs/folio/adapter/web"
)

// etag returns the ETag of a file. It is strong: another content has another one.
func (p *place) etag(info fs.FileInfo) string { return web.ETag(info) }

// codedTag returns the ETag of a compressed variant of the content with an ETag.
func codedTag(tag, coding string) string {
	return strings.TrimSuffix(tag, `"`) + "-" + coding + `"`
}

// plainTag returns the ETag of the content that an ETag is of a compressed variant of.
func plainTag(tag string) string {
	for _, coding := range codings {
		if rest, ok := strings.CutSuffix(tag, "-"+coding+`"`); ok {
			return rest + `"`
		}
	}
	return tag
}

// listed reports whether a list of ETags has one; "*" matches every file. The ETag of a compressed
// variant stands for the content.
func listed(list, tag string) bool {
	if tag == "" {
		return false
	}
	for one := range strings.SplitSeq(list, ",") {
		one = strings.TrimSpace(one)
		if one == "*" || plainTag(one) == tag {
			return true
		}
	}
	return false
}
