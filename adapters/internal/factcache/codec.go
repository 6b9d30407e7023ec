package factcache

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"
	"unsafe"
)

// codec writes values of one type as bytes, and reads them. It follows the type with reflection,
// once, so that an adapter's facts need no second form for the disk: unexported fields and
// embedded structs are included, and a field with the tag `facts:"-"` is not. Types without a
// form on disk (interfaces, functions, channels) are a mistake of the programmer: codecOf panics.
type codec struct {
	shape  string // describes the type: another shape is another format
	append func(to []byte, from unsafe.Pointer) []byte
	read   func(d *decoder, into unsafe.Pointer)
}

// maxDepth is far above the depth of any facts. A type that contains itself exceeds it.
const maxDepth = 32

func codecOf(t reflect.Type) codec { return compile(t, 0) }

var timeType, bytesType = reflect.TypeFor[time.Time](), reflect.TypeFor[[]byte]()

func compile(t reflect.Type, depth int) codec {
	if depth > maxDepth {
		panic(fmt.Sprintf("factcache: %v contains itself", t))
	}
	if t == timeType {
		return codec{"time", appendTime, readTime}
	}
	switch t.Kind() {
	case reflect.Bool:
		return codec{"bool", appendBool, readBool}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return signed(t)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return unsigned(t)
	case reflect.Float64:
		return codec{"float", appendFloat, readFloat}
	case reflect.String:
		return codec{"string", appendString, readString}
	case reflect.Struct:
		return structure(t, depth)
	case reflect.Pointer:
		return pointer(t, depth)
	case reflect.Slice:
		if t == bytesType {
			return codec{"bytes", appendBytes, readBytes}
		}
		return slice(t, depth)
	case reflect.Array:
		return array(t, depth)
	case reflect.Map:
		return mapping(t, depth)
	}
	panic(fmt.Sprintf("factcache: %v has no form on disk", t))
}

var errDamaged = errors.New("damaged")

// decoder reads from bytes that may be anything. After the first error every further value is
// zero.
type decoder struct {
	rest []byte
	err  error
}

func (d *decoder) fail() {
	d.rest, d.err = nil, errDamaged
}

func (d *decoder) uvarint() uint64 { return number(d, binary.Uvarint) }

func (d *decoder) varint() int64 { return number(d, binary.Varint) }

func number[N int64 | uint64](d *decoder, read func([]byte) (N, int)) N {
	n, size := read(d.rest)
	if size <= 0 {
		d.fail()
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

// take returns the next n bytes.
func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.rest)) {
		d.fail()
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

// appendLen appends what count reads: one more than the number of elements of a list or a map, and 0 for a nil one.
func appendLen(to []byte, v reflect.Value) []byte {
	if v.IsNil() {
		return append(to, 0)
	}
	return binary.AppendUvarint(to, uint64(v.Len())+1)
}

// count returns the number of elements of a list or a map. Each element takes at least one byte.
// ok is false for a nil list or map.
func (d *decoder) count() (n int, ok bool) {
	switch more := d.uvarint(); {
	case more == 0:
		return 0, false
	case more-1 > uint64(len(d.rest)):
		d.fail()
		return 0, false
	default:
		return int(more - 1), true
	}
}

func appendBool(to []byte, from unsafe.Pointer) []byte {
	if *(*bool)(from) {
		return append(to, 1)
	}
	return append(to, 0)
}

func readBool(d *decoder, into unsafe.Pointer) {
	b := d.take(1)
	*(*bool)(into) = len(b) == 1 && b[0] == 1
	if len(b) == 1 && b[0] > 1 {
		d.fail()
	}
}

func signed(t reflect.Type) codec {
	return codec{t.Kind().String(),
		func(to []byte, from unsafe.Pointer) []byte {
			return binary.AppendVarint(to, reflect.NewAt(t, from).Elem().Int())
		},
		func(d *decoder, into unsafe.Pointer) {
			n, v := d.varint(), reflect.NewAt(t, into).Elem()
			if v.OverflowInt(n) {
				d.fail()
				return
			}
			v.SetInt(n)
		}}
}

func unsigned(t reflect.Type) codec {
	return codec{t.Kind().String(),
		func(to []byte, from unsafe.Pointer) []byte {
			return binary.AppendUvarint(to, reflect.NewAt(t, from).Elem().Uint())
		},
		func(d *decoder, into unsafe.Pointer) {
			n, v := d.uvarint(), reflect.NewAt(t, into).Elem()
			if v.OverflowUint(n) {
				d.fail()
				return
			}
			v.SetUint(n)
		}}
}

func appendFloat(to []byte, from unsafe.Pointer) []byte {
	return binary.LittleEndian.AppendUint64(to, math.Float64bits(*(*float64)(from)))
}

func readFloat(d *decoder, into unsafe.Pointer) {
	if b := d.take(8); len(b) == 8 {
		*(*float64)(into) = math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
}

func appendString(to []byte, from unsafe.Pointer) []byte {
	s := *(*string)(from)
	return append(binary.AppendUvarint(to, uint64(len(s))), s...)
}

func readString(d *decoder, into unsafe.Pointer) {
	*(*string)(into) = string(d.take(d.uvarint()))
}

func appendBytes(to []byte, from unsafe.Pointer) []byte {
	b := *(*[]byte)(from)
	return append(binary.AppendUvarint(to, uint64(len(b))), b...)
}

// readBytes shares the bytes that are decoded, which nothing changes: what is added to them is added to a copy.
func readBytes(d *decoder, into unsafe.Pointer) {
	*(*[]byte)(into) = nil
	if b := d.take(d.uvarint()); len(b) > 0 {
		*(*[]byte)(into) = b[:len(b):len(b)]
	}
}

// The forms in which a time is written: the zero time, and times by their zone.
const (
	zeroTime = iota
	utcTime
	localTime
	fixedTime // with the seconds east of UTC
)

func appendTime(to []byte, from unsafe.Pointer) []byte {
	at := *(*time.Time)(from)
	if at.IsZero() {
		return append(to, zeroTime)
	}
	_, offset := at.Zone()
	switch at.Location() {
	case time.UTC:
		to = append(to, utcTime)
	case time.Local:
		to = append(to, localTime)
	default:
		to = binary.AppendVarint(append(to, fixedTime), int64(offset))
	}
	return binary.AppendUvarint(binary.AppendVarint(to, at.Unix()), uint64(at.Nanosecond()))
}

func readTime(d *decoder, into unsafe.Pointer) {
	form := d.take(1)
	if len(form) == 0 || form[0] == zeroTime {
		*(*time.Time)(into) = time.Time{}
		return
	}
	zone := time.UTC
	switch form[0] {
	case utcTime:
	case localTime:
		zone = time.Local
	case fixedTime:
		zone = time.FixedZone("", int(d.varint()))
	default:
		d.fail()
	}
	seconds, nanoseconds := d.varint(), d.uvarint()
	if nanoseconds >= 1e9 {
		d.fail()
	}
	if d.err == nil {
		*(*time.Time)(into) = time.Unix(seconds, int64(nanoseconds)).In(zone)
	}
}

func structure(t reflect.Type, depth int) codec {
	type field struct {
		codec
		at uintptr
	}
	var fields []field
	var shape strings.Builder
	shape.WriteByte('{')
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Tag.Get("facts") == "-" {
			continue
		}
		c := compile(f.Type, depth+1)
		fmt.Fprintf(&shape, "%s %s;", f.Name, c.shape)
		fields = append(fields, field{c, f.Offset})
	}
	shape.WriteByte('}')
	return codec{shape.String(),
		func(to []byte, from unsafe.Pointer) []byte {
			for i := range fields {
				to = fields[i].append(to, unsafe.Add(from, fields[i].at))
			}
			return to
		},
		func(d *decoder, into unsafe.Pointer) {
			for i := range fields {
				fields[i].read(d, unsafe.Add(into, fields[i].at))
			}
		}}
}

func pointer(t reflect.Type, depth int) codec {
	c := compile(t.Elem(), depth+1)
	return codec{"*" + c.shape,
		func(to []byte, from unsafe.Pointer) []byte {
			target := *(*unsafe.Pointer)(from)
			if target == nil {
				return append(to, 0)
			}
			return c.append(append(to, 1), target)
		},
		func(d *decoder, into unsafe.Pointer) {
			var there bool
			readBool(d, unsafe.Pointer(&there))
			target := reflect.NewAt(t, into).Elem()
			if !there {
				target.SetZero()
				return
			}
			value := reflect.New(t.Elem())
			c.read(d, value.UnsafePointer())
			target.Set(value)
		}}
}

func slice(t reflect.Type, depth int) codec {
	c, size := compile(t.Elem(), depth+1), t.Elem().Size()
	return codec{"[]" + c.shape,
		func(to []byte, from unsafe.Pointer) []byte {
			v := reflect.NewAt(t, from).Elem()
			to = appendLen(to, v)
			for i := range v.Len() {
				to = c.append(to, unsafe.Add(v.UnsafePointer(), uintptr(i)*size))
			}
			return to
		},
		func(d *decoder, into unsafe.Pointer) {
			v := reflect.NewAt(t, into).Elem()
			n, ok := d.count()
			if !ok {
				v.SetZero()
				return
			}
			v.Set(reflect.MakeSlice(t, 0, min(n, 64)))
			one := reflect.New(t.Elem())
			for range n {
				one.Elem().SetZero()
				if c.read(d, one.UnsafePointer()); d.err != nil {
					return
				}
				v.Set(reflect.Append(v, one.Elem()))
			}
		}}
}

func array(t reflect.Type, depth int) codec {
	c, size := compile(t.Elem(), depth+1), t.Elem().Size()
	return codec{fmt.Sprintf("[%d]%s", t.Len(), c.shape),
		func(to []byte, from unsafe.Pointer) []byte {
			for i := range t.Len() {
				to = c.append(to, unsafe.Add(from, uintptr(i)*size))
			}
			return to
		},
		func(d *decoder, into unsafe.Pointer) {
			for i := range t.Len() {
				c.read(d, unsafe.Add(into, uintptr(i)*size))
			}
		}}
}

func mapping(t reflect.Type, depth int) codec {
	key, value := compile(t.Key(), depth+1), compile(t.Elem(), depth+1)
	return codec{"map[" + key.shape + "]" + value.shape,
		func(to []byte, from unsafe.Pointer) []byte {
			v := reflect.NewAt(t, from).Elem()
			to = appendLen(to, v)
			k, e := reflect.New(t.Key()), reflect.New(t.Elem())
			for all := v.MapRange(); all.Next(); {
				k.Elem().SetIterKey(all)
				e.Elem().SetIterValue(all)
				to = value.append(key.append(to, k.UnsafePointer()), e.UnsafePointer())
			}
			return to
		},
		func(d *decoder, into unsafe.Pointer) {
			v := reflect.NewAt(t, into).Elem()
			n, ok := d.count()
			if !ok {
				v.SetZero()
				return
			}
			v.Set(reflect.MakeMapWithSize(t, min(n, 64)))
			k, e := reflect.New(t.Key()), reflect.New(t.Elem())
			for range n {
				k.Elem().SetZero()
				e.Elem().SetZero()
				key.read(d, k.UnsafePointer())
				if value.read(d, e.UnsafePointer()); d.err != nil {
					return
				}
				v.SetMapIndex(k.Elem(), e.Elem())
			}
		}}
}
