package pgstore

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
)

// PlainAddress returns the address of the database of a volume, in which the volume's schema comes
// before all others.
func PlainAddress(volume string) string {
	a, err := parseAddress(volume)
	if err != nil {
		panic(err)
	}
	c := a.config.ConnConfig
	return "postgres://" + c.User + "@/" + c.Database + "?host=" + c.Host + "&search_path=" + string(a.schema)
}

// AdmitServer refuses a server that is too old.
var AdmitServer = admitServer

// Latest is the version of the tables.
var Latest = latest()

// MakeVersion makes the tables of a volume as an older version of this package did.
func MakeVersion(t testing.TB, c *pgx.Conn, volume string, version int) {
	t.Helper()
	a, err := parseAddress(volume)
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{"CREATE SCHEMA " + a.schema.quoted()}
	for _, m := range migrations[:version] {
		texts = append(texts, m...)
	}
	for _, text := range texts {
		if _, err := c.Exec(context.Background(), a.schema.in(text)); err != nil {
			t.Fatal(err)
		}
	}
}

// Beat shows once that the session lives, and removes others that do not.
func Beat(s *Store) error { return s.beat(context.Background()) }

// Sleep ends what shows that the session lives.
func Sleep(s *Store) { s.session.stop() }
