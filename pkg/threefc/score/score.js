// The page of a scorekeeper's phone, for the games of one session.
//
// A tap becomes an entry of a queue in localStorage, each under a key of its own, so that two tabs do not
// overwrite each other's. The page shows at once what it means. The queue is sent in order, each entry with
// an Idempotency-Key, again and again until it is answered: a lost answer, a missing network or an API that
// is down neither loses a goal nor counts it twice. What is refused stays in the queue with the reason,
// until it is discarded or sent again by hand; the score does not have it.
"use strict";

const $ = (id) => document.getElementById(id);

function el(tag, props = {}, ...children) {
  const node = Object.assign(document.createElement(tag), props);
  node.append(...children);
  return node;
}

// put changes a text only if it is another: a screen reader says what has changed.
function put(node, text) {
  text = String(text ?? "");
  if (node.textContent !== text) node.textContent = text;
}

// keyed makes root's children those of the keys, in order, and keeps what is there, with its focus.
function keyed(root, keys, make) {
  const old = new Map([...root.children].map((c) => [c.dataset.key, c]));
  keys.forEach((key, i) => {
    const node = old.get(key) ?? make(key);
    node.dataset.key = key;
    old.delete(key);
    if (root.children[i] !== node) root.insertBefore(node, root.children[i] ?? null);
  });
  for (const node of old.values()) node.remove();
  return [...root.children];
}

// The address is that of a session, or "last" for the one of the last time.
const [, base, asked] = location.pathname.match(/^(.*)\/score\/([^/]*)$/);
const api = `${base}/v1`;

// memory is what is known of the session and of its game. done: entries that were sent, and that known
// does not have yet. guest: this phone scores by the PIN of the session. offset: how far the clock of 3FC is before that of the phone, in ms.
const kept = "score";
const memory = { session: "", games: [], game: "", known: null, done: [], guest: false, offset: 0, ...JSON.parse(localStorage.getItem(kept) ?? "null") };
const keep = () => localStorage.setItem(kept, JSON.stringify(memory));
if (asked !== "last" && asked !== memory.session) {
  Object.assign(memory, { session: asked, games: [], game: "", known: null, done: [], guest: false });
  keep();
}

// The queue, in the order of the taps.
const tap = "score-tap ";
const queue = () => Object.keys(localStorage).filter((k) => k.startsWith(tap)).sort().map((k) => JSON.parse(localStorage.getItem(k) ?? "null")).filter(Boolean);
const save = (e) => localStorage.setItem(e.id, JSON.stringify(e));
const drop = (e) => localStorage.removeItem(e.id);
const waiting = () => queue().filter((e) => !e.refused);
const refused = () => queue().filter((e) => e.refused);
let taps = 0;
const nextID = () => `${tap}${String(Date.now()).padStart(15, "0")} ${String(taps++).padStart(6, "0")} ${crypto.randomUUID()}`;

// The fragment of a scoring link is the PIN: no server sees it, and nothing happens before its user has agreed.
const linked = decodeURIComponent(location.hash.slice(1));

let sending = false, loading = false, again = false, forced = false, signedOut = false, undone = 0, answer = null; // answer: what is known of the goal that is being entered

// now is the time of 3FC, by the clock of the phone and by what it was when 3FC was last heard.
const now = () => Date.now() + memory.offset;

// hear sets the clock by an answer that was quick. Two seconds are no difference: a Date has no fractions.
function hear(date, sent) {
  const offset = Date.parse(date) - Date.now();
  if (Date.now() - sent > 5000 || !(Math.abs(offset - memory.offset) > 2000)) return;
  memory.offset = offset;
  keep();
}

// ulid returns the id of a goal, by the time of the tap. It sorts behind those before.
let latest = 0;
function ulid() {
  const letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ", random = crypto.getRandomValues(new Uint8Array(16));
  let text = "", t = latest = Math.max(Date.now(), latest + 1);
  for (let i = 0; i < 10; i++, t = Math.floor(t / 32)) text = letters[t % 32] + text;
  return text + [...random].map((b) => letters[b % 32]).join("");
}

async function call(method, path, body, headers = {}) {
  const sent = Date.now(), guest = memory.guest;
  const out = await fetch(api + path, {
    method, headers: { ...(memory.guest ? { Scorer: "pin" } : {}), ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...headers }, body: body === undefined ? undefined : JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  });
  const text = await out.text();
  hear(out.headers.get("Date"), sent);
  if (out.status === 401 && guest === memory.guest) signedOut = true; // not of who has entered the PIN meanwhile
  return { status: out.status, etag: out.headers.get("ETag"), body: text ? JSON.parse(text) : null };
}

const say = (text, no = false) => { put($("said"), text); $("said").className = no ? "wrong" : ""; };

// load reads what 3FC has: without a game the games of the session, of which a single one is chosen.
// It reads the goals and the roster again only if the game has changed, or once it was forced to.
// A call while another one reads has it read again, because who is signed in may have changed meanwhile.
async function load(force = false) {
  forced ||= force;
  if (!memory.session) return;
  if (loading) { again = true; return; }
  loading = true;
  try {
    await (memory.game ? loadGame() : loadGames());
  } catch {
    // the network: it is read again in ten seconds
  } finally {
    loading = false;
    show();
  }
  if (again) {
    again = false;
    await load();
  }
}

// lost reports whether the caller has no right to what was asked for. A guest whose PIN has ended is signed out.
function lost(out) {
  if (out.status !== 403 && out.status !== 404) return false;
  Object.assign(memory, { game: "", known: null, done: [], guest: false });
  signedOut = out.status === 403;
  keep();
  say(`3FC says: ${out.body.detail}.`, true);
  return true;
}

async function loadGames() {
  const out = await call("GET", `/sessions/${memory.session}/games`);
  if (lost(out) || out.status !== 200) return;
  signedOut = false;
  memory.games = out.body.games;
  keep();
  if (!memory.game && memory.games.length === 1) await choose(memory.games[0].gameId);
}

async function loadGame() {
  const id = memory.game, path = `/games/${id}`, before = memory.done.length;
  const game = await call("GET", path);
  if (lost(game)) return;
  if (game.status === 200) signedOut = false;
  if (game.status !== 200 || !forced && memory.known?.etag === game.etag) return;
  const [goals, roster, late, league] = await Promise.all([call("GET", `${path}/goals`), call("GET", `${path}/roster`), call("GET", `${path}/proposals`),
    memory.guest ? { status: 200, body: {} } : call("GET", `/leagues/${game.body.leagueId}`)]);
  if ([goals, roster, late, league].some((out) => out.status !== 200) || memory.game !== id) return; // it is read again
  memory.known = { etag: game.etag, game: game.body, goals: goals.body.goals, roster: roster.body.players, late: late.body.proposals.map((p) => p.goal), admin: league.body.role === "admin" };
  memory.done.splice(0, before);
  forced = false;
  keep();
}

// choose shows a game, "" for the list of all. What was tapped for another is sent all the same.
async function choose(id) {
  Object.assign(memory, { game: id, known: null, done: [] });
  answer = null;
  keep();
  show();
  forced = true;
  if (id) await loadGame();
}

// send sends the queue, and reads what 3FC has of it then.
async function send() {
  if (sending || !waiting().length && !memory.done.length) return;
  sending = true;
  try {
    for (let e; (e = waiting()[0]);) {
      if (!e.tried) { e.tried = true; save(e); }
      const out = await call(e.method, e.path, e.body, { "Idempotency-Key": e.key });
      if (out.status === 401 || out.status === 403 && memory.guest && ours(e) && lost(out)) break; // it waits until somebody signs in
      if (out.status === 429 || out.status >= 500 || out.body?.type?.endsWith(":stale")) break; // others were faster
      if (out.status < 400 || e.drop && out.body?.type?.endsWith(":goal_not_found")) { // it never came to 3FC
        drop(e);
        refused().filter((r) => e.drop && r.goal?.eventId === e.drop).forEach(drop);
        if (out.status === 202) say(`${e.text} came after the third was finished: an administrator decides.`);
        else if (out.status < 400 && e.game === memory.game) memory.done.push(e);
        keep();
        continue;
      }
      save({ ...e, refused: out.body?.detail ?? `3FC answered ${out.status}` });
      say(`${e.says} was refused: see below.`, true);
    }
    if (!waiting().length && memory.game) await load(true);
  } catch {
    // the network: the next try comes in two seconds
  } finally {
    sending = false;
    show();
  }
}

// ours reports whether an entry is of the session of the page. A guest's right ends with the session: entries of
// another one are refused for ever, and must not take the right to this one. Earlier releases stored no session.
const ours = (e) => e.session ? e.session === memory.session : memory.games.some((g) => g.gameId === e.game);

function add(entry) {
  save({ id: nextID(), key: crypto.randomUUID(), session: memory.session, game: memory.game, ...entry });
  show();
  send();
}

// coming is the game as it will be when the queue is sent.
function coming() {
  const { game, goals, roster } = structuredClone(memory.known);
  let all = goals.map((g) => ({ ...g, sent: true }));
  for (const e of [...memory.done, ...waiting().filter((w) => w.game === memory.game)]) {
    if (e.goal && !all.some((g) => g.eventId === e.goal.eventId)) all.push(e.goal); // an answer may be lost
    if (e.edit) all = all.map((g) => g.eventId === e.edit.eventId ? { ...g, ...e.edit } : g);
    if (e.drop) all = all.filter((g) => g.eventId !== e.drop);
    if (e.start) { game.thirds[e.start - 1].startedAt = e.body.at; game.status = "live"; }
    if (e.finish) game.thirds[e.finish - 1].finishedAt = e.body.at;
    if (e.back) game.thirds[e.third - 1][`${e.back}edAt`] = undefined;
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

// known reports whether 3FC has a goal that is not read again yet.
const known = (g) => memory.done.some((e) => e.goal?.eventId === g.eventId);

// recordedLast returns the goal that was recorded last, which an undo takes back: what waits comes after what 3FC has.
const recordedLast = (v) => v.all.reduce((last, g) => g.sent && last?.gameRev > g.gameRev ? last : g, undefined);

const team = (v, id) => v.game.teams.find((t) => t.teamId === id)?.name ?? "";
const player = (v, id) => v.roster.find((p) => p.playerId === id)?.nickname ?? "";
const scorer = (v, g) => g.scorerPlayerId ? player(v, g.scorerPlayerId) : g.guest ? "a guest" : "unknown";
const line = (v, g) => `${g.third}. third, ${g.gameMinute}' · ${scorer(v, g)} · ${g.ownGoal ? `own goal, ${team(v, g.concedingTeamId)} concedes` : `${team(v, g.scoringTeamId)} against ${team(v, g.concedingTeamId)}`}${g.assistPlayerIds?.length ? ` · assist: ${g.assistPlayerIds.map((id) => player(v, id)).join(", ")}` : ""}`;
const at = () => new Date(now()).toISOString();

function step(v) {
  if (v.running) return { text: `finish third ${v.running}`, entry: { method: "POST", path: `/games/${memory.game}/thirds/${v.running}/finish`, body: { at: at() }, finish: v.running } };
  if (v.game.status === "finished") return null;
  if (v.next) return { text: `start third ${v.next}`, entry: { method: "POST", path: `/games/${memory.game}/thirds/${v.next}/start`, body: { at: at() }, start: v.next } };
  return { text: "finish the game", entry: { method: "POST", path: `/games/${memory.game}/finish`, end: true } };
}

// back is the undo of the latest start or finish of a third, for five minutes, and at any time for an administrator.
function back(v) {
  const latest = v.running || v.game.thirds.findLastIndex((t) => t.finishedAt) + 1, third = v.game.thirds[latest - 1];
  if (!third || v.game.status === "finished") return null;
  const step = v.running ? "start" : "finish";
  if (!memory.known.admin && now() - Date.parse(third[`${step}edAt`]) > 5 * 60_000 || v.running && v.all.some((g) => g.third === latest)) return null;
  return {
    text: step === "start" ? `third ${latest} has not started` : `third ${latest} goes on`,
    entry: { method: "POST", path: `/games/${memory.game}/thirds/${latest}/${step}/undo`, back: step, third: latest },
  };
}

function tick() {
  if (!memory.known) return;
  const v = coming(), third = v.running && v.game.thirds[v.running - 1];
  put($("third"), v.running ? `Third ${v.running}` : v.game.status === "finished" ? "Finished" : v.next === 1 ? "Not started" : "Break");
  if (!third) return put($("clock"), "");
  const s = Math.max(0, Math.floor((now() - Date.parse(third.startedAt)) / 1000)), over = s - v.game.thirdLength * 60;
  const mmss = (n) => `${String(Math.floor(n / 60)).padStart(2, "0")}:${String(n % 60).padStart(2, "0")}`;
  put($("clock"), over > 0 ? `${v.game.thirdLength}:00 + ${mmss(over)}` : mmss(s));
}

// show shows what is known.
function show() {
  const n = waiting().length, no = refused();
  put($("net"), n ? `${n} waiting` : no.length ? `${no.length} refused` : signedOut ? "" : "everything is sent");
  $("sign-in").hidden = !signedOut && !(linked && !memory.guest); // a viewer who is signed in needs the PIN, too
  $("sign-in-link").href = `${base}/sign-in?${new URLSearchParams({ next: `/score/${memory.session || "last"}` })}`;
  showGames();
  showRefused(no);
  $("phone").hidden = !memory.known;
  if (memory.known) showGame();
}

function showGames() {
  $("list").hidden = !!memory.known || signedOut && !memory.games.length;
  put($("list-h"), memory.games.length ? "Which game?" : memory.session ? "There is no game yet" : "Open the page of a session");
  keyed($("games"), memory.games.map((g) => g.gameId), () => el("button", { type: "button", className: "other" })).forEach((b, i) => {
    const g = memory.games[i];
    put(b, `${new Date(g.gameStartTs).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })} · ${g.teams.map((t) => t.name).join(", ")} · ${g.status}`);
    b.onclick = () => choose(g.gameId).catch(() => {});
  });
}

function showRefused(no) {
  $("kept").hidden = !no.length;
  keyed($("kept-list"), no.map((e) => e.id), () => el("li", {}, el("b"), el("p", { className: "dim" }), el("p", { className: "choices" },
    el("a", { className: "button other" }, "tell an administrator"), el("button", { type: "button", className: "other" }, "try again"),
    el("button", { type: "button", className: "other" }, "discard")))).forEach((li, i) => {
    const e = no[i], [what, why, buttons] = li.children, [tell, again, discard] = buttons.children;
    put(what, e.text ?? e.says);
    put(why, `3FC says: ${e.refused}.`);
    tell.href = `mailto:?subject=${encodeURIComponent("A goal for 3FC")}&body=${encodeURIComponent(`${e.text ?? e.says}\n3FC says: ${e.refused}.\n${location.origin}${base}/score/${e.session ?? memory.session}`)}`;
    again.onclick = () => { save({ ...e, refused: "", key: crypto.randomUUID() }); show(); send(); };
    discard.onclick = () => { drop(e); show(); };
  });
}

function showGame() {
  const v = coming();
  keyed($("scores"), v.game.teams.map((t) => t.teamId), () => el("li", {}, el("i"), el("span"), el("b"), el("small"))).forEach((li, i) => {
    const t = v.game.teams[i], s = v.scores.get(t.teamId);
    li.firstElementChild.style.background = t.color;
    put(li.children[1], t.name);
    put(li.children[2], s.against);
    put(li.children[3], `conceded · ${s.for} scored`);
  });
  keyed($("goals"), v.all.map((g) => g.eventId).reverse(), () => el("li", {}, el("span"), el("button", { type: "button", className: "other" }))).forEach((li, i) => {
    const g = v.all[v.all.length - 1 - i];
    put(li.children[0], line(v, g));
    put(li.children[1], g.scorerPlayerId ? "change" : "name the scorer");
    li.children[1].hidden = !!answer || v.game.status === "finished" || !g.sent && !known(g) ||
      !!g.scorerPlayerId && g.third !== v.running && !v.game.reopened;
    li.children[1].onclick = () => { answer = { edit: g, own: g.ownGoal, scoring: g.scoringTeamId, conceding: g.concedingTeamId }; show(); };
    li.classList.toggle("waiting", !g.sent);
  });
  $("late").hidden = !memory.known.late?.length;
  keyed($("late-list"), (memory.known.late ?? []).map((g) => g.eventId), () => el("li", {}, el("span"), el("p", { className: "choices" },
    el("button", { type: "button", className: "other", textContent: "accept" }), el("button", { type: "button", className: "other", textContent: "dismiss" })))).forEach((li, i) => {
    const g = memory.known.late[i], path = `/games/${memory.game}/proposals/${g.eventId}`, [accept, dismiss] = li.lastElementChild.children;
    put(li.firstElementChild, line(v, g));
    li.lastElementChild.hidden = !memory.known.admin;
    accept.onclick = () => decide("POST", `${path}/accept`, `Accepted: ${line(v, g)}.`);
    dismiss.onclick = () => decide("DELETE", path, `Dismissed: ${line(v, g)}.`);
  });
  $("office").hidden = !memory.known.admin;
  const next = step(v);
  put($("step"), next?.text);
  $("step").hidden = !next;
  put($("back"), back(v)?.text);
  $("back").hidden = !back(v);
  $("goal").disabled = !v.running;
  $("undo").disabled = v.game.status === "finished" || !v.game.reopened && recordedLast(v)?.third !== v.running || !v.all.length;
  $("moves").hidden = !!answer;
  $("ask").hidden = !answer;
  $("others").hidden = !!answer || memory.games.length < 2;
  if (answer) ask(v);
  settle();
  tick();
}

// settle takes no taps for a moment when other buttons appear, or do something else from now on: the second
// of a double tap would hit one of them.
function settle() {
  const at = answer ? $("question").textContent : `${$("step").textContent} ${undone}`;
  if (at === settle.at) return;
  settle.at = at;
  $("phone").inert = true;
  setTimeout(() => { $("phone").inert = false; }, 400);
}

// ask asks for what is not known of the goal yet.
function ask(v) {
  const offer = (question, all, then) => {
    put($("question"), question);
    keyed($("choices"), all.map((o) => `${question} ${o.id}`), () => el("button", { type: "button" })).forEach((b, i) => {
      put(b, all[i].name);
      b.onclick = () => { then(all[i].id); show(); };
    });
  };
  const absent = v.game.absentTeamIds ?? [];
  const teams = (without) => v.game.teams.filter((t) => t.teamId !== without && !absent.includes(t.teamId)).map((t) => ({ id: t.teamId, name: t.name }));
  $("add-form").hidden = true;
  $("own").hidden = answer.own || !!answer.scoring;
  if (!answer.own && !answer.scoring) return offer("Who scored?", teams(), (id) => { answer.scoring = id; });
  if (!answer.conceding) return offer(answer.own ? "Whose own goal?" : "Against whom?", teams(answer.scoring), (id) => { answer.conceding = id; });
  const of = answer.own ? answer.conceding : answer.scoring;
  const players = v.roster.filter((p) => p.teamId === of).map((p) => ({ id: p.playerId, name: p.nickname }));
  $("add-form").hidden = memory.guest || !!answer.who; // a guest may not add players to the league
  if (answer.who) {
    const all = v.roster.filter((p) => p.teamId === answer.scoring && p.playerId !== answer.who.scorerPlayerId);
    return offer("Who assisted?", [{ id: "", name: "nobody" }, ...all.map((p) => ({ id: p.playerId, name: p.nickname }))], (id) => change(v, id ? [id] : []));
  }
  players.push({ id: "", name: "unknown" }, { id: "guest", name: "a guest" });
  offer("Which player?", players, (id) => {
    const who = id === "guest" ? { guest: true } : id ? { scorerPlayerId: id } : {};
    if (answer.edit && !answer.own) { answer.who = who; return; } // one more question
    if (answer.edit) { answer.who = who; return change(v, []); }
    const goal = { eventId: ulid(), third: answer.third, gameMinute: answer.minute, concedingTeamId: answer.conceding, ownGoal: answer.own, ...(answer.own ? {} : { scoringTeamId: answer.scoring }), ...who };
    answer = null;
    add({ method: "POST", path: `/games/${memory.game}/goals`, body: { ...goal, proposeIfLate: true }, goal, says: "The goal", text: line(v, goal) });
  });
}

// change sends a goal with another scorer and other assists.
function change(v, assists) {
  const { edit: g, who } = answer;
  answer = null;
  const body = { third: g.third, gameMinute: g.gameMinute, concedingTeamId: g.concedingTeamId, ownGoal: g.ownGoal, ...(g.ownGoal ? {} : { scoringTeamId: g.scoringTeamId }), assistPlayerIds: assists, ...who };
  const edit = { eventId: g.eventId, scorerPlayerId: "", guest: false, assistPlayerIds: assists, ...who };
  add({ method: "PATCH", path: `/games/${memory.game}/goals/${g.eventId}`, body, edit, says: "The change", text: line(v, { ...g, ...edit }) });
}

// decide makes a change of an administrator at once, and returns the answer. It does not wait in the queue,
// because others may decide meanwhile: the administrator sees what came of it.
async function decide(method, path, done) {
  const out = await call(method, path).catch(() => null);
  const no = !out || out.status >= 400;
  say(!out ? "There is no network." : no ? `3FC says: ${out.body?.detail ?? out.status}.` : done, no);
  await load(true);
  return no ? null : out;
}
$("give").addEventListener("click", async () => {
  const out = await decide("PUT", `/sessions/${memory.session}/scoring-pin`, "Give the link or the PIN to who scores.");
  $("given").hidden = !out;
  if (!out) return;
  put($("given-pin"), out.body.pin);
  put($("given-link"), out.body.url);
  $("given-link").href = out.body.url;
});
$("revoke").addEventListener("click", async () => {
  if (await decide("DELETE", `/sessions/${memory.session}/scoring-pin`, "The link and the PIN have ended.")) $("given").hidden = true;
});

// The id of a new player comes from 3FC: this needs a network. The key stays until it is done, so that a
// second try adds no second player.
let newcomer = null;
$("add-form").addEventListener("submit", async (e) => {
  e.preventDefault();
  const nickname = $("nickname").value.trim(), teamId = answer?.own ? answer.conceding : answer?.scoring;
  if (!nickname || !teamId) return;
  if (newcomer?.nickname !== nickname) newcomer = { nickname, key: crypto.randomUUID() };
  const { game } = memory.known;
  let out = await call("POST", "/players", { leagueId: game.leagueId, nickname }, { "Idempotency-Key": newcomer.key }).catch(() => null);
  const playerId = out?.body?.playerId;
  if (playerId) out = await call("PUT", `/games/${game.gameId}/roster/${playerId}`, { teamId }).catch(() => null);
  if (out?.status !== 200) return say(out ? `3FC says: ${out.body?.detail ?? out.status}.` : "There is no network: score the goal as unknown, and name the scorer later.", true);
  newcomer = null;
  $("nickname").value = "";
  say("");
  if (memory.known && !memory.known.roster.some((p) => p.playerId === playerId)) memory.known.roster.push({ playerId, teamId, nickname });
  keep();
  show();
});

$("goal").addEventListener("click", () => {
  const v = coming(), third = v.game.thirds[v.running - 1]; // the minute is that of the tap, however long the questions take
  answer = { third: v.running, minute: Math.min(120, Math.max(0, Math.floor((now() - Date.parse(third.startedAt)) / 60_000))), own: false };
  show();
});
$("own").addEventListener("click", () => { answer.own = true; show(); });
$("never").addEventListener("click", () => { answer = null; show(); });
$("undo").addEventListener("click", () => {
  undone++;
  const v = coming(), last = recordedLast(v), mine = waiting().find((e) => e.goal?.eventId === last.eventId);
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
$("back").addEventListener("click", () => {
  const undo = back(coming());
  if (!undo) return show(); // five minutes are over
  const mine = waiting().find((e) => e[undo.entry.back] === undo.entry.third && e.game === memory.game);
  if (mine && !mine.tried) { // nobody has heard of it
    drop(mine);
    return show();
  }
  add({ ...undo.entry, says: undo.text });
});
$("others").addEventListener("click", () => { choose("").then(() => load()); });

// look sends and reads when somebody looks at the page: another tab may have signed in.
function look(force = false) {
  if (document.hidden) return;
  send();
  load(force);
}
addEventListener("online", () => look());
addEventListener("focus", () => look());
addEventListener("pageshow", () => look(true)); // somebody else may be signed in
document.addEventListener("visibilitychange", () => look());
addEventListener("storage", (e) => { // another tab
  if (e.key === kept && e.newValue) Object.assign(memory, JSON.parse(e.newValue));
  show();
});

$("pin").value = linked;
$("pin-form").addEventListener("submit", async (e) => {
  e.preventDefault();
  if (!memory.session) return say("Open the link of a session first.", true);
  const out = await call("POST", `/sessions/${memory.session}/scorers`, { pin: $("pin").value }).catch(() => null);
  if (out?.status !== 201) return say(out ? `3FC says: ${out.body?.detail ?? out.status}.` : "There is no network.", true);
  memory.guest = true;
  keep();
  history.replaceState(null, "", location.pathname);
  signedOut = false;
  say("");
  await load();
  send();
});

// renew keeps the session from ending while the page is used. That of a guest ends with the PIN.
const renew = () => memory.guest || call("GET", "/auth/session").catch(() => {});
renew();
setInterval(renew, 12 * 3600_000);
setInterval(send, 2000);
setInterval(() => { if (!document.hidden && !signedOut && !waiting().length) load(); }, 10_000); // another phone may score, too
setInterval(tick, 500);
navigator.serviceWorker?.register(`${base}/worker.js`, { scope: `${base}/score/` }).catch(() => {}); // without it the page opens with a network only
show();
