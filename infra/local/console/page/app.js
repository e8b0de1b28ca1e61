// The shell of the console: what every tab shows. It decodes and formats what the
// events say. The room's own part is in its panel.js.

import { $, clock, el, fleetNow, hms, keyed, millis, press, put, room, shell as state, span, svg } from "./base.js";

const own = document.body.dataset.room;
const panel = document.body.dataset.panel ? await import(document.body.dataset.panel) : {};

// --- Pushes ---

const FEED = 100;

function addPushes(pushes, snapshot) {
  const root = $("pushes");
  if (snapshot) root.replaceChildren();
  if (pushes.length > 0) root.querySelector(".none")?.remove();
  for (const p of pushes) {
    const name = p.owner || (p.kind === "broadcast" ? `channel ${p.token}…` : p.kind === "topic" ? p.token : `token ${p.token}…`);
    root.prepend(el("li", { className: `${p.ok ? "" : "no"} ${snapshot ? "" : "new"}` },
      el("time", {}, hms.format(p.at)),
      el("span", { className: `kind ${p.kind}` }, p.kind),
      el("span", { className: "who" }, name, " ",
        el("span", {}, [p.about, p.last && "the end"].filter(Boolean).join(" · "))),
      el("span", { className: "bytes" }, `${p.bytes} B`),
      el("span", { className: `pill ${p.ok ? "" : "no"}` }, p.ok ? "delivered" : `${p.status} ${p.reason ?? ""}`),
      p.details ? el("span", { className: "details" }, p.details) : null));
  }
  while (root.children.length > FEED) root.lastElementChild.remove();
  if (root.children.length === 0) root.append(el("li", { className: "none" }, "No push yet."));
}

function drawRate() {
  const r = state.rate, root = $("spark"), n = r.series.length;
  const recent = r.series.slice(-11, -1).reduce((a, b) => a + b, 0) / 10;
  put($("per-second"), recent.toFixed(1));
  put($("sent"), r.sent.toLocaleString("en"));
  put($("refused"), r.failed.toLocaleString("en"));
  $("refused").closest("div").classList.toggle("bad", r.failed > 0);
  const width = root.clientWidth, height = root.clientHeight, step = width / n, most = Math.max(4, ...r.series);
  root.replaceChildren(...r.series.flatMap((v, i) => {
    const bar = (value, kind) => svg("rect", { class: kind, x: i * step, width: Math.max(1, step - 1.5), y: height - (value / most) * height, height: (value / most) * height, rx: 1 });
    return [v && bar(v, ""), r.refused[i] && bar(r.refused[i], "no")].filter(Boolean);
  }), svg("line", { x1: 0, x2: width, y1: height - 0.5, y2: height - 0.5 }));
  root.setAttribute("aria-label", `${recent.toFixed(1)} pushes a second over the last ten seconds`);
}

// --- Functions, queues, schedules, problems ---

const idle = (f) => f.invocations + f.throttles + f.busy + f.cold + f.waiting === 0;

const plural = (n, one) => `${n} ${one}${n === 1 ? "" : "s"}`;

// byRoom folds rows by room: the tab's own is open at first, and first in the list.
// fill draws a room's rows, and returns what its summary says.
function byRoom(root, rows, fill) {
  const rooms = Object.groupBy(rows, (r) => r.room), names = Object.keys(rooms).sort((a, b) => (b === own) - (a === own));
  keyed(root, names, (name) => el("details", { className: "room-fold", open: name === own }, el("summary", {}, el("b", {}, name), el("span")), el("div")))
    .forEach((details, i) => put(details.firstChild.lastChild, fill(details.lastChild, rooms[names[i]])));
}

// folded returns the parts of a room's list: what was used in this run, and a fold
// with the rest.
function folded(root, make) {
  if (!root.firstChild) root.append(make(), el("details", { className: "fold" }, el("summary"), make()));
  const [used, fold] = root.children;
  return { used, unused: fold.lastChild, say: (n, text) => {
    fold.hidden = n === 0;
    put(fold.firstChild, text);
  } };
}

const heads = [["function"], ["trigger"], ["processes"], ["invocations", "n"], ["cold", "n"], ["errors", "n"], ["last took", "n"]];

function functionTable() {
  return el("table", { className: "functions" }, el("thead", {}, el("tr", {}, ...heads.map(([name, kind]) => el("th", { scope: "col", className: kind ?? "" }, name)))), el("tbody"));
}

function drawRows(table, functions) {
  table.hidden = functions.length === 0;
  const number = (td, n, bad) => td.replaceChildren(el("span", { className: n ? (bad ? "bad" : "") : "zero" }, n.toLocaleString("en")));
  keyed(table.tBodies[0], functions.map((f) => f.name), () => el("tr", {},
    el("td", {}, el("b")), el("td", { className: "on" }), el("td", {}, el("span", { className: "procs" })),
    el("td", { className: "n", "data-label": "invocations" }), el("td", { className: "n cold" }), el("td", { className: "n", "data-label": "errors" }), el("td", { className: "n last" })))
    .forEach((tr, i) => {
      const f = functions[i], text = JSON.stringify(f);
      if (tr.dataset.text === text) return;
      tr.dataset.text = text;
      const [name, on, procs, invocations, cold, errors, last] = tr.cells;
      tr.title = f.does;
      put(name.firstChild, f.name);
      put(on, f.on);
      const dots = [["busy", f.busy], ["", f.warm], ["cold", f.cold]].flatMap(([kind, n]) => Array.from({ length: Math.min(n, 12) }, () => el("i", { className: kind })));
      const words = [f.busy && `${f.busy} busy`, f.warm && `${f.warm} warm`, f.cold && `${f.cold} starting`, f.waiting && `${f.waiting} in line`].filter(Boolean).join(", ");
      procs.firstChild.replaceChildren(...dots, el("span", {}, words || "none"));
      number(invocations, f.invocations);
      number(cold, f.coldStarts);
      number(errors, f.errors + f.throttles, true);
      put(last, f.invocations ? millis(f.last) + (f.init ? ` + ${millis(f.init)} start` : "") : "");
    });
}

function drawFunctions() {
  byRoom($("functions"), state.functions, (root, functions) => {
    const parts = folded(root, functionTable), unused = functions.filter(idle), errors = functions.reduce((n, f) => n + f.errors + f.throttles, 0);
    drawRows(parts.used, functions.filter((f) => !idle(f)));
    drawRows(parts.unused, unused);
    parts.say(unused.length, `${plural(unused.length, "function")} idle`);
    return [plural(functions.length, "function"), `${functions.length - unused.length} used`, errors && plural(errors, "error")].filter(Boolean).join(", ");
  });
}

function numbers(pairs) {
  return el("dl", { className: "numbers" }, ...pairs.map(([name, n, bad]) => el("div", { className: bad && n ? "bad" : "" }, el("dt", {}, name), el("dd", {}, el("b", {}, n)))));
}

function drawQueues() {
  const draw = (root, queues) => root.replaceChildren(...queues.map((q) => el("div", { className: "queue" },
    el("h3", {}, q.name, el("span", {}, `wakes ${q.wakes}`)),
    numbers([["visible", q.visible], ["in flight", q.inFlight], ["delayed", q.delayed], ["handled", q.deleted], ["dead", q.dead, true]]),
    el("ul", { className: "letters" }, ...q.letters.map((d) => el("li", {}, `${hms.format(d.at)} ${d.reason}`, el("code", {}, d.body)))))));
  const empty = (q) => q.visible + q.inFlight + q.delayed + q.sent + q.dead === 0;
  byRoom($("queues"), state.queues, (root, queues) => {
    const parts = folded(root, () => el("div")), unused = queues.filter(empty), dead = queues.reduce((n, q) => n + q.dead, 0);
    draw(parts.used, queues.filter((q) => !empty(q)));
    draw(parts.unused, unused);
    parts.say(unused.length, `${plural(unused.length, "queue")} without a message so far`);
    return [plural(queues.length, "queue"), dead && plural(dead, "dead letter")].filter(Boolean).join(", ");
  });
}

function drawSchedules() {
  const unfired = (s) => (state.functions ?? []).some((f) => f.name === s.name && idle(f));
  const draw = (root, schedules) => keyed(root, schedules.map((s) => s.name), () => el("li", {}, el("b"), el("span"), el("span"))).forEach((li, i) => {
    const s = schedules[i];
    put(li.children[0], s.name);
    put(li.children[1], s.every);
    li.dataset.next = s.next ?? "";
    put(li.children[2], due(s.next));
  });
  byRoom($("schedules"), state.schedules, (root, schedules) => {
    const parts = folded(root, () => el("ul", { className: "schedules" })), waiting = schedules.filter(unfired);
    draw(parts.used, schedules.filter((s) => !unfired(s)));
    draw(parts.unused, waiting);
    parts.say(waiting.length, `${plural(waiting.length, "schedule")} not yet due`);
    return plural(schedules.length, "schedule");
  });
}

const due = (at) => at ? `in ${span(at - fleetNow())}` : "";

function drawProblems() {
  const rows = [...state.problems].reverse().map((p) => el("li", { className: p.level },
    el("time", {}, hms.format(p.at)), el("span", {}, el("b", {}, `${p.where}${p.times > 1 ? ` ×${p.times}` : ""}`), ` ${p.text}`)));
  $("problems").replaceChildren(...(rows.length ? rows : [el("li", { className: "none" }, "Nothing has.")]));
}

// --- Controls ---

function drawAnswers() {
  $("answers").replaceChildren(...state.answers.map((a) => {
    const b = el("button", { type: "button", title: a.does }, a.name);
    b.addEventListener("click", () => press("answer", { answer: a.name }));
    return b;
  }));
}

function drawFleet() {
  if ($("api")) put($("api"), `${state.fleet.url}/${own}`);
}

// --- Every second ---

function everySecond() {
  const now = fleetNow();
  $("starting").hidden = Boolean(state.fleet);
  panel.everySecond?.();
  if (!now) return;
  put($("now"), hms.format(now));
  put($("speed"), clock.speed === 1 ? "" : clock.speed ? `${clock.speed}× time` : "free clock");
  for (const li of document.querySelectorAll(".schedules li")) put(li.children[2], due(Number(li.dataset.next)));
}

// --- Events ---

const draw = {
  fleet: drawFleet, rate: drawRate, functions: () => { drawFunctions(); if (state.schedules) drawSchedules(); }, queues: drawQueues,
  schedules: drawSchedules, problems: drawProblems, answers: drawAnswers,
};

function take(event) {
  const message = JSON.parse(event.data), snapshot = event.type === "snapshot";
  link("live");
  Object.assign(clock, { now: message.now, speed: message.speed, at: performance.now() });
  Object.assign(state, message.state);
  Object.assign(room, message.room);
  for (const name of Object.keys(draw)) if (name in message.state) draw[name]();
  for (const name of Object.keys(panel.draw ?? {})) if (name in (message.room ?? {})) panel.draw[name]();
  if (snapshot || message.pushes) addPushes(message.pushes ?? [], snapshot);
  if (snapshot || message.state.fleet) everySecond();
}

function link(what) {
  if ($("link").dataset.state === what) return;
  $("link").dataset.state = what;
  put($("link").querySelector("b"), { live: "live", waiting: "connecting", lost: "lost, trying again" }[what]);
}

let source;

function listen() {
  source?.close();
  source = new EventSource(`/console/events?room=${encodeURIComponent(own)}`);
  source.addEventListener("snapshot", take);
  source.addEventListener("change", take);
  source.addEventListener("error", () => {
    link("lost");
    if (source.readyState === EventSource.CLOSED) setTimeout(listen, 2000);
  });
}

// A page that nobody sees holds no stream: browsers allow six per host.
document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    source?.close();
    link("waiting");
  } else listen();
});
addEventListener("resize", () => {
  panel.resized?.();
  if (state.rate) drawRate();
});

everySecond();
setInterval(everySecond, 1000);
listen();
