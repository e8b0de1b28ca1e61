// Command order-card puts a card into an order.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/event"
)

func main() { app.API(event.OrderCardFunction, event.OpenEvents, (*event.Events).OrderCard) }
