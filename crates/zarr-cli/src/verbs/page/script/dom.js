// Elements of the page. Text of the store goes into text nodes and attributes only, so it stays text.

export const byId = id => document.getElementById(id);

export function make(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made && !name.startsWith("aria-")) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.filter(child => child != null));
  return made;
}

export const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function failure(reason) {
  return make("p", { className: "error", role: "alert", textContent: reason.message ?? String(reason) });
}

export const remark = text => make("p", { className: "note", textContent: text });

export function section(title, ...children) {
  return make("section", {}, make("h3", { textContent: title }), ...children);
}

export function facts(pairs) {
  const list = make("dl");
  for (const [name, shown] of pairs) if (shown != null && shown !== "") list.append(make("dt", { textContent: name }), make("dd", { textContent: shown, className: name === "type" ? "type" : "" }));
  return list;
}

export function options(names, chosen) {
  return names.map(([value, text]) => make("option", { value, textContent: text, selected: value === chosen }));
}

export function lazily(place, work) {
  const seen = new IntersectionObserver(entries => {
    if (entries.some(entry => entry.isIntersecting)) { seen.disconnect(); work(); }
  }, { rootMargin: "200px" });
  seen.observe(place);
}

// Draws now, and again when the width or the colours change.
export function redraw(canvas, draw) {
  draw();
  let width = canvas.parentElement.clientWidth;
  new ResizeObserver(() => {
    if (canvas.isConnected && canvas.parentElement.clientWidth !== width) { width = canvas.parentElement.clientWidth; draw(); }
  }).observe(canvas.parentElement);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => canvas.isConnected && draw());
}
