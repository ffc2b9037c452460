// What a pointer, a wheel and keys do with a picture: choose, zoom about a point, move.

// The number of pixels from which a pointer is dragged.
const DRAGGED = 4;

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

// Tells `picture` what is done on a canvas. Its functions take places in pixels: `zoom(by, x, y)` by a factor, which returns
// whether the wheel is used, `move(x, y)` by a distance, `reset()`, `point(x, y)`, `leave()`, `choose(x, y)`, `step(down, right)`
// to another element, and `enter()`.
export function listen(canvas, picture) {
  const pointers = new Map();
  let isDragged = false;
  const middle = () => {
    const all = [...pointers.values()], sum = all.reduce(({ x, y }, one) => ({ x: x + one.x, y: y + one.y }), { x: 0, y: 0 });
    const far = all.length > 1 ? Math.hypot(all[0].x - all[1].x, all[0].y - all[1].y) : 0;
    return { x: sum.x / all.length, y: sum.y / all.length, far };
  };

  canvas.addEventListener("wheel", event => {
    const lines = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 200 : 1;
    // Two fingers on a touchpad come as a wheel with the control key.
    const by = Math.exp(Math.max(-1, Math.min(1, event.deltaY * lines * (event.ctrlKey ? .01 : .0015))));
    if (picture.zoom(by, event.offsetX, event.offsetY)) event.preventDefault();
  }, { passive: false });

  canvas.addEventListener("pointerdown", event => {
    if (event.button !== 0) return;
    if (!pointers.size) isDragged = false;
    pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY, from: { x: event.offsetX, y: event.offsetY } });
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", event => {
    const own = pointers.get(event.pointerId);
    if (!own) return picture.point(event.offsetX, event.offsetY);
    if (!isDragged && pointers.size < 2 && Math.hypot(event.offsetX - own.from.x, event.offsetY - own.from.y) <= DRAGGED) return;
    isDragged = true;
    const before = middle();
    Object.assign(own, { x: event.offsetX, y: event.offsetY });
    const after = middle();
    picture.move(after.x - before.x, after.y - before.y);
    if (before.far && after.far) picture.zoom(before.far / after.far, after.x, after.y);
  });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, event => pointers.delete(event.pointerId));
  canvas.addEventListener("pointerleave", () => picture.leave());
  canvas.addEventListener("click", event => { if (!isDragged) picture.choose(event.offsetX, event.offsetY); });
  canvas.addEventListener("dblclick", () => picture.reset());

  canvas.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = STEPS[event.key];
    if (step && event.shiftKey) picture.move(-step[1] * canvas.clientWidth / 8, -step[0] * canvas.clientHeight / 8);
    else if (step) picture.step(...step);
    else if (event.key === "+" || event.key === "=") picture.zoom(.5);
    else if (event.key === "-") picture.zoom(2);
    else if (event.key === "0") picture.reset();
    else if (event.key === "Enter") picture.enter();
    else return;
    event.preventDefault();
  });
}
