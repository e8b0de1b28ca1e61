package main

import "matchday/pkg/threefc/public"

func main() { public.ShowMemberCalendarFunction().Start() }
