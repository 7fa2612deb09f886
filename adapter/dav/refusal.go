package dav

import (
	"encoding/xml"
	"errors"
	"io/fs"
	"net/http"
	"strings"
)

// A Refusal is an error with the status that answers it.
type Refusal struct {
	Err    error
	Status int
	// Condition is the name that RFC 4918, section 16, has for the reason, or "". Href is the URL
	// that the condition is about, as in XML, or "".
	Condition, Href string
}

func (r *Refusal) Error() string { return r.Err.Error() }

func (r *Refusal) Unwrap() error { return r.Err }

// refuse makes an error that is answered with a status.
func refuse(err error, status int) error { return &Refusal{Err: err, Status: status} }

// Body returns the XML that tells a program the condition, and "" if there is none.
func (r *Refusal) Body() string {
	if r.Condition == "" {
		return ""
	}
	return `<?xml version="1.0" encoding="utf-8"?>` + "\n" + `<D:error xmlns:D="DAV:">` + r.element() + "</D:error>\n"
}

func (r *Refusal) element() string {
	if r.Href == "" {
		return "<D:" + r.Condition + "/>"
	}
	return "<D:" + r.Condition + "><D:href>" + r.Href + "</D:href></D:" + r.Condition + ">"
}

// send answers a request that failed.
func (r *Refusal) send(w http.ResponseWriter) {
	body := r.Body()
	if body == "" {
		http.Error(w, messageOf(r.Err, r.Status), r.Status)
		return
	}
	w.Header().Set("Content-Type", xmlType)
	w.WriteHeader(r.Status)
	_, _ = w.Write([]byte(body)) // no client is left to be told of an error
}

const xmlType = "application/xml; charset=utf-8"

// refusalOf returns the answer to an error.
func refusalOf(err error, status int) *Refusal {
	if r, ok := errors.AsType[*Refusal](err); ok {
		return r
	}
	return &Refusal{Err: err, Status: status}
}

// escapeXML returns a text as it stands in XML.
func escapeXML(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes all
	return b.String()
}

// messageOf returns the text of an error for a client, without the path of the volume.
func messageOf(err error, status int) string {
	if status == http.StatusInternalServerError {
		return http.StatusText(status)
	}
	for e, ok := errors.AsType[*fs.PathError](err); ok; e, ok = errors.AsType[*fs.PathError](err) {
		err = e.Err
	}
	return err.Error()
}
