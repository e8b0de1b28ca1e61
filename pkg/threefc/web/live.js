
// A live page loads itself every five seconds, and replaces what has changed: the state, which a screen
// reader then says, and the rest. It stops when the page is no longer live.
const timer = setInterval(async () => {
  if (document.hidden) return;
  try {
    const answer = await fetch(location.href, { cache: "no-cache", signal: AbortSignal.timeout(4000) });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const id of ["state", "live"]) {
      const now = document.getElementById(id), next = page.getElementById(id);
      if (next && now.innerHTML !== next.innerHTML && !now.contains(document.activeElement)) now.innerHTML = next.innerHTML;
    }
    if (!page.querySelector("script[data-live]")) clearInterval(timer);
  } catch {
    // there is no network: the next one may be answered
  }
}, 5000);
