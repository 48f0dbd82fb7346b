// The dashboard, live: parts of the page are swapped when they have changed.
"use strict";

(() => {
  const PAUSE = 2000, LONGEST = 30000, PATIENCE = 20000;
  const live = document.querySelector("[data-live]");
  const sign = document.getElementById("sign");
  let tag = "", wait = PAUSE, timer = 0, looking = false;

  function say(words, state) {
    if (sign.textContent !== words) sign.textContent = words;
    sign.className = `sign ${state}`;
  }

  function isBusy(part) {
    // A field in use, or selected text, must not change under a user's hands.
    const active = document.activeElement, marked = document.getSelection();
    return (part.contains(active) && active.matches("input, select, textarea")) ||
      (!marked.isCollapsed && part.contains(marked.anchorNode));
  }

  function swap(text) {
    let all = true;
    const before = state();
    for (const fresh of new DOMParser().parseFromString(text, "text/html").querySelectorAll(".part")) {
      const old = document.getElementById(fresh.id);
      // A list of first steps, or word that numbers are worked out, makes room for everything else.
      if (!old && document.querySelector("#part-begin, #part-pending")) { location.reload(); return false; }
      if (!old || old.dataset.tag === fresh.dataset.tag) continue;
      if (isBusy(old)) { all = false; continue; }
      const open = [...old.querySelectorAll("details[open][id]")].map((each) => each.id);
      const scrolled = [...old.querySelectorAll(".scroll")].map((each) => [each.scrollLeft, each.scrollTop]);
      const boxes = [...old.querySelectorAll("a, button, summary, .scroll")];
      const focused = boxes.indexOf(document.activeElement);
      const key = focused < 0 ? null : keyOf(boxes[focused]);
      old.replaceWith(document.adoptNode(fresh));
      document.dispatchEvent(new CustomEvent("swapped", { detail: fresh }));
      for (const id of open) document.getElementById(id)?.setAttribute("open", "");
      fresh.querySelectorAll(".scroll").forEach((each, at) => {
        if (scrolled[at]) [each.scrollLeft, each.scrollTop] = scrolled[at];
      });
      if (focused >= 0) {
        const now = [...fresh.querySelectorAll("a, button, summary, .scroll")];
        const same = now.find((each) => keyOf(each) === key) ?? now[Math.min(focused, now.length - 1)];
        same?.focus({ preventScroll: true });
      }
    }
    // Numbers rise in silence; that a campaign is paused or done is said aloud.
    if (state() !== before) document.getElementById("said").textContent = state();
    return all;
  }

  function state() {
    return document.querySelector("h1 .pill")?.textContent ?? "";
  }

  function keyOf(box) {
    return box.id || box.getAttribute("href") || box.getAttribute("aria-label") || box.textContent;
  }

  async function look() {
    if (looking || document.hidden) return;
    looking = true;
    clearTimeout(timer);
    try {
      const reply = await fetch(live.dataset.live, {
        headers: tag ? { "If-None-Match": tag } : {},
        redirect: "manual",
        signal: AbortSignal.timeout(PATIENCE),
      });
      if (reply.type === "opaqueredirect" || reply.status === 403 || reply.status === 404) {
        say("Not live: reload the page", "lost");
        return;
      }
      if (reply.status === 200) {
        if (swap(await reply.text())) tag = reply.headers.get("ETag") ?? "";
      } else if (reply.status !== 304) {
        throw new Error(String(reply.status));
      }
      wait = PAUSE;
      say("Live", "on");
    } catch {
      wait = Math.min(2 * wait, LONGEST);
      say("Connection lost, trying again", "lost");
    } finally {
      looking = false;
    }
    timer = setTimeout(look, wait);
  }

  if (live) {
    document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : look()));
    window.addEventListener("online", look);
    timer = setTimeout(look, PAUSE);
    say("Live", "on");
  }

  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const field = document.getElementById(button.dataset.copy);
      field.select();
      try {
        await navigator.clipboard.writeText(field.value);
      } catch {
        document.execCommand("copy");
      }
      button.textContent = "Copied";
    });
  }

  // A file is sent as soon as it is chosen; one that is too large is not sent at all.
  for (const form of document.querySelectorAll("form.file")) {
    const input = form.querySelector("input[type=file]"), error = form.querySelector(".wrong");
    const largest = Number(form.dataset.largest) - 2 ** 14;
    form.querySelector("button").hidden = true;
    input.addEventListener("change", () => {
      const [file] = input.files;
      if (!file) return;
      if (file.size > largest) {
        const most = Math.floor(largest / 2 ** 20);
        error.textContent = `${file.name} is larger than ${most} MB. Create the campaign with: askwise new ${file.name}`;
        input.value = "";
        return;
      }
      error.textContent = "";
      form.requestSubmit();
    });
    input.addEventListener("dragover", () => input.classList.add("over"));
    for (const name of ["dragleave", "drop"]) input.addEventListener(name, () => input.classList.remove("over"));
  }

  // What a campaign can cost follows what is typed.
  for (const form of document.querySelectorAll("form[data-cost]")) {
    const place = document.getElementById(form.dataset.cost);
    let asked = 0, later = 0;
    form.addEventListener("input", () => {
      clearTimeout(later);
      later = setTimeout(async () => {
        const mine = ++asked, body = new URLSearchParams(new FormData(form));
        body.set("do", "cost");
        try {
          const reply = await fetch(form.action, {
            method: "POST", body, redirect: "manual", signal: AbortSignal.timeout(PATIENCE),
          });
          if (reply.type === "opaqueredirect" || !reply.ok || mine !== asked) return;
          const fresh = new DOMParser().parseFromString(await reply.text(), "text/html");
          place.replaceChildren(...fresh.body.children);
        } catch { /* The button shows the cost too. */ }
      }, 400);
    });
  }

  // One click, one request: the server would see through a second one anyway.
  document.addEventListener("submit", (event) => {
    if (event.target.method !== "post") return;
    if (event.target.dataset.sent) event.preventDefault();
    event.target.dataset.sent = "yes";
    setTimeout(() => delete event.target.dataset.sent, 5000);
  });
})();
