package archive

import (
	"archive/zip"
	"encoding/binary"
	"hash/crc32"
	"strings"
	"unicode/utf8"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// Systems that made an archive, in the upper byte of CreatorVersion, which have modes, and where a
// backslash is an ordinary byte.
const (
	creatorUnix  = 3
	creatorMacOS = 19
)

// fromUnix reports whether an entry was made on such a system.
func fromUnix(f *zip.File) bool {
	creator := f.CreatorVersion >> 8
	return creator == creatorUnix || creator == creatorMacOS
}

// zipName returns the clean name of an entry. Archives from systems where a backslash may separate
// elements must not have one.
func zipName(f *zip.File) (string, error) {
	name, ok := unicodePath(f)
	if !ok {
		name = zipText(f, f.Name)
	}
	if !fromUnix(f) && strings.Contains(name, `\`) {
		return "", tree.ErrBackslash
	}
	return tree.CleanName(name)
}

// zipUnicodePath is the id of Info-ZIP's field with a name in UTF-8: version 1, the CRC-32 of the
// name that the entry has besides, the name.
const zipUnicodePath = 0x7075

func unicodePath(f *zip.File) (name string, ok bool) {
	for id, p := range zipFields(f.Extra) {
		if id == zipUnicodePath && len(p) > 5 && p[0] == 1 && utf8.Valid(p[5:]) &&
			binary.LittleEndian.Uint32(p[1:]) == crc32.ChecksumIEEE([]byte(f.Name)) {
			return string(p[5:]), true
		}
	}
	return "", false
}

// zipUTF8 is the bit of Flags that says that a name is UTF-8. Without it a name is in the code page
// 437 of the IBM PC (APPNOTE.TXT, appendix D).
const zipUTF8 = 1 << 11

// zipText returns a name, or the target of a symbolic link, as an entry means it. Many programs
// write UTF-8 without saying so: that stays. So do the bytes of an entry that was made on a system
// where a name is any bytes, for example by Folio or by Info-ZIP.
func zipText(f *zip.File, s string) string {
	if utf8.ValidString(s) || f.Flags&zipUTF8 != 0 || fromUnix(f) {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c < utf8.RuneSelf {
			b.WriteByte(c)
		} else {
			b.WriteRune(page437[c-utf8.RuneSelf])
		}
	}
	return b.String()
}

// page437 is the upper half of the code page.
var page437 = []rune("ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐" +
	"└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0")
