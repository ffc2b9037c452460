// Questions and their answers: from the server, or from the file itself.

const embedded = document.getElementById("answers");
export const answers = embedded && JSON.parse(embedded.textContent);

// Returns the answer to a question, or throws an error with its reason.
export async function ask(what, parameters = {}) {
  let answer;
  if (answers) answer = ["tree", "look"].includes(what) ? answers[what] : answers[what][parameters.path];
  else {
    const pairs = Object.entries(parameters).filter(([, value]) => value != null && value !== "").map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    const url = `${what}?${pairs.join("&")}`;
    let response = await fetch(url);
    for (let tries = 0; response.status === 503 && tries < 5; tries++) {
      await new Promise(done => setTimeout(done, 400 * (tries + 1)));
      response = await fetch(url);
    }
    const text = await response.text();
    try { answer = JSON.parse(text); } catch { throw new Error(text.trim() || `status ${response.status}`); }
  }
  if (!answer) throw new Error("this file has no answer to that");
  if (answer.error) throw new Error(answer.error);
  return answer;
}

// One plane is drawn by the server at a time.
let line = Promise.resolve();

export function inTurn(work) {
  const done = line.then(work);
  line = done.catch(() => {});
  return done;
}

// Returns what is shown of a node: from the server, or the plane of the file that is next to `at`.
export async function look(path, parameters) {
  if (!answers) return inTurn(() => ask("plane", { path, ...parameters }));
  const { planes, first } = await ask("plane", { path });
  const base = planes[first];
  if (!parameters.at) return base;
  const wanted = String(parameters.at).split(",").map(Number);
  const distance = plane => plane.at.reduce((sum, at, dim) => sum + Math.abs(at - wanted[dim]), 0);
  const nearest = planes.reduce((best, plane) => distance(plane) < distance(best) ? plane : best);
  return { ...base, ...nearest };
}
