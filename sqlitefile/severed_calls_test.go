package sqlitefile

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/private"
)

// wrong returns errWrong unless got is want. An error that is there goes first.
func wrong[T comparable](got, want T, err error) error {
	if err == nil && got != want {
		err = fmt.Errorf("%w: %.60v, want %.60v", errWrong, got, want)
	}
	return err
}

// readSevered reads all rows of both tables and of the index.
func readSevered(rx *Rx) error {
	for _, name := range []string{"t", "k"} {
		t, err := rx.Table(name)
		if err != nil {
			return err
		}
		if err := severedAll(t.All(), 1, severedRows); err != nil {
			return err
		}
	}
	x, err := rx.Index("by_b")
	if err != nil {
		return err
	}
	return severedCount(x.All(), severedRows)
}

// severedAll wants the rows from first to last in a sequence, forward or backward.
func severedAll(rows iter.Seq2[Row, error], first, last int64) error {
	step := int64(1)
	if first > last {
		step = -1
	}
	i := first
	for row, err := range rows {
		if err == nil {
			err = severedRow(&row, i)
		}
		if err != nil {
			return err
		}
		i += step
	}
	return wrong(i, last+step, nil)
}

func severedRow(row *Row, i int64) error {
	text, err := row.Text(1)
	return wrong(text, severedText(i), err)
}

func severedCount(rows iter.Seq2[Row, error], want int) error {
	n := 0
	for _, err := range rows {
		if err != nil {
			return err
		}
		n++
	}
	return wrong(n, want, nil)
}

// table makes a call of what is done to table t, or k.
func onTable(name string, fn func(t Table) error) severedCall {
	return severedCall{inRx, func(v *severed) error {
		t, err := v.rx.Table(name)
		if err != nil {
			return err
		}
		return fn(t)
	}}
}

func onIndex(fn func(x Index) error) severedCall {
	return severedCall{inRx, func(v *severed) error {
		x, err := v.rx.Index("by_b")
		if err != nil {
			return err
		}
		return fn(x)
	}}
}

func onWriter(name string, fn func(t TableWriter) error) severedCall {
	return severedCall{inTx, func(v *severed) error {
		t, err := v.tx.Table(name)
		if err != nil {
			return err
		}
		return fn(t)
	}}
}

// onRow calls fn with row 7, whose text lies in overflow pages.
func onRow(fn func(row *Row) error) severedCall {
	return onTable("t", func(t Table) error {
		row, ok, err := t.Get(7)
		if err := wrong(ok, true, err); err != nil {
			return err
		}
		return fn(&row)
	})
}

// onCursor calls fn with a cursor at row 100.
func onCursor(fn func(c *Cursor) error) severedCall {
	return onTable("t", func(t Table) error {
		c := t.Cursor()
		ok, err := c.SeekRowid(100)
		if err := wrong(ok, true, err); err != nil {
			return err
		}
		return fn(c)
	})
}

// at wants the cursor to be at a row.
func at(c *Cursor, i int64, ok bool, err error) error {
	if err := wrong(ok, true, err); err != nil {
		return err
	}
	row, err := c.Row()
	if err != nil {
		return err
	}
	return severedRow(&row, i)
}

func onDB(fn func(ctx context.Context, db *DB) error) severedCall {
	return severedCall{inDB, func(v *severed) error { return fn(context.Background(), v.db) }}
}

// row wants a row that was found.
func found(row Row, i int64, ok bool, err error) error {
	if err := wrong(ok, true, err); err != nil {
		return err
	}
	return severedRow(&row, i)
}

var pure = severedCall{}

// severedCalls are all exported functions of this package.
var severedCalls = map[string]severedCall{
	"OpenReaderAt": pure, "OpenMemory": pure, "Including": pure, "Excluding": pure, "RemoveAbandoned": pure, "IsTemporary": pure, "Build": pure, "Builder.Create": pure, "Builder.Table": pure, "CheckReport.OK": pure, "ConstraintError.Error": pure, "ConstraintError.Is": pure,
	"CheckpointMode.String": pure, "Constraint.String": pure, "Durability.String": pure, "JournalMode.String": pure,
	"EventKind.String": pure, "Kind.String": pure, "Problem.String": pure, "Stats.GroupSize": pure,
	"TableBuilder.Append": pure, "TableBuilder.AppendKey": pure, "TableBuilder.Name": pure, "TableBuilder.Rows": pure,
	"Object.Malformed": pure,
	"ValueOf":          pure, "RecordOf": pure, "Assign": pure, "Clause": pure, "Restricted": pure,
	"Value.Int64": pure, "Value.Float64": pure, "Value.Any": pure, "Value.Bytes": pure, "Value.IsNull": pure, "Value.Kind": pure, "Value.String": pure, "Value.Text": pure,

	"Open": {inDB, func(v *severed) error {
		db, err := Open(v.path, &Options{NoMmap: v.plain, Durability: DurabilityOff})
		if err != nil {
			return err
		}
		return dberr.Join(db.View(context.Background(), readSevered), db.Close())
	}},
	"DB.Path":      onDB(func(_ context.Context, db *DB) error { _ = db.Path(); return nil }),
	"DB.Stats":     onDB(func(_ context.Context, db *DB) error { _ = db.Stats(); return nil }),
	"DB.Version":   onDB(func(_ context.Context, db *DB) error { _, _ = db.Version(); return nil }),
	"DB.View":      onDB(func(ctx context.Context, db *DB) error { return db.View(ctx, readSevered) }),
	"DB.BeginView": onDB(beginSevered),
	"DB.Backup":    onDB(func(ctx context.Context, db *DB) error { return db.Backup(ctx, io.Discard) }),
	"DB.BackupFile": onDB(func(ctx context.Context, db *DB) error {
		name := db.Path() + ".backup"
		defer os.Remove(name)
		return db.BackupFile(ctx, name, nil)
	}),
	"DB.Check": onDB(func(ctx context.Context, db *DB) error {
		_, err := db.Check(ctx, &CheckOptions{Progress: func(int64, int64) {}})
		return err
	}),
	"DB.Checkpoint": onDB(func(ctx context.Context, db *DB) error {
		var err error
		for mode := CheckpointPassive; mode <= CheckpointTruncate && err == nil; mode++ {
			err = db.Checkpoint(ctx, mode)
		}
		return err
	}),
	"DB.Close": {inDB, func(v *severed) error { return v.again(v.db.Close()) }},
	"DB.Compact": onDB(func(ctx context.Context, db *DB) error {
		return db.Compact(ctx, &CompactOptions{Progress: func(int64, int64) {}})
	}),
	"DB.Exec": {inDB, func(v *severed) error { return v.db.Exec(context.Background(), "CREATE TABLE "+v.newName()+" (a)") }},
	"DB.Internal": onDB(func(_ context.Context, db *DB) error {
		i := db.Internal(private.Key{})
		_, err := i.Pinned(1)
		return dberr.Join(err, i.Pin(1), i.Unpin(1))
	}),
	"DB.JournalMode": onDB(func(ctx context.Context, db *DB) error { _, err := db.JournalMode(ctx); return err }),
	"DB.SetJournalMode": onDB(func(ctx context.Context, db *DB) error {
		if err := db.SetJournalMode(ctx, JournalWAL); err != nil {
			return err
		}
		return db.SetJournalMode(ctx, JournalTruncate)
	}),
	"DB.Sync": onDB(func(ctx context.Context, db *DB) error { return db.Sync(ctx) }),
	"DB.Batch": onDB(func(ctx context.Context, db *DB) error {
		return db.Batch(ctx, func(tx *Tx) error { return insertSevered(tx, severedRows+1, 3*severedRows) })
	}),
	"DB.Update": onDB(func(ctx context.Context, db *DB) error {
		return db.Update(ctx, func(tx *Tx) error { return insertSevered(tx, severedRows+1, 3*severedRows) })
	}),

	"Rx.Check": {inRx, func(v *severed) error {
		_, err := v.rx.Check(context.Background(), &CheckOptions{Progress: func(int64, int64) {}})
		return err
	}},
	"Rx.End":     onDB(beginSevered),
	"Rx.Guard":   {inRx, func(v *severed) error { return v.rx.Guard(func() error { return readSevered(v.rx) }) }},
	"Rx.Index":   onIndex(func(x Index) error { return wrong(x.Name(), "by_b", nil) }),
	"Rx.Info":    {inRx, func(v *severed) error { return wrong(v.rx.Info().PageSize, 4096, nil) }},
	"Rx.Objects": {inRx, func(v *severed) error { o, err := v.rx.Objects(); return wrong(len(o), 3, err) }},
	"Rx.Table":   onTable("t", func(t Table) error { return wrong(t.Name(), "t", nil) }),
	"Rx.Version": {inRx, func(v *severed) error { _ = v.rx.Version(); return nil }},

	"Rx.ApplicationID": {inRx, func(v *severed) error { return wrong(v.rx.ApplicationID(), 0, nil) }},
	"Rx.UserVersion":   {inRx, func(v *severed) error { return wrong(v.rx.UserVersion(), 0, nil) }},
	"Rx.IndexOn": {inRx, func(v *severed) error {
		x, err := v.rx.IndexOn("t", "b")
		if err != nil {
			return err
		}
		return wrong(x.Name(), "by_b", nil)
	}},

	"Table.Column": onTable("t", func(t Table) error { i, err := t.Column("b"); return wrong(i, 1, err) }),
	"Table.RangeKey": onTable("k", func(t Table) error {
		return severedAll(t.RangeKey(Including(40), Excluding(161)), 40, 160)
	}),
	"Table.RangeKeyBackward": onTable("k", func(t Table) error {
		return severedAll(t.RangeKeyBackward(Including(40), Excluding(161)), 160, 40)
	}),
	"Table.All":      onTable("t", func(t Table) error { return severedAll(t.All(), 1, severedRows) }),
	"Table.Backward": onTable("t", func(t Table) error { return severedAll(t.Backward(), severedRows, 1) }),
	"Table.Columns":  onTable("t", func(t Table) error { return wrong(len(t.Columns()), 2, nil) }),
	"Table.Cursor":   onCursor(func(c *Cursor) error { return at(c, 100, true, nil) }),
	"Table.Find":     onTable("k", func(t Table) error { row, ok, err := t.Find(70); return found(row, 70, ok, err) }),
	"Table.Get":      onTable("t", func(t Table) error { row, ok, err := t.Get(170); return found(row, 170, ok, err) }),
	"Table.Internal": onTable("t", func(t Table) error {
		span, ok, err := t.Internal(private.Key{}).Span(t.def.Root)
		return wrong(ok && !span.Low.None, false, err)
	}),
	"Table.Name":         onTable("t", func(t Table) error { return wrong(t.Name(), "t", nil) }),
	"Table.Prefix":       onTable("k", func(t Table) error { return severedAll(t.Prefix(70), 70, 70) }),
	"Table.Range":        onTable("t", func(t Table) error { return severedAll(t.Range(40, 160), 40, 160) }),
	"Table.ReadAt":       onTable("t", readAtSevered),
	"Table.WithoutRowid": onTable("k", func(t Table) error { return wrong(t.WithoutRowid(), true, nil) }),

	"Index.Backward": onIndex(func(x Index) error { return severedCount(x.Backward(), severedRows) }),
	"Index.Column":   onIndex(func(x Index) error { i, err := x.Column("b"); return wrong(i, 0, err) }),
	"Index.Range": onIndex(func(x Index) error {
		return severedCount(x.Range(Including(severedText(7)), Including(severedText(7))), 1)
	}),
	"Index.RangeBackward": onIndex(func(x Index) error {
		return severedCount(x.RangeBackward(Including(severedText(7)), Including(severedText(7))), 1)
	}),
	"Index.All":     onIndex(func(x Index) error { return severedCount(x.All(), severedRows) }),
	"Index.Columns": onIndex(func(x Index) error { return wrong(len(x.Columns()), 1, nil) }),
	"Index.Cursor": onIndex(func(x Index) error {
		c := x.Cursor()
		ok, err := c.SeekKey(severedText(50))
		return wrong(ok, true, err)
	}),
	"Index.Find": onIndex(func(x Index) error { rowid, _, err := x.Find(severedText(50)); return wrong(rowid, 50, err) }),
	"Index.FindRow": onIndex(func(x Index) error {
		row, ok, err := x.FindRow(severedText(50))
		return wrong(ok && row.Len() > 0, true, err)
	}),
	"Index.Internal": onIndex(func(x Index) error {
		c := new(Cursor)
		i := c.Internal(private.Key{})
		i.ResetIndex(x.Internal(private.Key{}).At(x.rx))
		ok, err := i.Seek(nil, false)
		return wrong(ok, true, err)
	}),
	"Index.Name":   onIndex(func(x Index) error { return wrong(x.Name(), "by_b", nil) }),
	"Index.Prefix": onIndex(func(x Index) error { return severedCount(x.Prefix(severedText(7)), 1) }),
	"Index.Table":  onIndex(func(x Index) error { return wrong(x.Table(), "t", nil) }),

	"Cursor.First": onCursor(func(c *Cursor) error { ok, err := c.First(); return at(c, 1, ok, err) }),
	"Cursor.Internal": onCursor(func(c *Cursor) error {
		n, err := c.Internal(private.Key{}).Count(func() error { return nil })
		return wrong(n, severedRows, err)
	}),
	"Cursor.Last": onCursor(func(c *Cursor) error { ok, err := c.Last(); return at(c, severedRows, ok, err) }),
	"Cursor.Next": onCursor(func(c *Cursor) error { return walkSevered(c, c.Next, 101, 1) }),
	"Cursor.Prev": onCursor(func(c *Cursor) error { return walkSevered(c, c.Prev, 99, -1) }),
	"Cursor.Reset": onTable("t", func(t Table) error {
		c := t.Cursor()
		c.Reset(t)
		ok, err := c.First()
		return at(c, 1, ok, err)
	}),
	"Cursor.Row":       onCursor(func(c *Cursor) error { return at(c, 100, true, nil) }),
	"Cursor.SeekKey":   onIndex(func(x Index) error { ok, err := x.Cursor().SeekKey(severedText(150)); return wrong(ok, true, err) }),
	"Cursor.SeekRowid": onCursor(func(c *Cursor) error { ok, err := c.SeekRowid(7); return at(c, 7, ok, err) }),
	"Cursor.Values":    onCursor(func(c *Cursor) error { return severedValues(c.Values) }),
	"Cursor.ValuesUpTo": onCursor(func(c *Cursor) error {
		return severedValues(func(dst []Value) error { return c.ValuesUpTo(1000, dst) })
	}),

	"Row.Bytes": onRow(func(row *Row) error { b, err := row.Bytes(1); return wrong(string(b), severedText(7), err) }),
	"Row.Internal": onRow(func(row *Row) error {
		v, err := row.Internal(private.Key{}).Value(0)
		return wrong(v.Int(), 7, err)
	}),
	"Row.Int64":   onRow(func(row *Row) error { n, err := row.Int64(0); return wrong(n, 7, err) }),
	"Row.Float64": onRow(func(row *Row) error { x, err := row.Float64(0); return wrong(x, 7, err) }),
	"Row.Time":    onRow(func(row *Row) error { _, err := row.Time(0); return err }),
	"Row.Kind":    onRow(func(row *Row) error { kind, err := row.Kind(1); return wrong(kind, KindText, err) }),
	"Row.Len":     onRow(func(row *Row) error { return wrong(row.Len(), 2, nil) }),
	"Row.ReadAt": onRow(func(row *Row) error {
		return tailOf7(func(p []byte, off int64) (int, error) { return row.ReadAt(1, p, off) })
	}),
	"Row.Rowid": onRow(func(row *Row) error { return wrong(row.Rowid(), 7, nil) }),
	"Row.Scan": onRow(func(row *Row) error {
		var a int
		var b string
		err := row.Scan(&a, &b)
		return wrong(b, severedText(7), err)
	}),
	"Row.Size":  onRow(func(row *Row) error { n, err := row.Size(1); return wrong(n, 20_000, err) }),
	"Row.Text":  onRow(func(row *Row) error { return severedRow(row, 7) }),
	"Row.Value": onRow(func(row *Row) error { value, err := row.Value(1); return wrong(value.Text(), severedText(7), err) }),
	"Row.Values": onRow(func(row *Row) error {
		dst := make([]Value, 2)
		err := row.Values(dst)
		return wrong(dst[1].Text(), severedText(7), err)
	}),
	"Row.ValuesUpTo": onRow(func(row *Row) error { return row.ValuesUpTo(100, make([]Value, 2)) }),

	"Tx.BeforeCommit": {inTx, func(v *severed) error {
		v.tx.BeforeCommit(func() error { return insertSevered(v.tx, severedRows+1, 2*severedRows) })
		return nil
	}},
	"Tx.UseReserve": {inTx, func(v *severed) error { v.tx.UseReserve(); return insertSevered(v.tx, severedRows+1, 2*severedRows) }},
	"Tx.ReplaceObject": {inTx, func(v *severed) error {
		list, err := v.tx.Objects()
		if err != nil {
			return err
		}
		return v.tx.ReplaceObject(1, list[1])
	}},
	"Tx.SetApplicationID": {inTx, func(v *severed) error { return v.tx.SetApplicationID(7) }},
	"Tx.SetUserVersion":   {inTx, func(v *severed) error { return v.tx.SetUserVersion(7) }},
	"Tx.Internal":         {inTx, func(v *severed) error { _ = v.tx.Internal(private.Key{}).Epoch(); return nil }},
	"Tx.Exec":             {inTx, func(v *severed) error { return v.tx.Exec("CREATE TABLE " + v.newName() + " (a)") }},
	"Tx.Guard":            {inTx, func(v *severed) error { return v.tx.Guard(func() error { return readSevered(v.rx) }) }},
	"Tx.Info":             {inTx, func(v *severed) error { return wrong(v.tx.Info().PageSize, 4096, nil) }},
	"DB.BeginUpdate":      onDB(func(ctx context.Context, db *DB) error { return updateSevered(ctx, db, (*Tx).Commit) }),
	"Tx.Commit":           onDB(func(ctx context.Context, db *DB) error { return updateSevered(ctx, db, (*Tx).Commit) }),
	"Tx.Rollback":         onDB(func(ctx context.Context, db *DB) error { return updateSevered(ctx, db, (*Tx).Rollback) }),
	"Tx.Savepoint":        onSavepoint(func(*Savepoint) error { return nil }),
	"Savepoint.Release":   onSavepoint((*Savepoint).Release),
	"Savepoint.Rollback":  onSavepoint((*Savepoint).Rollback),
	"Tx.Nested": {inTx, func(v *severed) error {
		return v.tx.Nested(func(tx *Tx) error { return insertSevered(tx, severedRows+1, 2*severedRows) })
	}},
	"Tx.Table": onWriter("t", func(TableWriter) error { return nil }),

	"TableWriter.Delete": onWriter("t", func(t TableWriter) error {
		_, err := t.Delete(7)
		return dberr.Join(err, t.Put(7, nil, severedText(7)))
	}),
	"TableWriter.DeleteKey": onWriter("k", func(t TableWriter) error {
		_, err := t.DeleteKey(7)
		return dberr.Join(err, t.PutKey(7, severedText(7)))
	}),
	"TableWriter.DeleteRange": onWriter("t", func(t TableWriter) error { _, err := t.DeleteRange(1, severedRows-10); return err }),
	"TableWriter.Find":        onWriter("k", func(t TableWriter) error { row, ok, err := t.Find(70); return found(row, 70, ok, err) }),
	"TableWriter.Named": onWriter("t", func(t TableWriter) error {
		named, err := t.Named("b")
		if err == nil {
			_, err = named.Insert("x")
		}
		return err
	}),
	"TableWriter.firstColumns": onWriter("t", func(t TableWriter) error { _, err := t.firstColumns(2).Insert(nil, "x"); return err }),
	"TableWriter.Get":          onWriter("t", func(t TableWriter) error { row, ok, err := t.Get(170); return found(row, 170, ok, err) }),
	"TableWriter.Insert":       onWriter("t", func(t TableWriter) error { _, err := t.Insert(nil, "x"); return err }),
	"TableWriter.Internal":     onWriter("t", func(t TableWriter) error { t.Internal(private.Key{}).FirstColumns(2); return nil }),
	"TableWriter.InsertRowid": onWriter("t", func(t TableWriter) error {
		last, _, err := t.LastRowid()
		if err != nil {
			return err
		}
		return t.InsertRowid(last+1, nil, "x")
	}),
	"TableWriter.LastRowid": onWriter("t", func(t TableWriter) error { n, _, err := t.LastRowid(); return wrong(n, severedRows, err) }),
	"TableWriter.Put":       onWriter("t", func(t TableWriter) error { return t.Put(9, nil, severedText(7)) }),
	"TableWriter.PutKey":    onWriter("k", func(t TableWriter) error { return t.PutKey(9, severedText(7)) }),
	"TableWriter.Set":       onWriter("t", func(t TableWriter) error { ok, err := t.Set(170, 1, "x"); return wrong(ok, true, err) }),
	"TableWriter.Update":    onWriter("t", func(t TableWriter) error { ok, err := t.Update(170, nil, "x"); return wrong(ok, true, err) }),
	"TableWriter.WriteAt":   onWriter("t", func(t TableWriter) error { return t.WriteAt(7, 1, []byte("x"), 19_000) }),
}

// updateSevered writes rows between BeginUpdate and end.
func updateSevered(ctx context.Context, db *DB, end func(*Tx) error) error {
	tx, err := db.BeginUpdate(ctx)
	if err != nil {
		return err
	}
	if err := tx.Guard(func() error { return insertSevered(tx, severedRows+1, 2*severedRows) }); err != nil {
		_ = tx.Rollback()
		return err
	}
	return end(tx)
}

// onSavepoint calls fn with a savepoint after which rows were written.
func onSavepoint(fn func(*Savepoint) error) severedCall {
	return severedCall{inTx, func(v *severed) error {
		s, err := v.tx.Savepoint()
		if err != nil {
			return err
		}
		if err := insertSevered(v.tx, severedRows+1, 2*severedRows); err != nil {
			return err
		}
		return fn(s)
	}}
}

// again lets a call be made twice that succeeds once.
func (v *severed) again(err error) error {
	if v.moment == between && err != nil {
		err = nil
	}
	return err
}

// newName returns the name of a table that is not there.
func (v *severed) newName() string {
	v.names++
	return fmt.Sprint("new", v.names)
}

func beginSevered(ctx context.Context, db *DB) error {
	rx, err := db.BeginView(ctx)
	if err != nil {
		return err
	}
	defer rx.End()
	return rx.Guard(func() error { return readSevered(rx) })
}

func walkSevered(c *Cursor, step func() (bool, error), from, by int64) error {
	for i := from; i > 0 && i <= severedRows; i += by {
		ok, err := step()
		if err := at(c, i, ok, err); err != nil {
			return err
		}
	}
	return nil
}

func severedValues(read func(dst []Value) error) error {
	dst := make([]Value, 2)
	err := read(dst)
	return wrong(dst[1].Text(), severedText(100), err)
}

func tailOf7(read func(p []byte, off int64) (int, error)) error {
	p := make([]byte, 100)
	n, err := read(p, 20_000-100)
	if err == io.EOF {
		err = nil
	}
	return wrong(string(p[:n]), severedText(7)[:100], err)
}

func readAtSevered(t Table) error {
	return tailOf7(func(p []byte, off int64) (int, error) {
		n, ok, err := t.ReadAt(7, 1, p, off)
		if err == nil || err == io.EOF {
			err = wrong(ok, true, nil)
		}
		return n, err
	})
}
