// The worker of the scorekeeper's page keeps the page's own files, and answers with them when
// the network does not: a reload without a network shows the page and its queue. It leaves
// all other requests alone, those to the API too.

const files = ["/threefc/", "/console/app.js", "/console/base.js", "/console/style.css", "/console/icon.svg", "/console/threefc/panel.css", "/console/threefc/panel.js"];
const kept = caches.open("threefc-page");

addEventListener("install", (e) => e.waitUntil(kept.then((cache) => cache.addAll(files)).then(skipWaiting)));
addEventListener("activate", (e) => e.waitUntil(clients.claim()));
addEventListener("fetch", (e) => {
  const { origin, pathname } = new URL(e.request.url);
  if (e.request.method === "GET" && origin === location.origin && files.includes(pathname)) e.respondWith(answer(pathname));
});

// answer returns a file of the network, or the kept one if there is no good answer in three
// seconds.
async function answer(path) {
  const cache = await kept;
  try {
    const out = await fetch(path, { signal: AbortSignal.timeout(3000) });
    if (out.ok) {
      await cache.put(path, out.clone());
      return out;
    }
  } catch {
    // there is no network
  }
  return await cache.match(path) ?? Response.error();
}
