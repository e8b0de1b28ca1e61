// Command rooms prints the names of the rooms of $ROOMS, by default of all, but for those of
// $LEAVE: with the accounts, where they come along. make asks it for what it does with each room.
package main

import (
	"fmt"
	"os"
	"strings"

	"matchday/pkg/fleet"
)

func main() {
	rooms, err := fleet.Choose(os.Getenv("ROOMS"), os.Getenv("LEAVE"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}

	fmt.Println(strings.Join(rooms.Names(), " "))
}
