package main

import "matchday/pkg/threefc/public"

func main() { public.ShowMembersFunction().Start() }
