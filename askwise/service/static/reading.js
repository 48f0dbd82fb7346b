// What makes pages easier to read: local times, tables on phones, values under the pointer.
"use strict";

(() => {
  const NAMED = { day: "numeric", month: "short", year: "numeric" };
  const CLOCK = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };
  const moment = new Intl.DateTimeFormat("en-GB", { ...NAMED, ...CLOCK });
  const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });

  function zoneOf(time) {
    const parts = new Intl.DateTimeFormat("en-GB", { timeZoneName: "short" }).formatToParts(time);
    return parts.find((part) => part.type === "timeZoneName").value;
  }

  function clock(time, unit) {
    if (unit === "day") return day.format(time);
    const shape = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
    if (unit === "second") shape.second = "2-digit";
    const words = new Intl.DateTimeFormat("en-GB", shape).format(time);
    return /^00:00(:00)?$/.test(words) ? day.format(time) : words;
  }

  function localise(root) {
    for (const each of root.querySelectorAll("time[datetime]")) {
      const time = new Date(each.dateTime);
      if (isNaN(time)) continue;
      each.title = `${each.textContent} UTC`;
      each.textContent = moment.format(time);
    }
    for (const each of root.querySelectorAll(".zone")) each.textContent = zoneOf(new Date());
    for (const each of root.querySelectorAll("text[data-t]")) {
      each.textContent = clock(new Date(1000 * each.dataset.t), each.dataset.unit);
    }
  }

  // On a phone each row is a card; its cells say what they are. Roles stay those of a table.
  function stack(root) {
    for (const table of root.querySelectorAll(".dash .scroll table:not(.plain, .sheet)")) {
      const heads = [...table.querySelectorAll("thead tr:last-child > *")];
      table.classList.add("stacked");
      table.setAttribute("role", "table");
      for (const part of table.tHead ? [table.tHead, ...table.tBodies] : table.tBodies) {
        part.setAttribute("role", "rowgroup");
      }
      for (const row of table.rows) {
        row.setAttribute("role", "row");
        const inHead = row.parentNode === table.tHead;
        [...row.cells].forEach((cell, at) => {
          const isHead = cell.tagName === "TH";
          cell.setAttribute("role", inHead ? "columnheader" : isHead ? "rowheader" : "cell");
          const label = heads[at]?.innerText.replace(/[▾▴]/g, "").trim();
          if (!inHead && !isHead && label && !cell.matches(".act")) cell.dataset.label = label;
        });
      }
    }
  }

  // Values of a chart, by pointer or by arrow keys.
  function point(root) {
    for (const chart of root.querySelectorAll("svg.chart")) {
      const marks = [...chart.querySelectorAll(".mark")];
      if (!marks.length) continue;
      const said = document.createElement("p");
      said.className = "readout hint";
      said.setAttribute("role", "status");
      if (!document.querySelector(".readout")) {
        said.textContent = "Point at a chart, or focus it and use the arrow keys, to see its values.";
      }
      chart.after(said);
      let at = -1;
      const show = (place) => {
        marks[at]?.classList.remove("at");
        at = place;
        const mark = marks[at];
        mark.classList.add("at");
        const words = mark.querySelector("title").textContent;
        const { t } = mark.dataset;
        if (!t) { said.textContent = words; return; }
        const time = new Date(1000 * t);
        const rest = words.slice(words.indexOf("UTC: ") + 5);
        said.textContent = `${moment.format(time)} ${zoneOf(time)}: ${rest}`;
      };
      chart.tabIndex = 0;
      chart.addEventListener("pointerover", (event) => {
        const place = marks.indexOf(event.target.closest(".mark"));
        if (place >= 0) show(place);
      });
      chart.addEventListener("keydown", (event) => {
        const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
        const step = steps[event.key];
        if (!step) return;
        event.preventDefault();
        show(Math.min(marks.length - 1, Math.max(0, at + step)));
      });
    }
  }

  function read(root) {
    localise(root);
    stack(root);
    point(root);
  }

  read(document);
  document.addEventListener("swapped", (event) => read(event.detail));
})();
