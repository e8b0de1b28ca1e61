// Package item holds the items of the table that several use cases read or write:
// their types, their keys, and the reads that return more than one type.
//
// A Ref is a reference as it stands in an attribute, such as EVENT#{eventId}. A Key
// is the primary key of an item, PK and SK. A Collection is what one query returns.
package item
