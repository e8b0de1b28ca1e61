// The tab of the mails. Texts are shown as text, with their links.

import { $, el, hms, keyed, press, put, room } from "/console/base.js";

const links = /(https?:\/\/[^\s<>"]*[^\s<>".,;:!?'()\]])/;
const open = { target: "_blank", rel: "noopener noreferrer" };

function letter(text) {
  return text.split(links).map((part, i) => i % 2 ? el("a", { href: part, ...open }, part) : part);
}

function item(m, newest) {
  return el("li", {}, el("details", { open: newest },
    el("summary", {}, el("time", {}, hms.format(m.at)), el("span", { className: "to" }, m.to), el("b", {}, m.subject),
      el("span", { className: `pill ${m.suppressed ? "no" : ""}` }, m.suppressed ? "suppressed" : "delivered")),
    el("p", { className: "letter" }, ...letter(m.text)),
    el("p", { className: "more" }, `from ${m.from}`, ...(m.html ? [" · ", el("a", { href: `/console/mail/message/${m.n}`, ...open }, "as HTML")] : []))));
}

function drawMails() {
  const to = $("mail-to").value.trim().toLowerCase(), all = room.mails.latest, shown = all.filter((m) => m.to.toLowerCase().includes(to));
  const byNumber = new Map(shown.map((m) => [String(m.n), m]));
  keyed($("mails"), [...byNumber.keys()], (n) => item(byNumber.get(n), byNumber.get(n) === all[0]));
  put($("mail-about"), `${room.mails.sent} sent by a simulated SES${room.mails.sent > all.length ? `, the latest ${all.length} below` : ""}`);
  put($("mail-none"), all.length ? "No mail to this address." : "No mail yet.");
  $("mail-none").hidden = shown.length > 0;
}

function drawAnswers() {
  $("mail-answers").replaceChildren(...room.mailAnswers.map((a) => {
    const b = el("button", { type: "button", title: a.does }, a.name);
    b.addEventListener("click", () => press("mail/answer", { answer: a.name }));
    return b;
  }));
}

$("mail-to").addEventListener("input", () => room.mails && drawMails());

export const draw = { mails: drawMails, mailAnswers: drawAnswers };
