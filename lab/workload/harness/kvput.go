package harness

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/foliofs/folio/lab/workload"
)

// kvPairs keeps values by their number.
type kvPairs struct{ KV }

func (k kvPairs) Busy() int64 { return 0 }

func (k kvPairs) Session() (workload.PairSession, error) { return kvPairSession{kvShared(k)}, nil }

type kvPairSession struct{ kvShared }

// The kinds of keys.
const (
	pairKeys = 'p' // then the number
	itemKeys = 'n' // then the number
	aKeys    = 'a' // then the column and the number
	bKeys    = 'b' // then the column, a zero, and the number
)

// numberKey is a key of a kind and a number.
func numberKey(kind byte, n int64) []byte {
	return binary.BigEndian.AppendUint64(append(make([]byte, 0, 32), kind), uint64(n))
}

// lastNumber is the number at the end of a key.
func lastNumber(key []byte) int64 { return int64(binary.BigEndian.Uint64(key[len(key)-8:])) }

func (s kvPairSession) Put(key int64, value []byte) error {
	return s.Update(func(tx KVTx) error { return tx.Put(numberKey(pairKeys, key), value) })
}

func (s kvPairSession) Each(fn func(key int64, value []byte) error) error {
	return s.View(func(tx KVTx) error {
		return tx.Scan([]byte{pairKeys}, func(key, value []byte) error { return fn(lastNumber(key), value) })
	})
}

// kvItems keeps items by their number, and two indexes, as a program does that needs the features
// of SQL.
type kvItems struct{ KV }

func (k kvItems) Load(items []workload.Item) error {
	return k.Update(func(tx KVTx) error {
		for i := range items {
			if err := putItemKeys(tx, &items[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func putItemKeys(tx KVTx, it *workload.Item) error {
	value := append(numberKey(aKeys, it.A), it.B...)
	value = append(append(value, 0), it.Body...)
	return errors.Join(
		tx.Put(numberKey(itemKeys, it.ID), value),
		tx.Put(binary.BigEndian.AppendUint64(numberKey(aKeys, it.A), uint64(it.ID)), nil),
		tx.Put(binary.BigEndian.AppendUint64(append(append([]byte{bKeys}, it.B...), 0), uint64(it.ID)), nil),
	)
}

func (k kvItems) Each(fn func(it *workload.Item) error) error {
	return k.View(func(tx KVTx) error {
		return tx.Scan([]byte{itemKeys}, func(key, value []byte) error {
			const head = 1 + 8
			if len(value) < head {
				return errors.New("an item without its columns")
			}
			b, body, _ := bytes.Cut(value[head:], []byte{0})
			return fn(&workload.Item{ID: lastNumber(key), A: lastNumber(value[:head]), B: string(b), Body: string(body)})
		})
	})
}

func (k kvItems) By(column string, fn func(id int64) error) error {
	return k.View(func(tx KVTx) error {
		return tx.Scan([]byte(column), func(key, _ []byte) error { return fn(lastNumber(key)) })
	})
}
