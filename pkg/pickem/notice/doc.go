// Package notice sends notifications to the phones of members.
//
// Devices registers phones. Send puts a notice on the queue, for any number of
// members. Notifier delivers it, and a phone shows it once. Reminder finds the members who
// have not picked every match of an event that locks soon.
package notice
