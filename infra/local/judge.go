package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"matchday/infra/tools/attack"
	"matchday/pkg/spec"
)

// errJudged is the error of a judgement that has found something.
var errJudged = errors.New("schemathesis found answers that the documents do not allow")

// cases finds how many requests schemathesis has made.
var cases = regexp.MustCompile(`\d+ generated.*`)

// may lists the operations that schemathesis calls as an actor, by their auth. As nobody it calls all.
var may = map[string]spec.Auth{
	string(attack.User): spec.User, string(attack.Administrator): spec.Admin, string(attack.WithSession): spec.Session,
}

// judged has schemathesis, the command $SCHEMATHESIS, send requests to a local fleet of the rooms of
// $ROOMS, by the OpenAPI documents of the fleet: as nobody, as a user, as an administrator and with a
// session, for about $SECONDS altogether, each time with a seed that it prints. $SEED is the first.
func judged(ctx context.Context, root, program string) error {
	seconds, seed := uint64(120), uint64(time.Now().Unix())
	for name, value := range map[string]*uint64{"SECONDS": &seconds, "SEED": &seed} {
		n, err := number(name)
		if err != nil {
			return err
		}

		if n != nil {
			*value = *n
		}
	}

	chosen, err := chosen()
	if err != nil {
		return err
	}

	folder, err := os.MkdirTemp("", "matchday-judge-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)

	wrong := 0
	f := attack.Fleet{Root: root, Program: program, Rooms: chosen}

	failed, err := f.Serve(ctx, func(ctx context.Context, s attack.Served) error {
		runs := uint64(0)
		for _, room := range s.Rooms {
			runs += uint64(len(s.Actors[room]))
		}

		for _, room := range s.Rooms {
			for _, actor := range slices.Sorted(maps.Keys(s.Actors[room])) {
				config := filepath.Join(folder, "schemathesis.toml")
				if err := os.WriteFile(config, []byte(settings(s, room, actor)), 0o600); err != nil {
					return err
				}

				fmt.Printf("%s as %s, SEED=%d\n", room, actor, seed)

				cmd := exec.CommandContext(ctx, os.Getenv("SCHEMATHESIS"), "--config-file", config, "run", s.URL+"/"+room+"/openapi.json",
					"--url", s.URL+"/"+room, "--seed", strconv.FormatUint(seed, 10), "--max-time", strconv.FormatUint(max(1, seconds/runs), 10),
					"--phases", "coverage,fuzzing", "--no-shrink", "--no-color", "--warnings", "off", "--generation-database", "none",
					"--generation-with-security-parameters", "false")
				cmd.Dir = folder

				for name, values := range s.Actors[room][actor] {
					cmd.Args = append(cmd.Args, "--header", name+": "+values[0])
				}

				out, err := cmd.CombinedOutput()
				if err != nil {
					fmt.Printf("%s\n", out)

					wrong++
				}

				fmt.Println(" ", cases.FindString(string(out)))

				seed++
			}
		}

		return nil
	})

	for _, f := range failed {
		fmt.Printf("\n%s", f)
	}

	if err == nil && (wrong > 0 || len(failed) > 0) {
		err = errJudged
	}

	return err
}

// settings returns the configuration of schemathesis for an actor: what it checks, what it does not
// call, and the path parameters of the sample requests. As nobody it makes these up.
func settings(s attack.Served, room, actor string) string {
	var b strings.Builder

	b.WriteString("[checks]\nenabled = false\n")

	for _, check := range []string{"not_a_server_error", "status_code_conformance", "content_type_conformance",
		"response_headers_conformance", "response_schema_conformance", "negative_data_rejection"} {
		fmt.Fprintf(&b, "%s.enabled = true\n", check)
	}

	b.WriteString(`negative_data_rejection.expected-statuses = ["400", "401", "403", "404", "405", "409", "413", "415", "422", "429"]` + "\n")

	for _, name := range slices.Sorted(maps.Keys(s.Auth)) {
		of, id, _ := strings.Cut(name, "/")
		auth, only := may[actor]

		switch {
		case of != room:
		case only && (s.Auth[name] != auth || id == "delete-account" || id == "sign-out"): // which would end what follows
			fmt.Fprintf(&b, "\n[[operations]]\ninclude-operation-id = %q\nenabled = false\n", id)
		case only && len(s.Samples[name]) > 0:
			fmt.Fprintf(&b, "\n[[operations]]\ninclude-operation-id = %q\n[operations.parameters]\n", id)

			for parameter, value := range s.Samples[name] {
				fmt.Fprintf(&b, "\"path.%s\" = %q\n", parameter, value)
			}
		}
	}

	return b.String()
}
