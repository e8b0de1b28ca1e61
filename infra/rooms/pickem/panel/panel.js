// The pick'em tab: the season as the API shows it to the member me.

import { $, clock, el, fleetNow, hm, keyed, press, put, room, span, still } from "/console/base.js";

let view; // as last told
let chosen = ""; // the id of the show that is looked at, "" for the latest
let table = ""; // what is ranked: "" for everybody's year, "show" for the show, or the id of a league
const unsaved = new Map(); // picks that the API does not tell yet: id of a team by match
let saving = Promise.resolve(); // picks are saved one after the other

const date = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "long", timeZone: "UTC" });
const shown = () => view.shows.find((s) => s.event.id === chosen) ?? view.shows[0];
const isOpen = (e) => e.state === "upcoming" && fleetNow() < Date.parse(e.lockAt);
const isIn = (m) => m.result !== undefined;
const count = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;
const ordinal = new Intl.PluralRules("en", { type: "ordinal" });
const nth = (n) => `${n}${{ one: "st", two: "nd", few: "rd", other: "th" }[ordinal.select(n)]}`;

// --- The card ---

function picksOf(e) {
  const picks = { ...e.prediction?.predictions };
  for (const m of e.card) if (unsaved.has(m.id)) picks[m.id] = unsaved.get(m.id);
  return picks;
}

// pick saves all picks of a show. Those that are not saved are taken back.
function pick(match, team) {
  unsaved.set(match, team);
  const e = shown().event, picks = picksOf(e);
  drawShow();
  saving = saving.then(async () => {
    if (await press("pickem/pick", { event: e.id, picks }, $("season-said"))) return;
    unsaved.clear();
    drawShow();
  });
}

function drawTeam(label, e, m, i, picked) {
  const t = m.teams[i], [input, name, members, tags] = label.children, open = isOpen(e);
  put(name, t.name || t.members.join(" & "));
  put(members, t.name ? t.members.join(" & ") : "");
  input.checked = picked === t.id;
  input.disabled = !open;
  const won = m.result === i, mine = picked === t.id && !open;
  label.className = ["corner", won && "won", isIn(m) && !won && "lost", mine && isIn(m) && m.result !== "void" && (won ? "right" : "wrong")].filter(Boolean).join(" ");
  const words = [t.champion && "champion", mine && "your pick", won && "winner"].filter(Boolean);
  keyed(tags, words, (word) => el("span", { className: word.replace(" ", "-") }, word));
}

function drawBout(li, s, m) {
  const e = s.event, f = (name) => li.querySelector(`[data-f=${name}]`), picked = picksOf(e)[m.id];
  const brought = e.prediction?.score?.picks.find((p) => p.matchId === m.id);
  let worth = count(m.points, "point");
  if (m.result === "void") worth = "no contest";
  else if (brought && isIn(m)) worth = `${brought.points ? "+" : ""}${brought.points} of ${count(m.points, "point")}`;
  put(f("name"), m.name);
  put(f("worth"), worth);
  f("worth").classList.toggle("earned", Boolean(brought?.points));
  put(f("titles"), [...(m.championships ?? []), m.preshow && "Pre-show"].filter(Boolean).join(" · "));
  f("teams").classList.toggle("many", m.teams.length > 3);
  f("teams").setAttribute("aria-label", `${m.name}, ${worth}`);
  li.classList.toggle("void", m.result === "void");
  keyed(f("teams"), m.teams.map((t) => t.id), (id) => {
    const input = el("input", { type: "radio", name: m.id, value: id });
    input.addEventListener("change", () => pick(m.id, id));
    return el("label", { className: "corner" }, input, el("b"), el("small"), el("span", { className: "tags" }));
  }).forEach((label, i) => drawTeam(label, e, m, i, picked));
  const changed = s.corrections?.corrections.find((c) => c.matchId === m.id && c.from);
  put(f("note"), changed ? `It was ${changed.from}. ${changed.reason ?? ""}` : e.prediction?.void?.includes(m.id) ? "Its teams have changed: pick again." : "");
}

function about(s) {
  const e = s.event, mine = Object.keys(picksOf(e)).length;
  return [
    date.format(Date.parse(e.date)), s.entries ? `${count(s.entries, "member")} picked` : "nobody has picked yet",
    isOpen(e) ? `you ${mine} of ${count(e.card.length, "match", "matches")}` : mine === 0 && "you did not", e.bonus && `${e.bonus} points more for a perfect card`,
  ].filter(Boolean).join(" · ");
}

// drawLock says how long picks are taken, and then how far the show is.
function drawLock() {
  const s = shown(), e = s.event, now = fleetNow(), left = Date.parse(e.lockAt) - now, root = $("lock"), done = e.card.filter(isIn).length;
  let state = "open", big = `${Math.floor(Math.ceil(left / 1000) / 60)}:${String(Math.ceil(left / 1000) % 60).padStart(2, "0")}`, small = "until the lock";
  if (e.state === "scored") {
    const sheet = e.prediction?.score;
    state = "scored";
    big = sheet ? count(sheet.points, "point") : "Scored";
    small = e.updating ? "being worked out anew" : sheet && s.results?.mine ? `${count(sheet.correct, "match", "matches")} right, ${nth(s.results.mine.rank)} of ${s.results.count}` : "you did not pick";
  } else if (!isOpen(e)) {
    const begins = Date.parse(e.startsAt) - now;
    state = done || begins <= 0 ? "air" : "locked";
    big = state === "air" ? "On air" : "Locked";
    small = begins > 0 && !done ? `begins in ${span(begins)}` : done === e.card.length ? "points to come" : `${done} of ${count(e.card.length, "result")}`;
  } else if (left > 3600e3) {
    big = hm.format(Date.parse(e.lockAt));
    small = `locks ${date.format(Date.parse(e.lockAt))}`;
  } else if (left < 60e3) state = "soon";
  root.dataset.state = state;
  if (isOpen(e)) root.firstElementChild.setAttribute("role", "timer"); else root.firstElementChild.removeAttribute("role");
  put(root.firstElementChild, big);
  put(root.lastElementChild, small);
}

function drawShow() {
  const s = shown(), e = s.event;
  put($("show"), e.name);
  put($("show-about"), about(s));
  keyed($("card"), e.card.map((m) => m.id), () => $("bout").content.firstElementChild.cloneNode(true)).forEach((li, i) => drawBout(li, s, e.card[i]));
  const done = e.card.filter(isIn).length;
  $("season-lock").disabled = !isOpen(e);
  $("season-result").disabled = isOpen(e) || done === e.card.length;
  $("season-correct").disabled = done === 0;
  $("season-score").disabled = e.state !== "broadcast" || done < e.card.length;
  drawLock();
}

// --- Tables ---

// drawRows fills a table with members, in their order; who has moved slides to the
// new place.
function drawRows(table, rows, cells) {
  const body = table.tBodies[0], was = new Map([...body.rows].map((tr) => [tr, tr.offsetTop]));
  keyed(body, rows.map((r) => r.userId), () => el("tr")).forEach((tr, i) => {
    const texts = cells(rows[i]);
    keyed(tr, texts.map((_, n) => `${n}`), () => el("td")).forEach((td, n) => {
      const [text, kind, label] = texts[n];
      put(td, text);
      td.className = kind;
      if (label) td.setAttribute("aria-label", label); else td.removeAttribute("aria-label");
    });
    tr.classList.toggle("me", rows[i].userId === view.member);
  });
  if (still.matches) return;
  for (const [tr, top] of was) {
    if (tr.isConnected && tr.offsetTop !== top) tr.animate([{ transform: `translateY(${top - tr.offsetTop}px)` }, { transform: "none" }], { duration: 600, easing: "cubic-bezier(.2,.85,.25,1)" });
  }
}

function movement(by) {
  if (by === undefined) return ["new", "move new", "new in the table"];
  if (by === 0) return ["", "move", "as before"];
  return by > 0 ? [`▲ ${by}`, "move up", `up ${by}`] : [`▼ ${-by}`, "move down", `down ${-by}`];
}

function drawTables() {
  const s = shown(), scores = s.results && { name: "This show", standings: s.results.entries };
  const all = new Map([["", { name: "Everybody", ...view.standings }], ...view.leagues.map((l) => [l.league.leagueId, { ...l.league, ...l.standings }]), ...(scores ? [["show", scores]] : [])]);
  const of = all.has(table) ? table : "", t = all.get(of);
  keyed($("tables"), [...all.keys()], (key) => {
    const b = el("button", { type: "button" });
    b.addEventListener("click", () => {
      table = key;
      drawTables();
    });
    return b;
  }).forEach((b) => {
    put(b, all.get(b.dataset.key).name);
    b.setAttribute("aria-pressed", String(b.dataset.key === of));
  });
  drawRows($("standings"), t.standings, (r) => [
    [r.rank, "n"], of === "show" ? ["", "move"] : movement(r.movement), [r.name, "who"], [r.correct, "n few"], [r.points.toLocaleString("en"), "n"],
  ]);
  put($("standings-note"), t.standings.length === 0 ? "Nobody has points yet: they come with the first show that is scored." : t.code ? `The code ${t.code} invites to ${t.name}.` : "");
}

function drawShows() {
  keyed($("shows"), view.shows.map((s) => s.event.id), (id) => {
    const b = el("button", { type: "button" });
    b.addEventListener("click", () => {
      chosen = id === view.shows[0].event.id ? "" : id;
      put($("season-said"), "");
      drawSeason();
    });
    return b;
  }).forEach((b, i) => {
    put(b, view.shows[i].event.name);
    b.setAttribute("aria-pressed", String(view.shows[i] === shown()));
  });
}

function drawSeason() {
  view = room.season;
  $("season").hidden = $("ranking").hidden = view.shows.length === 0;
  if ($("season").hidden) return;
  for (const s of view.shows) {
    for (const [match, team] of Object.entries(s.event.prediction?.predictions ?? {})) if (unsaved.get(match) === team) unsaved.delete(match);
  }
  drawShows();
  drawShow();
  drawTables();
}

// The lock comes without an event.
export function everySecond() {
  if (!view?.shows.length || !clock.now) return;
  const first = $("card").querySelector("input");
  if (first && first.disabled === isOpen(shown().event)) drawShow(); else drawLock();
}

for (const what of ["lock", "result", "correct", "score"]) {
  $(`season-${what}`).addEventListener("click", () => press(`pickem/${what}`, { event: shown().event.id }, $("season-said")));
}

export const draw = { season: drawSeason };
