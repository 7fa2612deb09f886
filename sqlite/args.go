package sqlite

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"math"
	"reflect"
	"time"

	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/sqlitefile"
)

// setArgs gives the parameters their values.
func (s *statement) setArgs(args []any) error {
	clear(s.params)
	for i, a := range args {
		name := ""
		if n, ok := a.(sql.NamedArg); ok {
			name, a = n.Name, n.Value
		}
		v, err := valueOf(a)
		if err == nil {
			err = s.setArg(i+1, name, v)
		}
		if err != nil {
			return err
		}
	}
	if len(args) < len(s.params) && len(s.names) == 0 {
		return fmt.Errorf("not enough arguments: the statement has %d parameters, not %d", len(s.params), len(args))
	}
	return nil
}

// setNamed gives the parameters the values that database/sql has for them.
func (s *statement) setNamed(args []driver.NamedValue) error {
	clear(s.params)
	for i := range args {
		v, err := valueOf(args[i].Value)
		if err == nil {
			err = s.setArg(args[i].Ordinal, args[i].Name, v)
		}
		if err != nil {
			return err
		}
	}
	if len(args) < len(s.params) && (len(s.names) == 0 || len(args) == 0) {
		return errFewArguments(len(s.params), len(args))
	}
	return nil
}

// setArg gives a parameter its value, by its number or its name.
func (s *statement) setArg(number int, name string, v record.Value) error {
	if name == "" {
		if number > len(s.params) {
			return &Error{Code: CodeRange, Extended: CodeRange, Message: "column index out of range"}
		}
		s.params[number-1] = v
		return nil
	}
	for _, p := range s.names {
		if len(p.Name) > 1 && p.Name[1:] == name {
			s.params[p.Number-1] = v
		}
	}
	return nil
}

// valueOf makes a value of an argument.
func valueOf(a any) (record.Value, error) {
	switch a := a.(type) {
	case nil:
		return record.Value{}, nil
	case int64:
		return record.OfInt(a), nil
	case int:
		return record.OfInt(int64(a)), nil
	case string:
		return record.OfText(record.TextBytes(a)), nil
	case []byte:
		if a == nil {
			return record.Value{}, nil
		}
		return record.OfBlob(a), nil
	case float64:
		return record.OfFloat(a), nil
	case bool:
		if a {
			return record.OfInt(1), nil
		}
		return record.OfInt(0), nil
	case time.Time:
		return record.OfText([]byte(a.Format("2006-01-02 15:04:05.999999999-07:00"))), nil
	case sqlitefile.Value:
		return sqlitefile.RecordOf(private.Key{}, a), nil
	case driver.Valuer:
		v, err := a.Value()
		if err != nil {
			return record.Value{}, err
		}
		if _, again := v.(driver.Valuer); !again {
			return valueOf(v)
		}
	}
	return reflected(a)
}

// reflected makes a value of an argument whose type is one of Go's own by another name, or a
// pointer to one.
func reflected(a any) (record.Value, error) {
	v := reflect.ValueOf(a)
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return record.Value{}, nil
		}
		return valueOf(v.Elem().Interface())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return record.OfInt(v.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if v.Uint() > math.MaxInt64 {
			return record.Value{}, fmt.Errorf("the argument %d is larger than an INTEGER", v.Uint())
		}
		return record.OfInt(int64(v.Uint())), nil
	case reflect.Float32, reflect.Float64:
		return record.OfFloat(v.Float()), nil
	case reflect.Bool:
		return valueOf(v.Bool())
	case reflect.String:
		return valueOf(v.String())
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return valueOf(v.Bytes())
		}
	}
	return record.Value{}, fmt.Errorf("an argument cannot be a %T", a)
}

func errFewArguments(want, have int) error {
	return fmt.Errorf("not enough args to execute query: want %d got %d", want, have)
}
