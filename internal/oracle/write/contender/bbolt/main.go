// Contender bbolt stores values in go.etcd.io/bbolt.
package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"go.etcd.io/bbolt"

	"github.com/foliofs/folio/internal/oracle/write/bench"
)

func main() {
	bench.Main(bench.Contender{Name: "bbolt", Open: open})
}

var bucket = []byte("pair")

type store struct {
	db *bbolt.DB
	o  bench.Options
}

// open makes the file. Without a sync of its own bbolt promises after a loss of power less than any other here.
func open(o bench.Options) (bench.Store, error) {
	db, err := bbolt.Open(o.File(), 0o666, &bbolt.Options{NoSync: o.Durability != "full", NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return nil, err
	}
	db.NoSync = o.Durability != "full"
	err = db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket(bucket)
		return err
	})
	return &store{db, o}, err
}

func (s *store) Session() (bench.Session, error) {
	out := &session{db: s.db, update: s.db.Update}
	if s.o.Batch {
		out.update = s.db.Batch
	}
	return out, nil
}

func (s *store) Settings() (map[string]string, error) {
	return map[string]string{"nosync": strconv.FormatBool(s.db.NoSync), "batch": strconv.FormatBool(s.o.Batch)}, nil
}

func (s *store) Busy() int64 { return 0 }

func (s *store) Close() error { return s.db.Close() }

type session struct {
	db     *bbolt.DB
	update func(func(*bbolt.Tx) error) error
}

func (s *session) Put(key int64, value []byte) error {
	return s.update(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucket).Put(binary.BigEndian.AppendUint64(nil, uint64(key)), value)
	})
}

func (s *session) Sum() (sum bench.Sum, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucket).ForEach(func(k, v []byte) error {
			if len(k) != 8 {
				return fmt.Errorf("key %x", k)
			}
			sum.Count, sum.IDs, sum.Output = sum.Count+1, sum.IDs+int64(binary.BigEndian.Uint64(k)), sum.Output+int64(len(v))
			return nil
		})
	})
	return sum, err
}

// Tasks have columns and an index, which bbolt does not.

func (s *session) Insert(*bench.Task) error { return errors.ErrUnsupported }

func (s *session) SetStatus(int64, string) error { return errors.ErrUnsupported }

func (s *session) SetOutput(int64, string) error { return errors.ErrUnsupported }

func (s *session) Delete(int64) error { return errors.ErrUnsupported }

func (s *session) Close() error { return nil }
