// The Best Shot tab: a round as the API shows it to the visitor, the leaderboard with the visitor's neighbours, and the
// table of the visitor's friends. Points of matches in play are marked as provisional.

import { $, clock, el, fleetNow, keyed, millis, press, put, room, span, still } from "/console/base.js";

let view; // as last told

const has = (n) => n !== null && n !== undefined;

function said(m) {
  const now = fleetNow(), date = Date.parse(m.date);
  if (m.status === "ended") return "ended";
  if (m.status !== "open") return "without a date";
  return date > now ? `begins in ${span(date - now)}` : "being played";
}

function earned(m) {
  const g = m.guess;
  if (!g || !has(g.home.value)) return Date.parse(m.date) > fleetNow() ? "" : "no guess";
  const text = `your guess ${g.home.value}:${g.away.value}`;
  if (m.status === "ended") return `${text} · ${g.total ? `+${g.total} points` : "no points"}`;
  const now = view.live?.matches.find((l) => l.matchId === m.id);
  return now ? `${text} · +${now.points} provisional` : text;
}

function drawMatch(li, m) {
  const f = (name) => li.querySelector(`[data-f=${name}]`), open = m.status === "open" && Date.parse(m.date) > fleetNow();
  put(f("when"), said(m));
  put(f("home"), m.home.name);
  put(f("away"), m.away.name);
  put(f("of-home"), `goals of ${m.home.name}`);
  put(f("of-away"), `goals of ${m.away.name}`);
  const goals = has(m.home.score) ? [m.home.score, m.away.score] : m.live ? [m.live.home, m.live.away] : null;
  if (put(f("score"), goals ? goals.join(" : ") : "– : –") && goals && !still.matches) f("score").animate([{ color: "var(--accent)" }, {}], { duration: 1500 });
  f("tip").hidden = !open;
  put(f("earned"), earned(m));
  li.dataset.state = open ? "open" : m.status === "ended" ? (m.guess?.total ? "right" : "ended") : "live";
  for (const side of ["home", "away"]) {
    const input = f("tip").elements[side];
    if (input.value === "" && has(m.guess?.[side].value) && document.activeElement !== input) input.value = m.guess[side].value;
  }
}

function newMatch(id) {
  const li = $("match").content.firstElementChild.cloneNode(true), form = li.querySelector("form");
  form.addEventListener("submit", (e) => {
    e.preventDefault();
    press("bestshot/guess", { match: id, home: Number(form.elements.home.value), away: Number(form.elements.away.value) }, $("bestshot-said"));
  });
  return li;
}

function drawMatches() {
  put($("bestshot-h"), `Round ${view.round}`);
  put($("bestshot-about"), view.label);
  $("waiting").hidden = view.matches.length > 0;
  keyed($("matches"), view.matches.map((m) => m.id), newMatch).forEach((li, i) => drawMatch(li, view.matches[i]));
}

function movement(by) {
  if (by === 0) return ["", "move", "as before"];
  return by > 0 ? [`▲ ${by}`, "move up", `up ${by}`] : [`▼ ${-by}`, "move down", `down ${-by}`];
}

function drawBoard() {
  const body = $("ranks").tBodies[0], was = new Map([...body.rows].map((tr) => [tr, tr.offsetTop]));
  keyed(body, view.leaderboard.map((r) => r.memberId), () => el("tr", {}, el("td"), el("td"), el("td"), el("td"))).forEach((tr, i) => {
    const r = view.leaderboard[i], [moved, kind, label] = movement(r.movement), [rank, move, who, points] = tr.cells;
    put(rank, r.rank);
    put(move, moved);
    put(who, r.nickName);
    put(points, r.points);
    rank.className = points.className = "n";
    who.className = "who";
    move.className = kind;
    move.setAttribute("aria-label", label);
    tr.classList.toggle("me", r.memberId === view.member);
  });
  $("nobody").hidden = view.leaderboard.length > 0;
  $("ranks").hidden = view.leaderboard.length === 0;
  put($("source"), `${view.off ? "from PostgreSQL" : "from Redis"} · ${millis(view.took)}`);
  put($("cache"), view.off ? "switch Redis on" : "switch Redis off");
  $("cache").setAttribute("aria-pressed", String(view.off));
  if (still.matches) return;
  for (const [tr, top] of was) {
    if (tr.isConnected && tr.offsetTop !== top) tr.animate([{ transform: `translateY(${top - tr.offsetTop}px)` }, { transform: "none" }], { duration: 600, easing: "cubic-bezier(.2,.85,.25,1)" });
  }
}

const rowOf = () => el("tr", {}, el("td", { className: "n" }), el("td", { className: "who" }), el("td", { className: "n" }), el("td", { className: "n" }));

// drawRanks draws members with a rank, a name, a note and points.
function drawRanks(body, entries, note) {
  keyed(body, entries.map((r) => r.memberId), rowOf).forEach((tr, i) => {
    const r = entries[i];
    [r.rank, r.nickName, note(r), r.points].forEach((text, n) => put(tr.cells[n], text));
    tr.classList.toggle("me", r.memberId === view.member);
  });
}

function drawAround() {
  const me = view.around.find((r) => r.memberId === view.member);
  $("around").hidden = !me;
  if (!me) return;
  put($("around-h"), `You: rank ${me.rank}, ${me.points} points`);
  drawRanks($("neighbours").tBodies[0], view.around, () => "");
}

function drawFriends() {
  const now = view.live;
  $("friends-live").hidden = $("own-live").hidden = !now;
  if (now) put($("own-live"), `If it ended now, you would have ${now.points} points, ${now.points - now.settledPoints} more than are settled${has(now.rank) ? `, and rank ${now.rank}` : ""}.`);
  $("table").classList.toggle("provisional", Boolean(now));
  drawRanks($("table").tBodies[0], view.friends, (r) => (has(r.provisionalPoints) ? `+${r.provisionalPoints}` : ""));
}

function drawBestShot() {
  view = room.bestshot;
  $("bestshot").hidden = $("board").hidden = $("friends").hidden = !view;
  if (!view) return;
  drawMatches();
  drawBoard();
  drawAround();
  drawFriends();
}

// A kick-off comes without an event.
export function everySecond() {
  if (view && clock.now) drawMatches();
}

$("cache").addEventListener("click", () => press("bestshot/cache", { off: !view.off }, $("bestshot-said")));

export const draw = { bestshot: drawBestShot };
