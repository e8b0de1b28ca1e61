package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// writeSwift writes the structure of each room, with its models inside: rooms have models of the same name.
func writeSwift(out string, all []contract) error {
	for _, c := range all {
		if err := write(filepath.Join(out, "Sources", "Matchday", title(c.Room)+".swift"), swiftAPI(c)+swiftModels(c)); err != nil {
			return err
		}
	}

	return nil
}

// swiftAPI returns the structure of a room.
func swiftAPI(c contract) string {
	var b strings.Builder

	fmt.Fprintf(&b, "import Foundation\n\n/// The API of %s.\npublic struct %s: Sendable {\n", c.Room, title(c.Room))
	b.WriteString("    private let client: Client\n\n")
	b.WriteString("    public init(_ client: Client) {\n        self.client = client\n    }\n")

	for _, o := range c.Operations {
		b.WriteString("\n" + swiftOperation(o))
	}

	fmt.Fprintf(&b, "}\n\nextension %s {\n", title(c.Room))
	b.WriteString("    /// The codes of the problems that the operations may answer today. More may come.\n    public enum Codes {\n")

	for _, code := range c.Codes {
		fmt.Fprintf(&b, "        public static let %s = %q\n", swiftWord(code), code)
	}

	b.WriteString("    }\n")

	return b.String()
}

// swiftOperation returns the function of an operation, that with its ETag, and that of its pages.
func swiftOperation(o operation) string {
	var (
		b                                        strings.Builder
		needed, optional, query, headers, passed []string

		path = o.Path
	)

	for _, p := range o.Parameters {
		name := swiftName(p.Name)

		declared := name + ": " + swiftType(p.Type)
		if p.Needed {
			needed = append(needed, declared)
		} else {
			optional = append(optional, declared+"? = nil")
		}

		switch p.In {
		case "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", `\(segment(`+name+`))`)
		case "query":
			query = append(query, fmt.Sprintf("(name: %q, value: %s)", p.Name, swiftValue(p, name)))
		case "header":
			headers = append(headers, fmt.Sprintf("(name: %q, value: %s)", p.Name, swiftValue(p, name)))
		}

		if p.Name != "cursor" {
			passed = append(passed, name+": "+name)
		}
	}

	switch {
	case o.Body != nil && o.BodyNeeded:
		needed = append(needed, "body: "+swiftType(*o.Body))
	case o.Body != nil:
		optional = append(optional, "body: "+swiftType(*o.Body)+"? = nil")
	}

	parameters := append(needed, optional...)
	if o.Keyed {
		parameters = append(parameters, "idempotencyKey: String = newKey()")
	}

	arguments := []string{fmt.Sprintf("method: %q", o.Method), `path: "` + path + `"`}
	if query != nil {
		arguments = append(arguments, "query: ["+strings.Join(query, ", ")+"]")
	}

	if headers != nil {
		arguments = append(arguments, "headers: ["+strings.Join(headers, ", ")+"]")
	}

	switch {
	case o.Body != nil && o.BodyNeeded:
		arguments = append(arguments, "body: try encode(body)")
	case o.Body != nil:
		arguments = append(arguments, "body: try body.map { try encode($0) }")
	}

	if o.Keyed {
		arguments = append(arguments, "key: idempotencyKey")
	}

	operation := "Operation(" + strings.Join(arguments, ", ") + ")"
	function := func(name, call, answer, last string) {
		if answer != "" {
			answer = "-> " + answer + " "

			b.WriteString("    @discardableResult\n")
		}

		fmt.Fprintf(&b, "    public func %s(%s) async throws %s{\n        try await client.%s(%s%s)\n    }\n",
			name, strings.Join(parameters, ", "), answer, call, operation, last)
	}

	b.WriteString(swiftDoc(o.Doc, "    "))

	if o.Answer == nil {
		function(swiftName(o.ID), "call", "", "")
		return b.String()
	}

	function(swiftName(o.ID), "call", o.Answer.Name, ", "+o.Answer.Name+".self")

	if o.Tagged {
		fmt.Fprintf(&b, "\n    /// Is `%s`, with the ETag of the answer, which a change sends as `ifMatch`.\n", camel(o.ID))
		function(readName(o.ID), "read", "Tagged<"+o.Answer.Name+">", ", "+o.Answer.Name+".self")
	}

	if o.Next != nil {
		parameters := slices.DeleteFunc(slices.Clone(parameters), func(s string) bool { return strings.HasPrefix(s, "cursor:") })
		next := "$0." + strings.Join(o.Next, ".")

		fmt.Fprintf(&b, "\n    /// The pages of `%s`.\n    public func %sPages(%s) -> AsyncThrowingStream<%s, any Error> {\n"+
			"        pages(next: { %s }, load: { cursor in try await %s(%s) })\n    }\n",
			camel(o.ID), camel(o.ID), strings.Join(parameters, ", "), o.Answer.Name, next, swiftName(o.ID),
			strings.Join(swiftPassed(o, passed), ", "))
	}

	return b.String()
}

// swiftPassed adds the cursor to arguments, in the order of the parameters, which Swift wants.
func swiftPassed(o operation, passed []string) []string {
	i := slices.IndexFunc(o.Parameters, func(p parameter) bool { return p.Name == "cursor" })

	return slices.Insert(slices.Clone(passed), i, "cursor: cursor")
}

// swiftValue returns a parameter as a text, or nil.
func swiftValue(p parameter, name string) string {
	convert := ""

	switch p.Type.Base {
	case text:
		return name
	case instant:
		convert = "timestamp(%s)"
	case list:
		convert = `%s.joined(separator: ",")`
	case boolean, int32s, int64s, double:
		convert = "String(%s)"
	default:
		panic(fmt.Sprintf("no initializer of String takes the parameter %s", p.Name))
	}

	if p.Needed {
		return fmt.Sprintf(convert, name)
	}

	return name + ".map { " + fmt.Sprintf(convert, "$0") + " }"
}

// swiftModels returns the types of the schemas of a room, and closes its extension.
func swiftModels(c contract) string {
	var (
		b     strings.Builder
		words = map[string]kind{}
	)

	for _, s := range c.Schemas {
		b.WriteString("\n" + swiftDoc(s.Doc, "    "))
		fmt.Fprintf(&b, "    public struct %s: Codable, Hashable, Sendable {\n", s.Name)

		var parameters, set, keys []string

		for _, f := range s.Fields {
			collect(words, f.Type)

			name, t := swiftName(f.Name), swiftType(f.Type)
			if !f.Needed {
				t = strings.TrimSuffix(t, "?") + "?"
			}

			b.WriteString(swiftDoc(f.Doc, "        "))
			fmt.Fprintf(&b, "        public var %s: %s\n", name, t)

			// By name, whether optional or not: a property that becomes optional keeps its place, which Swift demands.
			if f.Needed {
				parameters = append(parameters, name+": "+t)
			} else {
				parameters = append(parameters, name+": "+t+" = nil")
			}

			set = append(set, fmt.Sprintf("            self.%s = %s\n", name, name))
			keys = append(keys, fmt.Sprintf("            case %s = %q\n", name, f.Name))
		}

		if s.Fields != nil {
			b.WriteString("\n")
		}

		fmt.Fprintf(&b, "        public init(%s) {\n%s        }\n", strings.Join(parameters, ", "), strings.Join(set, ""))

		if keys != nil {
			fmt.Fprintf(&b, "\n        enum CodingKeys: String, CodingKey {\n%s        }\n", strings.Join(keys, ""))
		}

		b.WriteString("    }\n")
	}

	for _, name := range sortedKeys(words) {
		b.WriteString("\n    /// One of these today. More may come.\n")
		fmt.Fprintf(&b, "    public struct %s: RawRepresentable, Codable, Hashable, Sendable {\n", name)
		b.WriteString("        public let rawValue: String\n\n")
		b.WriteString("        public init(rawValue: String) {\n            self.rawValue = rawValue\n        }\n\n")

		for _, w := range words[name].Words {
			fmt.Fprintf(&b, "        public static let %s = %s(rawValue: %s)\n", swiftWord(w), name, strconv.Quote(w))
		}

		b.WriteString("    }\n")
	}

	return b.String() + "}\n"
}

// swiftType returns the type of a value.
func swiftType(k kind) string {
	var t string

	switch k.Base {
	case text:
		t = "String"
	case boolean:
		t = "Bool"
	case int32s:
		t = "Int32"
	case int64s:
		t = "Int64"
	case double:
		t = "Double"
	case instant:
		t = "Date"
	case word, named:
		t = k.Name
	case list:
		t = "[" + swiftType(*k.Of) + "]"
	case dictionary:
		t = "[String: " + swiftType(*k.Of) + "]"
	case anything:
		return "JSONValue" // has null
	}

	if k.Nullable {
		t += "?"
	}

	return t
}

// swiftKeywords cannot be names as they are.
var swiftKeywords = strings.Fields(`
	as associatedtype break case catch class continue default defer deinit do else enum extension
	fallthrough false fileprivate for func guard if import in init inout internal is let nil open
	operator private protocol public repeat rethrows return self static struct subscript super switch
	throw throws true try typealias var where while`)

// swiftName returns a name of the contract as one of Swift.
func swiftName(name string) string { return swiftEscaped(camel(name)) }

// swiftWord returns a value as the name of a constant: DISTANCE_METERS, distanceMeters.
func swiftWord(value string) string {
	name := camel(strings.ToLower(constant(value)))
	if strings.HasPrefix(constant(value), "_") {
		return "_" + name
	}

	return swiftEscaped(name)
}

func swiftEscaped(name string) string {
	if slices.Contains(swiftKeywords, name) {
		return "`" + name + "`"
	}

	return name
}

// swiftDoc returns a comment, "" for no text.
func swiftDoc(doc, indent string) string {
	if doc == "" {
		return ""
	}

	var b strings.Builder

	for line := range strings.SplitSeq(doc, "\n") {
		b.WriteString(strings.TrimRight(indent+"/// "+line, " ") + "\n")
	}

	return b.String()
}
