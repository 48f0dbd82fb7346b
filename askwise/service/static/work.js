// The worker's page: keys answer, forms are sent without a reload, the clock ticks, and the page
// looks for new questions while a worker waits. The page works without any of it.
(() => {
  "use strict";
  const SETTLE = 300; // ms in which a second tap is meant for the question before
  const FIRST = 3000, LAST = 30000; // ms between looks while waiting
  const main = document.getElementById("main");
  const said = document.getElementById("said");
  const work = () => main.querySelector(".work");
  const allowed = work()?.dataset.origin ?? ""; // the one place that this page's policy names
  let busy = false, since = -SETTLE, pause = FIRST, clock = 0, look = 0, gone = 0;
  let isLooking = false, looking = Promise.resolve(); // the page's own look, for which a form waits

  function announce(words) {
    said.textContent = "";
    if (words) setTimeout(() => { said.textContent = words; }, 50);
  }

  function keysAreOn() {
    try { return localStorage.getItem("askwise-keys") !== "off"; } catch { return true; }
  }

  function inWords(seconds) {
    const whole = Math.max(0, Math.ceil(seconds)), minutes = Math.floor(whole / 60);
    if (whole < 60) return `${whole} s`;
    if (minutes < 60) return whole % 60 ? `${minutes} min ${whole % 60} s` : `${minutes} min`;
    if (minutes < 120) return `${minutes} min`;
    const hours = Math.floor(minutes / 60);
    return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  }

  function startClock(timer) {
    const end = Date.now() + 1000 * Number(timer.dataset.left);
    let warned = end - Date.now() <= 60000;
    const tick = () => {
      const left = (end - Date.now()) / 1000;
      timer.textContent = left > 0 ? inWords(left) : "none";
      if (left <= 60 && !warned) { warned = true; announce("One minute left."); }
      if (left > 0) return;
      clearInterval(clock);
      const late = document.getElementById("late");
      late.hidden = false;
      announce(late.querySelector("p").textContent);
    };
    clock = setInterval(tick, 1000);
    tick();
  }

  function begin() {
    clearInterval(clock);
    clearTimeout(look);
    clearTimeout(gone);
    const last = main.querySelector("[data-gone]"); // what they may change until then
    const hide = () => { last.hidden = !last.contains(document.activeElement); };
    if (last) gone = setTimeout(hide, 1000 * Number(last.dataset.gone));
    const box = document.getElementById("keys"), timer = main.querySelector("[data-left]");
    if (box) box.checked = keysAreOn();
    document.body.classList.toggle("keys", keysAreOn());
    if (timer) startClock(timer);
    if (main.querySelector("form[data-poll]")) look = setTimeout(poll, pause);
  }

  function swap(text, quietly) {
    const page = new DOMParser().parseFromString(text, "text/html");
    const next = page.getElementById("main"), box = next?.querySelector(".work");
    if (!next) throw new Error("not a page of ours");
    const origin = box?.dataset.origin ?? "";
    if (origin && origin !== allowed) { location.assign(box.dataset.home); return; }
    const changed = box?.dataset.state !== work()?.dataset.state;
    const controls = () => [...main.querySelectorAll("a, button, input, summary")];
    const focused = controls().indexOf(document.activeElement);
    const folded = new Map([...main.querySelectorAll("details[id]")].map((each) => [each.id, each.open]));
    document.title = page.title;
    main.replaceChildren(...next.childNodes);
    for (const each of main.querySelectorAll("details[id]")) each.open = folded.get(each.id) ?? each.open;
    if (quietly && !changed) {
      controls()[focused]?.focus();
    } else {
      since = performance.now(); // an unasked look that finds the same page holds up nobody
      pause = FIRST;
      window.scrollTo(0, 0);
      main.querySelector("h1")?.focus();
      announce(document.getElementById("about")?.textContent || main.querySelector("h1")?.textContent);
    }
    begin();
  }

  const fieldsOf = (form, submitter) => new URLSearchParams(new FormData(form, submitter));

  async function post(form, fields) {
    const reply = await fetch(form.action, { method: "POST", body: fields });
    return reply.text();
  }

  async function send(form, submitter) {
    if (busy) return;
    busy = true;
    const fields = fieldsOf(form, submitter); // before buttons are disabled: those have no value
    const buttons = [...main.querySelectorAll("button:enabled")];
    buttons.forEach((each) => { each.disabled = true; });
    submitter?.classList.add("sent");
    try {
      await looking;
      swap(await post(form, fields), false);
    } catch {
      buttons.forEach((each) => { each.disabled = false; });
      submitter?.classList.remove("sent");
      submitter?.focus();
      lost();
    } finally {
      busy = false;
    }
  }

  function lost() {
    const words = "That could not be sent. Look at your connection and try again: nothing is counted twice.";
    const about = document.getElementById("about") ?? document.createElement("p");
    about.id = "about";
    about.className = "about bad";
    about.textContent = words;
    work()?.prepend(about);
    announce(words);
  }

  // Whether the worker sends, types or presses something, which a new page would take from them.
  function inUse() {
    const focus = document.activeElement;
    return busy || (main.contains(focus) && focus.matches("input")) || main.querySelector(":active");
  }

  function poll() {
    pause = Math.min(LAST, pause * 1.5);
    look = setTimeout(poll, pause);
    const form = main.querySelector("form[data-poll]");
    if (!form || isLooking || inUse() || document.hidden) return;
    isLooking = true;
    looking = post(form, fieldsOf(form, null))
      .then((text) => { if (!inUse()) swap(text, true); })
      .catch(() => { /* the next look may succeed */ })
      .finally(() => { isLooking = false; });
  }

  main.addEventListener("submit", (event) => {
    event.preventDefault();
    if (performance.now() - since >= SETTLE) send(event.target, event.submitter);
  });

  main.addEventListener("change", (event) => {
    if (event.target.id !== "keys") return;
    try { localStorage.setItem("askwise-keys", event.target.checked ? "on" : "off"); } catch { /* not kept */ }
    document.body.classList.toggle("keys", event.target.checked);
  });

  document.addEventListener("keydown", (event) => {
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input:not([type=checkbox]), textarea, select")) return;
    if (!document.body.classList.contains("keys")) return;
    const digit = /^(?:Digit|Numpad)(\d)$/.exec(event.code)?.[1];
    const key = event.key.toLowerCase(), number = document.getElementById("value");
    if (number && (digit || "-.,".includes(key))) { number.focus(); return; }
    for (const button of main.querySelectorAll("button[data-key]:enabled")) {
      if (button.dataset.key !== key && button.dataset.key !== digit) continue;
      event.preventDefault();
      button.click();
      return;
    }
  });

  document.addEventListener("visibilitychange", () => {
    if (document.hidden || !main.querySelector("form[data-poll]")) return;
    clearTimeout(look);
    pause = FIRST;
    poll();
  });

  document.documentElement.classList.add("scripted");
  begin();
})();
