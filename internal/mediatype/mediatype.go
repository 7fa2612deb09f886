// Package mediatype tells the media type of a file by the end of its name. Package mime asks the
// files of the system, too, so that two machines would say different things.
package mediatype

import (
	"path"
	"strings"
)

// Of returns the media type (RFC 6838) that a name stands for, and "" if it tells nothing.
func Of(name string) string { return types[strings.ToLower(path.Ext(name))] }

// types maps the last extension of a name to its type.
var types = func() map[string]string {
	m := make(map[string]string)
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		t := fields[0]
		if strings.HasPrefix(t, "text/") {
			t += "; charset=utf-8"
		}
		for _, extension := range fields[1:] {
			m["."+extension] = t
		}
	}
	return m
}()

// table lists the registered types, and for others the names in common use.
const table = `
application/atom+xml atom
application/dash+xml mpd
application/epub+zip epub
application/geo+json geojson
application/gpx+xml gpx
application/gzip gz tgz
application/java-archive jar war ear
application/json json map
application/ld+json jsonld
application/manifest+json webmanifest
application/mbox mbox
application/msword doc dot
application/octet-stream bin dat img dmg
application/ogg ogx
application/pdf pdf
application/pgp-encrypted pgp
application/pgp-signature sig
application/pkcs7-mime p7m p7c
application/pkcs7-signature p7s
application/pkcs10 p10
application/pkix-cert cer
application/pkix-crl crl
application/postscript ps ai eps
application/rss+xml rss
application/rtf rtf
application/sql sql
application/toml toml
application/vnd.amazon.ebook azw
application/vnd.android.package-archive apk
application/vnd.apple.installer+xml mpkg
application/vnd.apple.keynote key
application/vnd.apple.mpegurl m3u8
application/vnd.apple.numbers numbers
application/vnd.apple.pages pages
application/vnd.debian.binary-package deb udeb
application/vnd.google-earth.kml+xml kml
application/vnd.google-earth.kmz kmz
application/vnd.ms-excel xls xlt xla
application/vnd.ms-excel.sheet.macroenabled.12 xlsm
application/vnd.ms-fontobject eot
application/vnd.ms-outlook msg
application/vnd.ms-powerpoint ppt pps pot
application/vnd.ms-powerpoint.presentation.macroenabled.12 pptm
application/vnd.ms-word.document.macroenabled.12 docm
application/vnd.oasis.opendocument.graphics odg
application/vnd.oasis.opendocument.presentation odp
application/vnd.oasis.opendocument.spreadsheet ods
application/vnd.oasis.opendocument.text odt
application/vnd.openxmlformats-officedocument.presentationml.presentation pptx
application/vnd.openxmlformats-officedocument.presentationml.slideshow ppsx
application/vnd.openxmlformats-officedocument.spreadsheetml.sheet xlsx
application/vnd.openxmlformats-officedocument.spreadsheetml.template xltx
application/vnd.openxmlformats-officedocument.wordprocessingml.document docx
application/vnd.openxmlformats-officedocument.wordprocessingml.template dotx
application/vnd.rar rar
application/vnd.sqlite3 sqlite sqlite3 db folio
application/vnd.visio vsd vsdx
application/wasm wasm
application/x-7z-compressed 7z
application/x-apple-diskimage sparseimage
application/x-bittorrent torrent
application/x-bzip2 bz2 tbz2
application/x-cpio cpio
application/x-executable elf
application/x-iso9660-image iso
application/x-lz4 lz4
application/x-lzma lzma
application/x-mobipocket-ebook mobi
application/x-ms-shortcut lnk
application/x-msdownload exe dll
application/x-msi msi
application/x-parquet parquet
application/x-pem-file pem
application/x-rpm rpm
application/x-subrip srt
application/x-tar tar
application/x-xz xz txz
application/xhtml+xml xhtml xht
application/xslt+xml xslt
application/yaml yaml yml
application/zip zip
application/zstd zst
audio/aac aac
audio/aiff aif aiff aifc
audio/amr amr
audio/basic au snd
audio/flac flac
audio/matroska mka
audio/midi mid midi
audio/mp4 m4a m4b
audio/mpeg mp3 mp2
audio/ogg ogg oga opus spx
audio/wav wav
audio/webm weba
audio/x-mpegurl m3u
audio/x-ms-wma wma
audio/x-scpls pls
font/collection ttc
font/otf otf
font/ttf ttf
font/woff woff
font/woff2 woff2
image/apng apng
image/avif avif avifs
image/bmp bmp
image/gif gif
image/heic heic
image/heif heif
image/jp2 jp2 j2k
image/jpeg jpg jpeg jpe jfif
image/jxl jxl
image/png png
image/svg+xml svg
image/tiff tif tiff
image/vnd.adobe.photoshop psd
image/vnd.djvu djvu djv
image/vnd.dxf dxf
image/vnd.dwg dwg
image/webp webp
image/x-adobe-dng dng
image/x-canon-cr2 cr2
image/x-canon-cr3 cr3
image/x-icon ico
image/x-nikon-nef nef
image/x-portable-anymap pnm
image/x-portable-bitmap pbm
image/x-portable-graymap pgm
image/x-portable-pixmap ppm
image/x-sony-arw arw
image/x-xbitmap xbm
message/rfc822 eml mht mhtml
model/3mf 3mf
model/gltf+json gltf
model/gltf-binary glb
model/obj obj
model/step step stp
model/stl stl
text/asciidoc adoc asciidoc
text/calendar ics ifb
text/css css
text/csv csv
text/html html htm
text/javascript js mjs cjs
text/markdown md markdown mdown
text/plain txt text log conf cfg ini properties diff patch asc c h cc cpp cxx hpp cs go java kt rs swift py rb pl pm php lua r jl hs scala sh bash zsh fish bat cmd ps1 ts tsx jsx vue svelte scss sass less mk cmake gradle tex bib rst org nfo lst def env gitignore dockerfile proto graphql
text/tab-separated-values tsv tab
text/troff man
text/vcard vcf vcard
text/vtt vtt
text/xml xml xsd xsl
video/3gpp 3gp
video/3gpp2 3g2
video/x-matroska mkv
video/mp2t mts m2ts
video/mp4 mp4 m4v mp4v
video/mpeg mpg mpeg mpe
video/ogg ogv
video/quicktime mov qt
video/webm webm
video/x-flv flv
video/x-ms-asf asf asx
video/x-ms-wmv wmv
video/x-msvideo avi
`
