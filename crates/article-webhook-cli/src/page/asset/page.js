// Keeps the page live. Without it everything can be read, and every button works.
"use strict";

const SLOWEST = 5000; // also without news, because ages and old entries change
const LEAST = 200;

let isReading = false;
let isStale = false;
let pause = LEAST;

// Everything of the page is below the folder that has this one's.
const EVENTS = new URL("../events", document.currentScript.src);

const connection = document.getElementById("connection");

function connected(isOn) {
  connection.dataset.state = isOn ? "on" : "off";
  connection.querySelector(".word").textContent = isOn ? "live" : "not live";
}

let events = null;

// A browser has about six connections for all pages of a server, and this takes one: a page that is hidden gives it back.
function listen() {
  if (events || document.hidden) return;
  const opened = events = new EventSource(EVENTS);
  opened.addEventListener("open", () => { connected(true); refresh(); });
  opened.addEventListener("change", refresh);
  opened.addEventListener("error", () => {
    if (opened !== events) return;
    connected(false);
    if (opened.readyState !== EventSource.CLOSED) return;
    events = null;
    setTimeout(listen, 3000);
  });
}

function leave() {
  if (events) events.close();
  events = null;
}

// Reads this very page again, and takes over what is marked. Several changes in a short time are one.
async function refresh() {
  if (isReading || document.hidden) { isStale = true; return; }
  isReading = true;
  isStale = false;
  const start = performance.now();
  try {
    const answer = await fetch(location.pathname + location.search, { headers: { accept: "text/html" } });
    if (answer.ok) take(new DOMParser().parseFromString(await answer.text(), "text/html"));
  } catch {
    // The program has ended, or starts again. The connection says so.
  }
  pause = Math.max(LEAST, 3 * (performance.now() - start));
  setTimeout(() => { isReading = false; if (isStale) refresh(); }, pause);
}

function take(next) {
  for (const old of document.querySelectorAll("[data-live]")) {
    const now = next.getElementById(old.id);
    if (!now) continue;
    const [oldRows, nowRows] = [old.querySelector("tbody"), now.querySelector("tbody")];
    const [oldHead, nowHead] = [old.querySelector("thead"), now.querySelector("thead")];
    if (old.id === "list" && oldRows && nowRows && look(oldHead) === look(nowHead)) rows(oldRows, nowRows);
    else if (look(old) !== look(now)) keepFocus(() => old.replaceChildren(...now.childNodes));
    else ages(old, now);
  }
  prepare();
}

// What can be seen, but for ages, which change all the time.
function look(element) {
  return element.innerHTML.replace(/(<time[^>]*>)[^<]*/g, "$1").replace(/ (hidden|open)=""/g, "");
}

function ages(old, now) {
  const [from, to] = [now.querySelectorAll("time"), old.querySelectorAll("time")];
  to.forEach((time, index) => { if (from[index]) time.textContent = from[index].textContent; });
}

function rows(old, now) {
  const known = new Map([...old.children].map((row) => [row.id, row]));
  keepFocus(() => {
    let at = old.firstElementChild;
    for (const row of [...now.children]) {
      const there = known.get(row.id);
      known.delete(row.id);
      if (!there) {
        row.classList.add("fresh");
        old.insertBefore(row, at);
        continue;
      }
      if (look(there) === look(row)) ages(there, row);
      else there.replaceChildren(...row.childNodes);
      if (there === at) at = at.nextElementSibling;
      else old.insertBefore(there, at);
    }
    for (const row of known.values()) row.remove();
  });
}

// What has the focus may be replaced by its like.
function keepFocus(change) {
  const focused = document.activeElement;
  const href = focused && focused.getAttribute("href");
  const action = focused && focused.form && focused.form.getAttribute("action");
  change();
  if (!focused || focused.isConnected) return;
  const like = href ? `a[href="${CSS.escape(href)}"]` : action && `form[action="${CSS.escape(action)}"] button`;
  const found = like && document.querySelector(like);
  if (found) found.focus({ preventScroll: true });
}

// Ages between two readings, in the words of the program.
function span(seconds) {
  if (seconds < 100) return `${seconds} s`;
  if (seconds < 6000) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} d`;
}

function tick() {
  for (const time of document.querySelectorAll("time")) {
    const seconds = Math.floor(Math.abs(Date.now() - Date.parse(time.dateTime)) / 1000);
    const text = Date.parse(time.dateTime) > Date.now() ? `in ${span(seconds)}` : `${span(seconds)} ago`;
    if (time.textContent !== text) time.textContent = text;
  }
}

function prepare() {
  for (const button of document.querySelectorAll("button[data-copy][hidden]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
  }
}

// A panel's button does not leave the page. Where it could not be done, the page says why below the buttons.
document.addEventListener("submit", async (event) => {
  const form = event.target;
  const panel = form.closest("#panel");
  if (!panel) return;
  event.preventDefault();
  const button = form.querySelector("button");
  button.disabled = true;
  failed(panel, "");
  try {
    const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
    if (answer.ok) refresh();
    else failed(panel, why(new DOMParser().parseFromString(await answer.text(), "text/html")));
  } catch {
    failed(panel, "The program does not answer. It has ended, or starts again.");
  }
  button.disabled = false;
});

function why(answer) {
  const parts = [...answer.querySelectorAll("h1, h1 ~ p")].filter((part) => !part.querySelector("a"));
  return parts.map((part) => part.textContent.replace(/[.]?$/, ".")).join(" ");
}

function failed(panel, text) {
  const place = panel.querySelector("#panel-failure");
  place.hidden = text === "";
  place.textContent = text;
}

// Keys. None of them changes anything: the one for requeueing goes to the button.
function move(step) {
  const rows = [...document.querySelectorAll("#list td.what a")];
  const next = rows[Math.min(Math.max(rows.indexOf(document.activeElement) + step, 0), rows.length - 1)];
  const beside = document.querySelector(step > 0 ? ".neighbours [rel=next]" : ".neighbours [rel=prev]");
  if (next) next.focus();
  else if (beside) beside.click();
}

function requeue() {
  const row = document.activeElement.closest("#list td.what a");
  const button = document.querySelector("#state button, .choice .primary");
  if (row) location.href = `${row.href}#requeue`;
  else if (button) button.focus();
}

function search() {
  const field = document.getElementById("search");
  if (field) field.select();
  else location.href = `${document.querySelector(".brand").href}#search`;
}

function help() { document.getElementById("keys").showModal(); }

const KEYS = new Map([["j", () => move(1)], ["k", () => move(-1)], ["r", requeue], ["/", search], ["?", help]]);

addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input, textarea, select, dialog");
  const act = KEYS.get(event.key);
  if (!act || !connection || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act();
});

document.addEventListener("visibilitychange", () => {
  if (!connection) return;
  if (document.hidden) { leave(); return; }
  listen();
  refresh();
});
addEventListener("pagehide", leave);
addEventListener("pageshow", () => { if (connection) listen(); });
if (connection) {
  prepare();
  if (location.hash === "#requeue") requeue();
  if (location.hash === "#search") search();
  const keys = document.getElementById("keys-open");
  keys.hidden = false;
  keys.addEventListener("click", help);
  listen();
  setInterval(tick, 1000);
  setInterval(refresh, SLOWEST);
}
