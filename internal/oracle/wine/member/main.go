// Command member is one side of a database that is written by this engine and by C SQLite. It
// obeys commands on standard input, and answers each with a line:
//
//	open PATH   opens the database, which exists
//	put N       inserts N rows, in a transaction each
//	count       prints how many rows there are
//	check       prints "ok" or what integrity_check says
//	close       closes the database
package main

import (
	"bufio"
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	sqlite3 "github.com/mattn/go-sqlite3"

	"github.com/foliofs/folio/sqlitefile"
)

// A side is an engine with a database.
type side interface {
	open(path string) error
	put() error
	count() (int64, error)
	check() (string, error)
	close() error
}

func main() {
	var s side = new(ours)
	if os.Args[1] == "c" {
		s = new(c)
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		words := strings.SplitN(in.Text(), " ", 2)
		answer, err := obey(s, words[0], words[len(words)-1])
		if err != nil {
			answer = "error: " + strings.ReplaceAll(err.Error(), "\n", " ")
		}
		fmt.Println(answer)
	}
}

func obey(s side, command, argument string) (string, error) {
	switch command {
	case "open":
		return "ok", s.open(argument)
	case "put":
		n, err := strconv.Atoi(argument)
		for ; n > 0 && err == nil; n-- {
			err = s.put()
		}
		return "ok", err
	case "count":
		n, err := s.count()
		return strconv.FormatInt(n, 10), err
	case "check":
		return s.check()
	case "close":
		return "ok", s.close()
	}
	return "", fmt.Errorf("unknown command %q", command)
}

// patience is how long a side waits for the other one.
const patience = time.Minute

// ours is this engine.
type ours struct{ db *sqlitefile.DB }

func (o *ours) open(path string) (err error) {
	o.db, err = sqlitefile.Open(path, &sqlitefile.Options{BusyTimeout: patience, Durability: sqlitefile.DurabilityOff})
	return err
}

func (o *ours) put() error {
	return o.db.Update(context.Background(), func(tx *sqlitefile.Tx) error {
		t, err := tx.Table("t")
		if err == nil {
			_, err = t.Insert(nil, strings.Repeat("ours ", 20))
		}
		return err
	})
}

func (o *ours) count() (n int64, err error) {
	err = o.db.View(context.Background(), func(rx *sqlitefile.Rx) error {
		t, err := rx.Table("t")
		if err != nil {
			return err
		}
		for _, err := range t.All() {
			if err != nil {
				return err
			}
			n++
		}
		return nil
	})
	return n, err
}

func (o *ours) check() (string, error) {
	_, err := o.db.Check(context.Background(), nil)
	return "ok", err
}

func (o *ours) close() error { return o.db.Close() }

// c is C SQLite.
type c struct{ conn driver.Conn }

func (s *c) open(path string) (err error) {
	s.conn, err = (&sqlite3.SQLiteDriver{}).Open("file:" + strings.ReplaceAll(path, `\`, "/") + "?_busy_timeout=60000&_synchronous=OFF")
	return err
}

func (s *c) put() error {
	_, err := s.conn.(driver.ExecerContext).ExecContext(context.Background(),
		"INSERT INTO t VALUES(NULL, 'C SQLite' || hex(zeroblob(40)))", nil)
	return err
}

func (s *c) count() (int64, error) {
	v, err := s.query("SELECT count(*) FROM t")
	n, _ := v.(int64)
	return n, err
}

func (s *c) check() (string, error) {
	v, err := s.query("PRAGMA integrity_check")
	return fmt.Sprint(v), err
}

func (s *c) query(text string) (driver.Value, error) {
	rows, err := s.conn.(driver.QueryerContext).QueryContext(context.Background(), text, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	row := make([]driver.Value, 1)
	if err := rows.Next(row); err != nil && err != io.EOF {
		return nil, err
	}
	return row[0], nil
}

func (s *c) close() error { return s.conn.Close() }
