package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// writeKotlin writes the API and the models of each room, and the list of the stories.
func writeKotlin(out string, all []contract) error {
	for _, c := range all {
		folder := filepath.Join(out, "src", "main", "kotlin", "matchday", c.Room)
		if err := write(filepath.Join(folder, title(c.Room)+".kt"), kotlinAPI(c)); err != nil {
			return err
		}

		if err := write(filepath.Join(folder, "Models.kt"), kotlinModels(c)); err != nil {
			return err
		}
	}

	return nil
}

// kotlinAPI returns the class of a room.
func kotlinAPI(c contract) string {
	var b strings.Builder

	fmt.Fprintf(&b, "package matchday.%s\n\n", c.Room)
	b.WriteString(`import kotlinx.coroutines.flow.Flow
import matchday.Client
import matchday.Operation
import matchday.Tagged
import matchday.Timestamp
import matchday.encode
import matchday.newKey
import matchday.pages
import matchday.segment

`)
	fmt.Fprintf(&b, "/** The codes of the problems that %s may answer today. More may come. */\nobject Codes {\n", c.Room)

	for _, code := range c.Codes {
		fmt.Fprintf(&b, "    const val %s = %s\n", constant(code), kotlinText(code))
	}

	fmt.Fprintf(&b, "}\n\n/** The API of %s. */\nclass %s(private val client: Client) {\n", c.Room, title(c.Room))

	for i, o := range c.Operations {
		if i > 0 {
			b.WriteString("\n")
		}

		b.WriteString(kotlinOperation(o))
	}

	b.WriteString("}\n")

	return b.String()
}

// kotlinOperation returns the function of an operation, and that of its pages.
func kotlinOperation(o operation) string {
	var (
		b                                        strings.Builder
		needed, optional, query, headers, passed []string

		path = o.Path
	)

	for _, p := range o.Parameters {
		name := kotlinName(p.Name)

		declared := name + ": " + kotlinType(p.Type)
		if p.Needed {
			needed = append(needed, declared)
		} else {
			optional = append(optional, declared+"? = null")
		}

		switch p.In {
		case "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", "${segment("+name+")}")
		case "query":
			query = append(query, fmt.Sprintf("%s to %s", kotlinText(p.Name), name))
		case "header":
			headers = append(headers, fmt.Sprintf("%s to %s", kotlinText(p.Name), name))
		}

		passed = append(passed, name+" = "+name)
	}

	switch {
	case o.Body != nil && o.BodyNeeded:
		needed = append(needed, "body: "+kotlinType(*o.Body))
	case o.Body != nil:
		optional = append(optional, "body: "+kotlinType(*o.Body)+"? = null")
	}

	parameters := append(needed, optional...)
	if o.Keyed {
		parameters = append(parameters, "idempotencyKey: String = newKey()")
	}

	arguments := []string{fmt.Sprintf("%q", o.Method), `"` + path + `"`}
	if query != nil {
		arguments = append(arguments, "query = mapOf("+strings.Join(query, ", ")+")")
	}

	if headers != nil {
		arguments = append(arguments, "headers = mapOf("+strings.Join(headers, ", ")+")")
	}

	switch {
	case o.Body != nil && o.BodyNeeded:
		arguments = append(arguments, "body = encode("+o.Body.Name+".serializer(), body)")
	case o.Body != nil:
		arguments = append(arguments, "body = body?.let { encode("+o.Body.Name+".serializer(), it) }")
	}

	if o.Keyed {
		arguments = append(arguments, "key = idempotencyKey")
	}

	answer, serializer := "", ""
	if o.Answer != nil {
		answer, serializer = ": "+o.Answer.Name, ", "+o.Answer.Name+".serializer()"
	}

	b.WriteString(kotlinDoc(o.Doc, "    "))
	fmt.Fprintf(&b, "    suspend fun %s(%s)%s =\n        client.call(Operation(%s)%s)\n",
		kotlinName(o.ID), strings.Join(parameters, ", "), answer, strings.Join(arguments, ", "), serializer)

	if o.Tagged {
		fmt.Fprintf(&b, "\n    /** Is [%s], with the ETag of the answer, which a change sends as ifMatch. */\n"+
			"    suspend fun %s(%s): Tagged<%s> =\n        client.read(Operation(%s)%s)\n",
			kotlinName(o.ID), readName(o.ID), strings.Join(parameters, ", "), o.Answer.Name, strings.Join(arguments, ", "), serializer)
	}

	if o.Next == nil {
		return b.String()
	}

	isCursor := func(s string) bool { return strings.HasPrefix(s, "cursor") }
	rest := slices.DeleteFunc(parameters, isCursor)
	passed = slices.DeleteFunc(passed, isCursor)

	fmt.Fprintf(&b, "\n    /** The pages of [%s]. */\n    fun %sPages(%s): Flow<%s> =\n        pages({ it.%s }) { cursor -> %s(%s) }\n",
		kotlinName(o.ID), kotlinName(o.ID), strings.Join(rest, ", "), o.Answer.Name, strings.Join(o.Next, "."),
		kotlinName(o.ID), strings.Join(append(passed, "cursor = cursor"), ", "))

	return b.String()
}

// kotlinModels returns the classes of the schemas of a room.
func kotlinModels(c contract) string {
	var (
		b     strings.Builder
		words = map[string]kind{}
	)

	fmt.Fprintf(&b, "package matchday.%s\n\n", c.Room)
	b.WriteString(`import kotlinx.serialization.SerialName
import kotlinx.serialization.Serializable
import kotlinx.serialization.json.JsonElement
import matchday.Timestamp
`)

	for _, s := range c.Schemas {
		b.WriteString("\n" + kotlinDoc(s.Doc, "") + "@Serializable\n")

		if len(s.Fields) == 0 {
			fmt.Fprintf(&b, "class %s\n", s.Name)
			continue
		}

		fmt.Fprintf(&b, "data class %s(\n", s.Name)

		for _, f := range s.Fields {
			collect(words, f.Type)
			b.WriteString(kotlinDoc(f.Doc, "    "))

			declared := kotlinType(f.Type)
			if !f.Needed {
				declared = strings.TrimSuffix(declared, "?") + "? = null"
			}

			if camel(f.Name) != f.Name {
				fmt.Fprintf(&b, "    @SerialName(%s)\n", kotlinText(f.Name))
			}

			fmt.Fprintf(&b, "    val %s: %s,\n", kotlinName(f.Name), declared)
		}

		b.WriteString(")\n")
	}

	for _, name := range sortedKeys(words) {
		fmt.Fprintf(&b, "\n/** One of these today. More may come. */\n@Serializable\n@JvmInline\nvalue class %s(val value: String) {\n", name)
		b.WriteString("    override fun toString() = value\n\n    companion object {\n")

		for _, w := range words[name].Words {
			fmt.Fprintf(&b, "        val %s = %s(%s)\n", constant(w), name, kotlinText(w))
		}

		b.WriteString("    }\n}\n")
	}

	return b.String()
}

// kotlinType returns the type of a value.
func kotlinType(k kind) string {
	var t string

	switch k.Base {
	case text:
		t = "String"
	case boolean:
		t = "Boolean"
	case int32s:
		t = "Int"
	case int64s:
		t = "Long"
	case double:
		t = "Double"
	case instant:
		t = "Timestamp"
	case word, named:
		t = k.Name
	case list:
		t = "List<" + kotlinType(*k.Of) + ">"
	case dictionary:
		t = "Map<String, " + kotlinType(*k.Of) + ">"
	case anything:
		return "JsonElement" // has null
	}

	if k.Nullable {
		t += "?"
	}

	return t
}

// kotlinKeywords cannot be names.
var kotlinKeywords = strings.Fields(`
	as break class continue do else false for fun if in interface is null object package return super
	this throw true try typealias typeof val var when while`)

// kotlinName returns a name of the contract as one of Kotlin.
func kotlinName(name string) string {
	name = camel(name)
	if slices.Contains(kotlinKeywords, name) {
		return "`" + name + "`"
	}

	return name
}

// kotlinText returns a text as a literal.
func kotlinText(s string) string { return strings.ReplaceAll(strconv.Quote(s), "$", `\$`) }

// kotlinDoc returns a comment, "" for no text.
func kotlinDoc(doc, indent string) string {
	if doc == "" {
		return ""
	}

	doc = strings.NewReplacer("*/", "* /", "/*", "/ *").Replace(doc)
	if !strings.Contains(doc, "\n") {
		return indent + "/** " + doc + " */\n"
	}

	var b strings.Builder

	b.WriteString(indent + "/**\n")

	for line := range strings.SplitSeq(doc, "\n") {
		b.WriteString(strings.TrimRight(indent+" * "+line, " ") + "\n")
	}

	return b.String() + indent + " */\n"
}

// kotlinStories returns the list of the rooms with a story.
func kotlinStories(rooms []string) string {
	var b strings.Builder

	b.WriteString("package matchday.story\n\n/** The stories, by room. */\nval stories: Map<String, suspend (World) -> Unit> = mapOf(\n")

	for _, room := range rooms {
		fmt.Fprintf(&b, "    %q to { %s(it) },\n", room, room)
	}

	return b.String() + ")\n"
}
