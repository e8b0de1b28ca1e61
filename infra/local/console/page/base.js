// What the shell and the rooms' panels share.

// The sections by name, as last told: the shell's, and those of the tab's room.
export const shell = {};
export const room = {};

export const $ = (id) => document.getElementById(id);

export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name in node) node[name] = value; else node.setAttribute(name, value);
  }
  node.append(...children.filter((c) => c !== null));
  return node;
}

export const svg = (tag, attributes, text) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  return node;
};

// put changes a text only if it is another, and tells whether it was.
export function put(node, text) {
  text = String(text ?? "");
  if (node.textContent === text) return false;
  node.textContent = text;
  return true;
}

export function again(node, name) {
  node.classList.remove(name);
  void node.offsetWidth; // so that the animation starts anew
  node.classList.add(name);
}

// keyed makes root's children those of the keys, in order, and keeps what is there.
export function keyed(root, keys, make) {
  const old = new Map([...root.children].map((c) => [c.dataset.key, c]));
  keys.forEach((key, i) => {
    let node = old.get(key);
    if (!node) {
      node = make(key);
      node.dataset.key = key;
    }
    old.delete(key);
    if (root.children[i] !== node) root.insertBefore(node, root.children[i] ?? null);
  });
  for (const node of old.values()) node.remove();
  return [...root.children];
}

// Time is the fleet's, told with every event and carried on in between.
export const clock = { now: 0, speed: 1, at: 0 };
export const fleetNow = () => clock.now && clock.now + (performance.now() - clock.at) * clock.speed;
export const hms = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
export const hm = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
export const day = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long" });

export function span(ms) {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 100) return `${s} s`;
  if (s < 6000) return `${Math.round(s / 60)} min`;
  return s < 172800 ? `${Math.round(s / 3600)} h` : `${Math.round(s / 86400)} days`;
}

// lately is a time as a notification tells it.
export function lately(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 5) return "now";
  if (s < 60) return `${s}s`;
  return s < 3600 ? `${Math.floor(s / 60)}m` : `${Math.floor(s / 3600)}h`;
}

export const ago = (ms) => ms < 1500 ? "just now" : `${span(ms)} ago`;

export function millis(ms) {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`;
}

export const still = matchMedia("(prefers-reduced-motion: reduce)");

// press asks the fleet for what a button says, has root tell the answer, and tells
// whether it was done.
export async function press(path, body, root = $("said")) {
  let text = "The fleet does not answer.", done = false;
  try {
    const answer = await fetch(`/console/${path}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    const out = await answer.json();
    text = out.said ?? out.error;
    done = answer.ok;
  } catch {
    // it is said below
  }
  put(root, text);
  root.classList.toggle("no", !done);
  return done;
}
