// The 3FC tab: the page of a scorekeeper's phone.
//
// A tap becomes an entry of a queue in localStorage, each under a key of its own, so that
// two tabs do not overwrite each other's. The page shows at once what it means. The queue is sent in order, each entry with an Idempotency-Key, again and again
// until it is answered: a lost answer, a cut network or an API that is down neither loses a
// goal nor counts it twice. What is refused stays in the queue with the reason, until it is
// discarded or sent again by hand; the score does not have it.

import { $, clock, el, fleetNow, keyed, press, put, room } from "/console/base.js";

const api = "/threefc/v1", kept = "threefc-scorekeeper";
const memory = JSON.parse(localStorage.getItem(kept) ?? "null") ?? { game: "", known: null, done: [] }; // done: entries that were sent, and that known does not have yet
const keep = () => localStorage.setItem(kept, JSON.stringify(memory));

// The session is in a cookie that no script reads: this remembers that 3FC has accepted it.
const session = "threefc-session", asked = "threefc-asked"; // asked: a link was mailed
const signedIn = () => { localStorage.setItem(session, "1"); $("sign-in").hidden = true; };

// The queue, in the order of the taps.
const tap = "threefc-tap ";
const queue = () => Object.keys(localStorage).filter((k) => k.startsWith(tap)).sort().map((k) => JSON.parse(localStorage.getItem(k) ?? "null")).filter(Boolean);
const save = (e) => localStorage.setItem(e.id, JSON.stringify(e));
const drop = (e) => localStorage.removeItem(e.id);
const waiting = () => queue().filter((e) => !e.refused);
const refused = () => queue().filter((e) => e.refused);
let taps = 0;
const nextID = () => `${tap}${String(Date.now()).padStart(15, "0")} ${String(taps++).padStart(6, "0")} ${crypto.randomUUID()}`;

let cut = false, sending = false, undone = 0, answer = null; // answer: what is known of the goal that is being entered

// now is the time of the fleet: without a network that of this device, by what it was when the
// fleet was last heard.
const heard = "threefc-clock";
function now() {
  if (fleetNow()) return fleetNow();
  const last = JSON.parse(localStorage.getItem(heard) ?? "null");
  return last ? last.now + (Date.now() - last.at) * last.speed : Date.now();
}

// ulid returns the id of a goal, by the time of the tap.
function ulid() {
  const letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ", random = crypto.getRandomValues(new Uint8Array(16));
  let text = "", t = Date.now();
  for (let i = 0; i < 10; i++, t = Math.floor(t / 32)) text = letters[t % 32] + text;
  return text + [...random].map((b) => letters[b % 32]).join("");
}

async function call(method, path, body, headers = {}) {
  if (cut) throw new TypeError("the network is cut");
  const out = await fetch(api + path, {
    method, headers: { ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...headers }, body: body === undefined ? undefined : JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  });
  const text = await out.text();
  return { status: out.status, body: text ? JSON.parse(text) : null };
}

const say = (text, no = false) => { put($("scorer-said"), text); $("scorer-said").classList.toggle("no", no); };

// load reads what 3FC has of the game. It asks nothing before anybody has signed in.
async function load() {
  if (!localStorage.getItem(session)) return signedOut();
  const path = `/games/${memory.game}`, before = memory.done.length;
  const [game, goals, roster] = await Promise.all([call("GET", path), call("GET", `${path}/goals`), call("GET", `${path}/roster`)]);
  if (game.status === 401) return signedOut();
  if (game.status === 403 || game.status === 404) { memory.game = ""; memory.known = null; memory.done = []; keep(); return show(); } // the queue is refused
  if ([game, goals, roster].some((out) => out.status !== 200)) return; // it is read again when the queue is sent
  memory.known = { game: game.body, goals: goals.body.goals, roster: roster.body.players };
  memory.done.splice(0, before);
  keep();
  show();
}

// signedOut asks to sign in. What is tapped until then waits in the queue.
function signedOut() { localStorage.removeItem(session); $("sign-in").hidden = false; }

// send sends the queue, and reads what 3FC has of it then.
async function send() {
  if (sending || !waiting().length && !memory.done.length) return;
  sending = true;
  try {
    for (let e; (e = waiting()[0]);) {
      if (!e.tried) { e.tried = true; save(e); }
      const out = await call(e.method, e.path, e.body, { "Idempotency-Key": e.key });
      if (out.status === 401) { signedOut(); break; }
      signedIn(); // also if it was in another tab
      if (out.status === 429 || out.status >= 500 || out.body?.type?.endsWith(":stale")) break; // others were faster
      if (out.status < 400 || e.drop && out.body?.type?.endsWith(":goal_not_found")) { // it never came to 3FC
        drop(e);
        refused().filter((r) => e.drop && r.goal?.eventId === e.drop).forEach(drop);
        if (out.status < 400) memory.done.push(e);
        keep();
        continue;
      }
      save({ ...e, refused: out.body?.detail ?? `3FC answered ${out.status}` });
      say(`${e.says} was refused: see below.`, true);
    }
    if (!waiting().length && memory.game) await load();
  } catch {
    // the network: the next try comes in two seconds
  } finally {
    sending = false;
    show();
  }
}

function add(entry) {
  save({ id: nextID(), key: crypto.randomUUID(), ...entry });
  show();
  send();
}

// coming is the game as it will be when the queue is sent.
function coming() {
  const { game, goals, roster } = structuredClone(memory.known);
  let all = goals.map((g) => ({ ...g, sent: true }));
  for (const e of [...memory.done, ...waiting()]) {
    if (e.goal && !all.some((g) => g.eventId === e.goal.eventId)) all.push(e.goal); // an answer may be lost
    if (e.drop) all = all.filter((g) => g.eventId !== e.drop);
    if (e.start) { game.thirds[e.start - 1].startedAt = e.body.at; game.status = "live"; }
    if (e.finish) game.thirds[e.finish - 1].finishedAt = e.body.at;
    if (e.end) game.status = "finished";
  }
  const scores = new Map(game.teams.map((t) => [t.teamId, { for: 0, against: 0 }]));
  for (const g of all) {
    if (g.scoringTeamId) scores.get(g.scoringTeamId).for++;
    scores.get(g.concedingTeamId).against++;
  }
  const running = game.thirds.findIndex((t) => t.startedAt && !t.finishedAt) + 1;
  return { game, all, scores, roster, running, next: game.thirds.findIndex((t) => !t.startedAt) + 1 };
}

const team = (v, id) => v.game.teams.find((t) => t.teamId === id)?.name ?? "";
const player = (v, id) => v.roster.find((p) => p.playerId === id)?.nickname ?? "";
const line = (v, g) => `${g.third}. third, ${g.gameMinute}' · ${player(v, g.scorerPlayerId)} · ${g.ownGoal ? `own goal, ${team(v, g.concedingTeamId)} concedes` : `${team(v, g.scoringTeamId)} against ${team(v, g.concedingTeamId)}`}`;
const at = () => new Date(now()).toISOString();

function step(v) {
  if (v.running) return { text: `finish third ${v.running}`, entry: { method: "POST", path: `/games/${memory.game}/thirds/${v.running}/finish`, body: { at: at() }, finish: v.running } };
  if (v.game.status === "finished") return null;
  if (v.next) return { text: `start third ${v.next}`, entry: { method: "POST", path: `/games/${memory.game}/thirds/${v.next}/start`, body: { at: at() }, start: v.next } };
  return { text: "finish the game", entry: { method: "POST", path: `/games/${memory.game}/finish`, end: true } };
}

function tick() {
  if (fleetNow()) localStorage.setItem(heard, JSON.stringify({ now: fleetNow(), at: Date.now(), speed: clock.speed }));
  if (!memory.known || $("phone").hidden) return;
  const v = coming(), third = v.running && v.game.thirds[v.running - 1];
  put($("third"), v.running ? `Third ${v.running}` : v.game.status === "finished" ? "Finished" : v.next === 1 ? "Not started" : "Break");
  if (!third) return put($("clock"), "");
  const s = Math.max(0, Math.floor((now() - Date.parse(third.startedAt)) / 1000)), over = s - v.game.thirdLength * 60;
  const mmss = (n) => `${String(Math.floor(n / 60)).padStart(2, "0")}:${String(n % 60).padStart(2, "0")}`;
  put($("clock"), over > 0 ? `${v.game.thirdLength}:00 + ${mmss(over)}` : mmss(s));
}

function show() {
  const n = waiting().length, no = refused();
  put($("net"), cut ? `no network · ${n} waiting` : n ? `sending · ${n} waiting` : no.length ? `${no.length} refused` : "everything is sent");
  $("kept").hidden = !no.length;
  keyed($("kept-list"), no.map((e) => e.id), () => el("li", {}, el("b"), el("p"), el("div", { className: "buttons" },
    el("a", {}, "tell an administrator"), el("button", { type: "button" }, "try again"), el("button", { type: "button" }, "discard")))).forEach((li, i) => {
    const e = no[i], [what, why, buttons] = li.children, [tell, again, discard] = buttons.children;
    put(what, e.text ?? e.says);
    put(why, `3FC says: ${e.refused}.`);
    tell.href = `mailto:?subject=${encodeURIComponent("A goal for 3FC")}&body=${encodeURIComponent(`${e.text ?? e.says}\n3FC says: ${e.refused}.\n${new URL(room.threefc?.page ?? "", location.origin)}`)}`;
    again.onclick = () => { save({ ...e, refused: "", key: crypto.randomUUID() }); show(); send(); };
    discard.onclick = () => { drop(e); show(); };
  });
  $("phone").hidden = !memory.known;
  if ($("phone").hidden) return;
  const v = coming();
  keyed($("scores"), v.game.teams.map((t) => t.teamId), () => el("li", {}, el("i"), el("span"), el("b"), el("small"))).forEach((li, i) => {
    const t = v.game.teams[i], s = v.scores.get(t.teamId);
    li.firstElementChild.style.background = t.color;
    put(li.children[1], t.name);
    put(li.children[2], s.against);
    put(li.children[3], `conceded · ${s.for} scored`);
  });
  keyed($("goals"), v.all.map((g) => g.eventId).reverse(), () => el("li")).forEach((li, i) => {
    const g = v.all[v.all.length - 1 - i];
    put(li, line(v, g));
    li.classList.toggle("waiting", !g.sent);
  });
  const next = step(v);
  put($("step"), next?.text);
  $("step").hidden = !next;
  $("goal").disabled = !v.running;
  $("undo").disabled = v.game.status === "finished" || !v.game.reopened && v.all.at(-1)?.third !== v.running || !v.all.length;
  $("moves").hidden = !!answer;
  $("ask").hidden = !answer;
  if (answer) ask(v);
  settle();
  tick();
}

// settle takes no taps for a moment when other buttons appear, or do something else from now
// on: the second of a double tap would hit one of them.
function settle() {
  const at = answer ? $("question").textContent : `${$("step").textContent} ${undone}`;
  if (at === settle.at) return;
  settle.at = at;
  $("phone").inert = true;
  setTimeout(() => { $("phone").inert = false; }, 400);
}

// ask asks for what is not known of the goal yet.
function ask(v) {
  const choose = (question, all, then) => {
    put($("question"), question);
    keyed($("choices"), all.map((o) => `${question} ${o.id}`), () => el("button", { type: "button", className: "big" })).forEach((b, i) => {
      put(b, all[i].name);
      b.onclick = () => { then(all[i].id); show(); };
    });
  };
  const teams = (without) => v.game.teams.filter((t) => t.teamId !== without).map((t) => ({ id: t.teamId, name: t.name }));
  $("own").hidden = answer.own || answer.scoring;
  if (!answer.own && !answer.scoring) return choose("Who scored?", teams(), (id) => { answer.scoring = id; });
  if (!answer.conceding) return choose(answer.own ? "Whose own goal?" : "Against whom?", teams(answer.scoring), (id) => { answer.conceding = id; });
  const of = answer.own ? answer.conceding : answer.scoring;
  choose("Which player?", v.roster.filter((p) => p.teamId === of).map((p) => ({ id: p.playerId, name: p.nickname })), (id) => {
    const goal = { eventId: ulid(), third: answer.third, gameMinute: answer.minute, concedingTeamId: answer.conceding, scorerPlayerId: id, ownGoal: answer.own, ...(answer.own ? {} : { scoringTeamId: answer.scoring }) };
    answer = null;
    add({ method: "POST", path: `/games/${memory.game}/goals`, body: goal, goal, says: "The goal", text: line(v, goal) });
  });
}

$("goal").addEventListener("click", () => {
  const v = coming(), third = v.game.thirds[v.running - 1]; // the minute is that of the tap, however long the questions take
  answer = { third: v.running, minute: Math.min(120, Math.max(0, Math.floor((now() - Date.parse(third.startedAt)) / 60_000))), own: false };
  show();
});
$("own").addEventListener("click", () => { answer.own = true; show(); });
$("never").addEventListener("click", () => { answer = null; show(); });
$("undo").addEventListener("click", () => {
  undone++;
  const v = coming(), last = v.all.at(-1), mine = waiting().find((e) => e.goal?.eventId === last.eventId);
  if (mine && !mine.tried) { // nobody has heard of it
    drop(mine);
    return show();
  }
  add({ method: "DELETE", path: `/games/${memory.game}/goals/${last.eventId}`, drop: last.eventId, says: "The undo" });
});
$("step").addEventListener("click", () => {
  const next = step(coming());
  add({ ...next.entry, says: next.text });
});
$("cut").addEventListener("click", () => {
  cut = !cut;
  $("cut").setAttribute("aria-pressed", cut);
  put($("cut"), cut ? "join the network again" : "cut the network");
  show();
  send();
});
$("new-game").addEventListener("click", async () => {
  if (await press("threefc/game", {}, $("scorer-said"))) memory.game = "";
});
$("ask-link").addEventListener("click", async () => {
  const out = await call("POST", "/auth/magic/start", { email: room.threefc?.email }).catch(() => null);
  if (out?.status === 202) localStorage.setItem(asked, "1");
  say(out?.status === 202 ? "The mail is on its way: it is in the tab Mail." : out?.body?.detail ?? "There is no network.", out?.status !== 202);
});

// The page of the link signs in, in a tab of its own. This one learns of it when it is looked at again.
async function enter() {
  if (localStorage.getItem(session) || !localStorage.getItem(asked)) return;
  const out = await call("GET", "/auth/session").catch(() => null);
  if (out?.status !== 200) return;
  localStorage.removeItem(asked);
  say(`Signed in as ${out.body.email}.`);
  signedIn();
  await load().catch(() => {});
  send();
}
addEventListener("focus", enter);

function drawScorer() {
  const at = room.threefc;
  $("scorer").hidden = false;
  if (at.page) { $("public").hidden = false; $("public").href = at.page; }
  if (at.game && memory.game !== at.game && !waiting().length) {
    memory.game = at.game;
    memory.known = null;
    memory.done = [];
    keep();
    load().catch(() => {});
  }
}

addEventListener("online", send);
addEventListener("storage", (e) => { // another tab
  if (e.key === heard) return;
  if (e.key === kept && e.newValue) Object.assign(memory, JSON.parse(e.newValue));
  show();
});
setInterval(() => { send(); if (memory.game && !memory.known) load().catch(() => {}); }, 2000);
navigator.serviceWorker?.register("/threefc/sw.js").catch(() => {}); // without it the page opens with a network only
$("scorer").hidden = !memory.known && !queue().length; // until the fleet tells of a game
enter().then(() => memory.game && load().catch(() => {}));
show();

export const draw = { threefc: drawScorer };
export const everySecond = tick;
