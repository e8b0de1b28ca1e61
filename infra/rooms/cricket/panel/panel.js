// The cricket tab: it shows what the events say. It decodes and formats; it computes
// no score. The scorecard, the day and the home are answers of the API, as they are.

import { $, again, ago, day, el, fleetNow, hm, hms, keyed, lately, millis, press, put, room as state, shell, span, still, svg } from "/console/base.js";

const SLOT = 2500, SLOTS = 48;

// --- Lock screens ---

function glyph(g) {
  if (g.includes("W")) return ["wicket", g, "WICKET"];
  if (/[a-z]/.test(g)) return ["extra", g, ""];
  if (g === "4") return ["four", g, "FOUR"];
  if (g === "6") return ["six", g, "SIX"];
  return g === "." ? ["dot", "•", ""] : ["", g, ""];
}

const shown = new WeakMap(); // by screen: whose it is, the content state and the timer of its call
const chosen = new Map(); // by match and perspective: the fan whose phone is looked at

function drawSide(root, side, was) {
  put(root.querySelector("[data-f=code]"), side.code);
  put(root.querySelector("[data-f=name]"), side.name);
  put(root.querySelector("[data-f=overs]"), side.overs ? `(${side.overs})` : "");
  const score = root.querySelector("[data-f=score]");
  if (put(score, [side.score, side.superOver && `SO ${side.superOver}`].filter(Boolean).join(" · ")) && was) again(score, "flash");
  root.classList.toggle("batting", Boolean(side.batting));
}

function drawBalls(root, balls, fresh) {
  root.replaceChildren(...balls.map((g, i) => {
    const [kind, text] = glyph(g);
    return el("li", { className: `${kind} ${fresh && i === balls.length - 1 ? "new" : ""}` }, text);
  }));
}

function drawCrease(root, d) {
  const rows = [];
  for (const b of d.batters ?? []) {
    rows.push(el("span", { className: b.strike ? "strike" : "" }, b.name), el("b", {}, `${b.runs} `, el("small", {}, `(${b.balls})`)));
  }
  if (d.bowler?.name) {
    rows.push(el("i", { className: "rule" }), el("span", { className: "bowler" }, d.bowler.name), el("b", { className: "bowler" }, d.bowler.figures));
  }
  root.replaceChildren(...rows);
}

function call(root, timer, word, kind) {
  clearTimeout(timer);
  const node = root.querySelector("[data-f=call]");
  put(node, word);
  node.className = `call ${kind}`;
  return word ? setTimeout(() => put(node, ""), 4000) : undefined;
}

// drawNotes shows the newest notifications; one that comes while they are looked
// at slides in, and pushes the others down.
function drawNotes(root, s, fresh) {
  const list = root.querySelector("[data-f=notes]"), had = list.children.length, top = list.firstElementChild;
  keyed(list, s.notes.map((n) => `${n.id}@${n.at}`), () => el("li", {},
    el("img", { src: "/console/icon.svg", alt: "", width: 30, height: 30 }), el("b"), el("time"), el("p"))).forEach((li, i) => {
    const n = s.notes[i], [, title, time, body] = li.children;
    put(title, n.title);
    put(body, n.body);
    time.dataset.at = n.at;
    put(time, lately(fleetNow() - n.at));
  });
  put(root.querySelector("[data-f=count]"), s.told ? `${s.told} notification${s.told === 1 ? "" : "s"}` : "");
  if (!fresh || still.matches || s.notes.length === 0 || list.firstElementChild === top) return;
  const first = list.children[0], by = list.children[1] ? list.children[1].offsetTop - first.offsetTop : first.offsetHeight;
  [...list.children].forEach((li, i) => li.animate(
    [{ transform: `translateY(${-by}px)`, opacity: i || !had ? 1 : 0 }, { transform: "none", opacity: 1 }], { duration: 480, easing: "cubic-bezier(.2,.85,.25,1)" }));
}

// drawFans lets one choose among the fans of a perspective.
function drawFans(root, m, fans, s) {
  const f = (name) => root.querySelector(`[data-f=${name}]`);
  f("fans").setAttribute("aria-label", s.team ? `Fans of ${s.fan}` : "Neutral fans");
  keyed(f("fans"), fans.map((o) => o.owner), () => el("button", { type: "button" })).forEach((b, i) => {
    const o = fans[i];
    put(b, o.owner);
    b.title = `${o.traits.join(", ")}${o.behind ? ", behind" : ""}`;
    b.setAttribute("aria-pressed", String(o === s));
    b.classList.toggle("behind", Boolean(o.behind));
    b.onclick = () => {
      chosen.set(`${m.id}/${o.team ?? ""}`, o.owner);
      drawMatches();
      everySecond();
    };
  });
  const traits = [s.team ? `${s.fan} fan` : "Neutral", ...s.traits, s.behind && "behind"].filter(Boolean);
  keyed(f("traits"), traits, () => el("li")).forEach((li, i) => put(li, traits[i]));
}

const waits = {
  none: () => "",
  awaited: () => "The start of play starts the activity",
  running: (m) => m.live ? "The first score is on its way" : "",
};

function drawScreen(root, m, fans) {
  const s = fans.find((o) => o.owner === chosen.get(`${m.id}/${o.team ?? ""}`)) ?? fans.find((o) => !o.behind) ?? fans[0];
  const f = (name) => root.querySelector(`[data-f=${name}]`);
  let before = shown.get(root);
  if (before && before.owner !== s.owner) {
    call(root, before.timer, "", "");
    before = undefined;
  }
  root.classList.toggle("large", !s.team);
  root.classList.toggle("stale", Boolean(s.stale));
  root.classList.toggle("gone", Boolean(s.gone));
  root.classList.toggle("empty", !s.state);
  root.classList.toggle("alone", s.activity === "none");
  drawFans(root, m, fans, s);
  drawNotes(root, s, Boolean(before));
  root.classList.toggle("android", Boolean(s.android));
  f("update").hidden = !s.android || !s.state || s.ended;
  put(f("chip"), s.chip || "•");
  f("progress").hidden = s.progress < 0;
  f("progress").value = Math.max(s.progress, 0);
  root.dataset.activity = s.activity;
  root.dataset.at = s.at ?? "";
  root.dataset.pushes = s.pushes;
  root.dataset.waits = s.state || m.live || s.activity !== "running" ? "" : m.start;
  if (!s.state) {
    if (!root.dataset.waits) put(f("headline"), waits[s.activity](m));
    shown.set(root, { owner: s.owner });
    return;
  }
  const d = s.state, text = JSON.stringify(d);
  let label = d.status;
  if (s.gone) label = "Gone from the lock screen";
  else if (s.ended) label = `${d.status} · ended`;
  else if (s.stale) label = `${d.status} · out of date`;
  put(f("status"), label);
  if (before?.text === text) return;
  for (const side of ["local", "visitor"]) drawSide(root.querySelector(`[data-side=${side}]`), d[side], before?.text);
  put(f("headline"), d.headline);
  put(f("detail"), d.detail);
  const balls = d.lastSix ?? [];
  const fresh = Boolean(before?.balls) && JSON.stringify(before.balls) !== JSON.stringify(balls) && balls.length > 0;
  drawBalls(f("balls"), balls, fresh);
  drawCrease(f("crease"), d);
  put(f("more"), [
    d.runRate && `Run rate ${d.runRate}`, d.requiredRate && `needs ${d.requiredRate}`,
    d.partnership && `Partnership ${d.partnership}`, d.lastWicket && `Last: ${d.lastWicket}`, d.superOver, d.result !== d.headline && d.result,
  ].filter(Boolean).slice(0, 4).join(" · "));
  let timer = before?.timer;
  if (fresh) {
    const [kind, , word] = glyph(balls.at(-1));
    timer = call(root, timer, word, kind);
  }
  shown.set(root, { owner: s.owner, text, balls, timer });
}

function drawMatches() {
  const all = state.matches ?? [];
  const seen = all.filter((m) => m.screens.length > 0 || m.live);
  keyed($("matches"), seen.map((m) => m.id), () => $("match").content.firstElementChild.cloneNode(true)).forEach((root, i) => {
    const m = seen[i], fans = Object.groupBy(m.screens, (s) => s.team ?? "neutral");
    put(root.querySelector("[data-f=title]"), `${m.local.name} v ${m.visitor.name}`);
    root.dataset.start = m.start;
    root.querySelector("[data-f=about]").dataset.text = [m.type, m.status === "NS" ? "not started" : m.status, !m.live && m.status !== "NS" && "not in the live feed", m.paused && "paused"].filter(Boolean).join(" · ");
    const views = [...new Set(m.screens.map((s) => s.team ?? "neutral"))];
    keyed(root.querySelector(".screens"), views, () => $("screen").content.firstElementChild.cloneNode(true)).forEach((node, j) => drawScreen(node, m, fans[views[j]]));
  });
  drawTarget(all);
  drawLinks(all);
}

// --- The published payloads ---

// drawPayloads shows the payloads of clients/ios on phones, once they are looked at.
async function drawPayloads() {
  const list = $("payload-screens");
  if (!$("payloads").open || list.firstChild) return;
  const all = await (await fetch("/console/cricket/payloads.json")).json();
  list.replaceChildren(...all.map(({ file, payload: { aps } }) => {
    const root = $("screen").content.firstElementChild.cloneNode(true);
    drawScreen(root, { id: file, live: true }, [{
      owner: file, traits: [], activity: "running", state: aps["content-state"], ended: aps.event === "end", notes: [], progress: -1, pushes: 1,
    }]);
    root.querySelector(".fans").hidden = true;
    root.querySelector(".traits").replaceChildren(el("li", {}, file), el("li", {}, aps.event));
    root.dataset.activity = "none"; // no phone has got a push
    return root;
  }));
  everySecond();
}

$("payloads").addEventListener("toggle", drawPayloads);

// --- Ticks ---

// drawChart draws two minutes of slots. Height is the square root of time, so
// that a tick of some milliseconds is seen beside the slot that it has.
function drawChart() {
  const root = $("chart"), width = root.clientWidth, height = root.clientHeight, t = state.ticks;
  if (!t || !width) return;
  const left = 40, top = 12, bottom = height - 16;
  const y = (ms) => bottom - Math.sqrt(Math.min(ms, SLOT * 1.12) / SLOT) * (bottom - top);
  const current = Math.floor(fleetNow() / SLOT), step = (width - left) / SLOTS, bar = Math.max(2, Math.min(10, step - 2.5));
  const x = (slot) => left + (slot - current + SLOTS - 1) * step + (step - bar) / 2;
  const parts = [];
  for (const [ms, label] of [[0, ""], [100, "100 ms"], [500, "½ s"], [1000, "1 s"], [SLOT, "2.5 s"]]) {
    parts.push(svg("line", { class: ms === SLOT ? "limit" : "grid", x1: left, x2: width, y1: y(ms), y2: y(ms) }));
    parts.push(svg("text", { class: ms === SLOT ? "at" : "", x: left - 7, y: y(ms) + 4, "text-anchor": "end" }, label));
  }
  for (const [back, label] of [[48, "2 min ago"], [24, "1 min"], [0, "now"]]) {
    const anchor = back === 48 ? "start" : back ? "middle" : "end";
    parts.push(svg("text", { x: back === 48 ? left : back ? left + 24 * step : width, y: height - 2, "text-anchor": anchor }, label));
  }
  const bars = svg("g", { class: "bars" });
  for (const b of t.bars) {
    if (b.slot <= current - SLOTS || b.slot > current) continue;
    const at = { x: x(b.slot), width: bar, rx: Math.min(2, bar / 2) }, end = (b.lag ?? 0) + (b.took ?? 0);
    const group = svg("g", {});
    const due = hms.format(b.slot * SLOT);
    if (b.result === "done") {
      group.append(svg("title", {}, `${due}: began ${millis(b.lag ?? 0)} after it was due, took ${millis(b.took ?? 0)}, ${b.changed ?? 0} changed`));
      group.append(svg("rect", { ...at, class: "lag", y: y(b.lag ?? 0), height: Math.max(1, bottom - y(b.lag ?? 0)) }));
      group.append(svg("rect", { ...at, class: end > SLOT ? "over" : b.changed ? "changed" : "took", y: y(end), height: Math.max(2, y(b.lag ?? 0) - y(end)) }));
    } else if (b.result === "fault") {
      group.append(svg("title", {}, `${due}: the provider failed (${b.why})`), svg("rect", { ...at, class: "fault", y: y(100), height: bottom - y(100) }));
    } else if (b.result === "missed" || b.result === "failed") {
      const cx = at.x + bar / 2, cy = bottom - 8;
      group.append(svg("title", {}, `${due}: ${b.why ? `failed, ${b.why}` : "no tick"}`));
      group.append(svg("path", { class: "miss", d: `M${cx - 3} ${cy - 3}l6 6m0-6l-6 6` }));
    }
    bars.append(group);
  }
  root.replaceChildren(...parts, bars);
}

function drawTicks() {
  const t = state.ticks;
  const value = (name, text, bad = false) => {
    const node = $("timing").querySelector(`[data-n=${name}]`);
    put(node, text);
    node.closest("div").classList.toggle("bad", bad);
  };
  if (t.expected) {
    value("claimed", t.claimed, t.claimed < t.expected);
    value("expected", `of ${t.expected} slots`);
  }
  if (t.ticks) {
    value("lag50", millis(t.lag.p50));
    value("lag99", millis(t.lag.p99), t.lag.p99 > SLOT);
    value("took50", millis(t.took.p50));
    value("took99", millis(t.took.p99), t.lag.p99 + t.took.p99 > SLOT);
    $("chart").setAttribute("aria-label", `Ticks of the last two minutes: ${t.claimed} of ${t.expected} slots of the last minute claimed, lag ${millis(t.lag.p99)} and work ${millis(t.took.p99)} at the 99th percentile`);
  }
  if (t.delays) {
    value("delay50", millis(t.delay.p50));
    value("delay99", millis(t.delay.p99), t.delay.p99 > 4 * SLOT);
  }
  drawChart();
}

// --- The live loop ---

function drawMachines() {
  const say = (r) => {
    if (r.state === "failed") return r.why;
    if (r.state === "idle") return "nothing live";
    const parts = [r.items ? `${r.done} of ${r.items} ticks` : "planning"];
    if (r.missed) parts.push(`${r.missed} failed`);
    return parts.join(", ");
  };
  $("machines").replaceChildren(...state.machines.map((m) => el("div", { className: "machine" },
    el("h3", {}, m.name),
    ...(m.runs.length ? m.runs.map((r) => el("div", { className: `run ${r.state}`, title: r.name },
      el("time", {}, hms.format(r.began)), el("progress", { max: r.items || 1, value: r.items ? r.done : r.state === "idle" ? 1 : 0, "aria-label": say(r) }), el("span", { className: "say" }, say(r))))
      : [el("p", { className: "quiet" }, "No execution yet.")]))));
}

// --- Controls ---

const RATES = [0.5, 1, 2, 5, 10, 20];
const target = () => $("target").value;
const targeted = () => (state.matches ?? []).find((m) => m.id === target());

function drawTarget(all) {
  keyed($("target"), all.map((m) => m.id), (id) => el("option", { value: id })).forEach((o, i) => put(o, `${all[i].local.code} v ${all[i].visitor.code}, ${all[i].type}`));
  const m = targeted();
  for (const b of $("rates").children) {
    b.setAttribute("aria-pressed", String(m ? (b.dataset.rate ? !m.paused && Number(b.dataset.rate) === m.rate : m.paused) : false));
    b.disabled = !m;
  }
  put($("progress"), m ? `step ${m.shown} of ${m.total}, ${m.status}` : "No match is played.");
}

function drawFaultCounts() {
  for (const b of document.querySelectorAll("[data-kind]")) put(b.querySelector("small"), state.faults?.[b.dataset.kind] || "");
}

function button(name, does, act, data = {}) {
  const b = el("button", { type: "button", title: does }, name, el("small"));
  Object.assign(b.dataset, data);
  b.addEventListener("click", act);
  return b;
}

function drawChoices() {
  $("faults-ball").replaceChildren();
  $("faults-poll").replaceChildren();
  for (const c of state.choices) {
    $(c.ofMatch ? "faults-ball" : "faults-poll").append(button(c.name, c.does, () => press("cricket/fault", { match: target(), kind: c.name }), { kind: c.name }));
  }
  drawFaultCounts();
}

$("rates").append(
  button("Pause", "Hold the match where it is, or go on", () => press("cricket/pause", { match: target(), pause: !targeted()?.paused })),
  ...RATES.map((r) => button(`${r}×`, `Play at ${r} times the pace the match was started with`, async () => {
    if (targeted()?.paused) await press("cricket/pause", { match: target(), pause: false });
    await press("cricket/rate", { match: target(), rate: r });
  }, { rate: r })));
$("target").addEventListener("change", () => drawTarget(state.matches ?? []));

function drawLinks(all) {
  const m = all[0];
  const paths = m ? [`/cricket/matches?ids=${all.map((o) => o.id).slice(0, 20).join(",")}`, `/cricket/matches/${m.id}`, `/cricket/matches/${m.id}/display?team=${m.local.id}`, `/cricket/matches/${m.id}/balls`, `/cricket/matches/${m.id}/scorecard`] : [];
  keyed($("links"), paths, (path) => el("li", {}, el("a", { href: path }, `GET ${path}`)));
}

// --- What the API answers: the scorecard, a fan's home, a day ---

const date = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short" });
const listed = (...words) => words.filter(Boolean).join(" · ");
const count = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;
const nameOf = (side) => side.name || side.code || "to be named";
const titleOf = (m) => `${nameOf(m.local)} v ${nameOf(m.visitor)}`;

const show = async (what) => {
  $("show-said").hidden = await press("cricket/show", what, $("show-said"));
  return $("show-said").hidden;
};

// howOut is a dismissal in words. An unknown code stands for itself.
function howOut(b) {
  const by = b.bowler ? ` b ${b.bowler.name}` : "", names = (b.fielders ?? []).map((p) => p.name);
  const fielder = names.length === 0 ? "" : b.substitute ? ` sub (${names[0]})` : ` ${names[0]}`;
  switch (b.how) {
    case "bowled": return by.trim() || "bowled";
    case "caught": return `c${fielder}${by}`;
    case "caughtAndBowled": return b.bowler ? `c & b ${b.bowler.name}` : "caught and bowled";
    case "lbw": return `lbw${by}`;
    case "stumped": return `st${fielder}${by}`;
    case "hitWicket": return `hit wicket${by}`;
    case "runOut": return names.length ? `run out (${b.substitute ? "sub " : ""}${names.join("/")})` : "run out";
    case "other": return b.text || "out";
  }
  return {
    notOut: "not out", obstructingTheField: "obstructing the field", handledTheBall: "handled the ball", hitTheBallTwice: "hit the ball twice",
    timedOut: "timed out", retiredOut: "retired out", retiredHurt: "retired hurt", retiredNotOut: "retired not out", absentHurt: "absent hurt",
  }[b.how] ?? b.how;
}

const parts = {
  total: "total", batting: "batting", extras: "extras", fallOfWickets: "fall of wickets", partnerships: "partnerships", bowling: "bowling",
};

// short is an abbreviation, which a screen reader reads in full.
const short = (text, full) => [el("span", { ariaHidden: "true" }, text), el("span", { className: "hidden" }, full)];

// player is a name with the marks of the captain and the wicketkeeper.
function player(p, members) {
  const m = members.get(p.id) ?? {};
  const mark = (title, text) => el("span", { title, className: "mark" }, ...short(text, title));
  return el("span", { className: "player" }, p.name, m.captain ? mark("captain", "(c)") : null, m.keeper ? mark("wicketkeeper", "†") : null);
}

const cell = (text) => el("td", { className: "n" }, text ?? "");
const rowHead = (what, small) => el("th", { scope: "row" }, what, small ? el("small", {}, small) : null);

function cells(what, team, first, heads, rows, foot = []) {
  return el("table", { className: "cells" },
    el("caption", {}, what, el("span", { className: "hidden" }, ` of ${team}`)),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, first),
      ...heads.map(([text, title]) => el("th", { scope: "col", className: "n", title }, ...short(text, title))))),
    el("tbody", {}, ...rows), foot.length ? el("tfoot", {}, ...foot) : null);
}

const totalOf = (n) => n.allOut ? String(n.runs) : `${n.runs}/${n.wickets}${n.declared ? "d" : ""}`;
const lengthOf = (n) => listed(n.allOut && "all out", n.declared && "declared", `${n.overs} overs`, n.runRate && `run rate ${n.runRate}`);

function battingOf(n, team, members) {
  const heads = [["R", "runs"], ["B", "balls"], ["4s", "fours"], ["6s", "sixes"], ["SR", "strike rate"]];
  const rows = n.batting.map((b) => el("tr", { className: b.how === "notOut" && !n.over ? "in" : "" }, rowHead(player(b, members), howOut(b)),
    el("td", { className: "n" }, el("b", {}, b.runs)), cell(b.balls), cell(b.fours), cell(b.sixes), cell(b.strikeRate)));
  const x = n.extras, kinds = [["byes", "b"], ["legByes", "lb"], ["wides", "w"], ["noBalls", "nb"], ["penalty", "pen"]];
  const rest = () => el("td", { colSpan: 4 });
  return cells("Batting", team, "batter", heads, rows, [
    el("tr", {}, rowHead("Extras", kinds.filter(([kind]) => x[kind]).map(([kind, text]) => `${text} ${x[kind]}`).join(", ")), cell(x.total), rest()),
    el("tr", { className: "total" }, rowHead("Total", lengthOf(n)), el("td", { className: "n" }, el("b", {}, totalOf(n))), rest()),
  ]);
}

function bowlingOf(n, team, members) {
  const heads = [["O", "overs"], ["M", "maidens"], ["R", "runs"], ["W", "wickets"], ["Econ", "economy, runs of six balls"]];
  return cells("Bowling", team, "bowler", heads, n.bowling.map((b) => el("tr", {},
    rowHead(player(b, members), [b.wides && `w ${b.wides}`, b.noBalls && `nb ${b.noBalls}`].filter(Boolean).join(", ")),
    cell(b.overs), cell(b.maidens), cell(b.runs), el("td", { className: "n" }, el("b", {}, b.wickets)), cell(b.economy))));
}

const paragraph = (title, ...what) => el("p", { className: "line" }, el("b", {}, title), " ", ...what);

// inningsOf are the parts of an innings below its summary.
function inningsOf(n, card) {
  const at = card.teams.findIndex((t) => t.teamId === n.teamId), team = card.teams[at]?.name ?? "", other = card.teams[1 - at]?.name ?? "";
  const members = new Map(card.teams.flatMap((t) => t.players).map((p) => [p.id, p]));
  const t = n.target;
  return [
    t && paragraph("Target", listed(`${t.runs}${t.overs ? ` from ${t.overs} overs` : ""}`, t.revised && "revised by a rain rule")),
    n.batting.length > 0 && battingOf(n, team, members),
    n.didNotBat.length > 0 && paragraph(n.over ? "Did not bat" : "Yet to bat",
      ...n.didNotBat.flatMap((p, i) => [i ? ", " : "", player(p, members)])),
    n.fallOfWickets.length > 0 && el("h4", {}, "Fall of wickets"),
    n.fallOfWickets.length > 0 && el("ol", { className: "falls" }, ...n.fallOfWickets.map((f) => el("li", {},
      el("b", {}, `${f.runs}/${f.wicket}`), " ", el("span", {}, f.batter.name), " ", el("small", {}, f.overs ? `${f.overs} ov` : "")))),
    n.bowling.length > 0 && bowlingOf(n, other, members),
    n.unchecked && paragraph("Unchecked:", "the provider lists no ball of the innings."),
    n.disagreements && paragraph("The provider's rows and balls differ:", n.disagreements.map((p) => parts[p] ?? p).join(", ")),
  ].filter(Boolean);
}

function newInnings() {
  return el("details", { className: "room-fold innings" }, el("summary", {}, el("h3"), el("b", { className: "score" }), el("span")), el("div"));
}

function drawInnings(card) {
  const root = $("innings");
  if (root.dataset.match !== card.matchId) root.replaceChildren();
  root.dataset.match = card.matchId;
  const had = root.children.length;
  const all = keyed(root, card.innings.map((n) => String(n.number)), newInnings);
  all.forEach((details, i) => {
    const n = card.innings[i], text = JSON.stringify([n, card.teams]), before = details.dataset.text;
    if (all.length > had) details.open = i === all.length - 1; // an innings has begun
    if (before === text) return;
    details.dataset.text = text;
    const [title, score, length] = details.firstChild.children, team = card.teams.find((t) => t.teamId === n.teamId)?.name ?? "";
    put(title, listed(team, n.superOver ? "super over" : all.length > 2 && `innings ${n.number}`));
    if (put(score, totalOf(n)) && before) again(score, "flash");
    put(length, lengthOf(n));
    details.lastChild.replaceChildren(...inningsOf(n, card));
  });
}

// words of the phases of a match that is not about to start.
const phases = { live: "Live", break: "Break", stumps: "Stumps", interrupted: "Interrupted", result: "Result", closed: "Closed" };

function startOf(m) {
  const at = Date.parse(m.startTime);
  return date.format(at) === date.format(fleetNow()) ? hm.format(at) : `${date.format(at)}, ${hm.format(at)}`;
}

const phaseOf = (m) => m.phase === "upcoming" ? startOf(m) : phases[m.phase] ?? m.phase;

function drawCard() {
  const c = state.card, m = c.of.answer?.matches[0];
  $("card").hidden = !c.match;
  drawPicks();
  put($("card-about"), m ? listed(m.round, m.leagueName ?? m.league, m.venue) : "");
  put($("card-state"), m ? m.result || listed(phaseOf(m), m.phase !== "upcoming" && m.status) : c.of.refused);
  const best = c.answer?.playerOfMatch;
  put($("card-best"), best ? `Player of the match: ${best.name}` : "");
  drawInnings(c.answer ?? { matchId: c.match, innings: [], teams: [] });
  put($("card-none"), c.answer ? c.answer.innings.length ? "" : "No innings has begun." : c.status === 404 ? "The match has no scorecard yet." : c.refused);
}

// drawPicks offers the matches that the tab knows.
function drawPicks() {
  const known = new Map();
  const homes = state.home?.answer ?? {};
  for (const m of [state.card?.of.answer?.matches, state.matches, homes.live, homes.next, homes.results, state.day?.answer?.matches].flatMap((all) => all ?? [])) {
    if (!known.has(m.id)) known.set(m.id, titleOf(m));
  }
  const match = state.card?.match;
  if (match && !known.has(match)) known.set(match, `Match ${match}`);
  keyed($("card-match"), [...known.keys()], (id) => el("option", { value: id })).forEach((o) => put(o, known.get(o.value)));
  $("card-match").value = match ?? "";
}

function newGame(id) {
  const li = $("game").content.firstElementChild.cloneNode(true);
  li.querySelector("button").addEventListener("click", async () => {
    if (await show({ match: id })) $("card-h").focus();
  });
  return li;
}

// drawGames lists matches. marks returns the words that stand below a match.
function drawGames(root, matches, marks = () => []) {
  keyed(root, matches.map((m) => m.id), newGame).forEach((li, i) => {
    const m = matches[i], f = (name) => li.querySelector(`[data-f=${name}]`);
    li.dataset.phase = m.live ? "live" : m.phase;
    put(f("phase"), phaseOf(m));
    put(f("about"), listed(m.phase !== "upcoming" && !m.result && m.status, m.type, m.leagueName ?? m.league));
    for (const name of ["local", "visitor"]) {
      const side = m[name], of = (part) => li.querySelector(`[data-side=${name}] [data-f=${part}]`);
      put(of("code"), side.code);
      put(of("name"), nameOf(side));
      put(of("overs"), side.overs ? `(${side.overs})` : "");
      put(of("score"), side.score);
    }
    put(f("says"), m.result || (m.phase === "upcoming" ? m.venue : ""));
    f("choose").setAttribute("aria-label", `Scorecard of ${titleOf(m)}`);
    const words = marks(m);
    keyed(f("marks"), words.map(([kind]) => kind), (kind) => el("li", { className: kind })).forEach((mark, j) => put(mark, words[j][1]));
  });
}

function drawHome() {
  const h = state.home, home = h.answer ?? { live: [], next: [], results: [] };
  $("home").hidden = !h.fan;
  drawPicks();
  keyed($("home-fans"), h.fans, (fan) => {
    const b = el("button", { type: "button" }, fan);
    b.addEventListener("click", () => show({ fan }));
    return b;
  }).forEach((b) => b.setAttribute("aria-pressed", String(b.dataset.key === h.fan)));
  const follows = new Set((h.follows.answer?.follows ?? []).filter((f) => !f.subscribed).map((f) => f.matchId));
  const marks = (m) => [
    follows.has(m.id) && ["followed", "followed"],
    m.activitySince ? ["running", `Live Activity since ${hm.format(Date.parse(m.activitySince))}`] : ["idle", "no Live Activity"],
  ].filter(Boolean);
  for (const list of ["live", "next", "results"]) {
    drawGames($(`home-${list}`), home[list], marks);
    $(`home-${list}`).dataset.empty = h.answer && home[list].length === 0 ? "none" : "";
  }
  put($("home-more"), h.refused ?? (home.more ? "The fan follows other matches, too." : ""));
}

async function drawDay() {
  const d = state.day;
  $("day").hidden = !d.timeZone;
  if (!d.timeZone) {
    if (!(await show({ timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone }))) await show({ timeZone: "UTC" });
    return;
  }
  drawPicks();
  const matches = d.answer?.matches ?? [];
  put($("day-about"), listed(d.timeZone, d.answer && count(matches.length, "match", "matches")));
  if (document.activeElement !== $("day-date")) $("day-date").value = d.date;
  drawGames($("day-games"), matches);
  put($("day-more"), d.refused ?? (d.answer?.next ? "The next page has more." : ""));
}

$("card-match").addEventListener("change", (e) => show({ match: e.target.value }));
$("day-date").addEventListener("change", (e) => e.target.value && show({ date: e.target.value }));

// --- Every second ---

function awaited() {
  const now = fleetNow();
  if (!state.matches) return "";
  if (state.matches.length === 0) return "No match is played.";
  if (!state.matches.some((m) => m.screens.length > 0 || m.live)) {
    const next = Math.min(...state.matches.map((m) => m.start).filter((at) => at > now));
    return Number.isFinite(next) ? `Nothing is live yet: the next match starts in ${span(next - now)}.` : "Nothing is live any more.";
  }
  return "";
}

function nextTick() {
  const t = state.ticks, now = fleetNow();
  if (!t) return "";
  const loop = (shell.schedules ?? []).find((s) => (state.machines ?? []).some((m) => m.name === s.name));
  if (t.ticks === 0 && t.waiting > 0) return `No tick yet: ${t.waiting} are planned and wait for their slots, of which the next begins in ${Math.ceil((SLOT - (now % SLOT)) / 1000)} s.`;
  if (t.waiting === 0 && loop?.next && (t.idle || t.ticks === 0)) return `${t.idle ? "Nothing is live or due" : "No tick yet"}: the live loop plans again in ${span(loop.next - now)}.`;
  return "";
}

export function everySecond() {
  const now = fleetNow();
  put($("awaits"), awaited());
  if (!now) return;
  put($("next"), nextTick());
  for (const node of document.querySelectorAll(".screen")) {
    const f = (name) => node.querySelector(`[data-f=${name}]`);
    put(f("time"), hm.format(now));
    put(f("date"), day.format(now));
    if (node.dataset.waits) put(f("headline"), node.dataset.waits > now ? `The match starts in ${span(node.dataset.waits - now)}` : "The first score is on its way");
    const pushes = `${node.dataset.pushes} push${node.dataset.pushes === "1" ? "" : "es"}`;
    put(f("when"), node.dataset.activity === "none" ? "" : node.dataset.at ? `${pushes}, ${ago(now - node.dataset.at)}` : "no push yet");
  }
  for (const node of document.querySelectorAll(".match")) {
    const about = node.querySelector("[data-f=about]"), start = Number(node.dataset.start);
    put(about, about.dataset.text + (start > now ? ` · starts in ${span(start - now)}` : ""));
  }
  for (const time of document.querySelectorAll(".notes time")) put(time, lately(now - time.dataset.at));
  drawChart();
}

export const resized = drawChart;

export const draw = { matches: drawMatches, card: drawCard, home: drawHome, day: drawDay, ticks: drawTicks, machines: drawMachines, choices: drawChoices, faults: drawFaultCounts };
