// Numbers, sizes, units and labels as texts.

export const number = value => value.toLocaleString("en");
// Returns a number as a place in a row: 2nd, 11th, 21st.
export function ordinal(value) {
  const ends = { 1: "st", 2: "nd", 3: "rd" };
  return `${number(value)}${value % 100 > 10 && value % 100 < 14 ? "th" : ends[value % 10] ?? "th"}`;
}

export const plural = (count, what) => `${number(count)} ${what}${count === 1 ? "" : "s"}`;

export function size(bytes) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  for (; bytes >= 1024 && unit < units.length - 1; unit++) bytes /= 1024;
  return `${unit && bytes < 100 ? bytes.toPrecision(3) : number(Math.round(bytes))} ${units[unit]}`;
}

// Returns a number with as many digits as the step between its neighbours has.
export function digits(value, step) {
  if (!Number.isFinite(value)) return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
  const large = Math.abs(value);
  if (large && (large < 1e-4 || large >= 1e9)) return value.toExponential(3);
  const places = step > 0 ? Math.max(0, Math.min(8, 1 - Math.floor(Math.log10(step)))) : null;
  return places == null ? String(Number(value.toPrecision(6))) : value.toFixed(places);
}

// Returns the text of a round number on an axis whose numbers are `gap` apart.
export function tickText(value, gap) {
  const large = Math.abs(value);
  if (!(gap > 0) || gap < 1e-6 || large >= 1e9) return digits(value);
  return value.toFixed(Math.max(0, Math.ceil(-Math.log10(gap) - 1e-9) + (Number((gap * 10 ** Math.ceil(-Math.log10(gap))).toFixed(6)) % 1 ? 1 : 0)));
}

const UNITS = { micrometer: "µm", nanometer: "nm", millimeter: "mm", meter: "m", angstrom: "Å", second: "s", millisecond: "ms", minute: "min", hour: "h" };
export const unit = units => units ? UNITS[units] ?? units : "";
export const isSince = units => / since /.test(units ?? "");

export function degrees(value, place) {
  if (place === "longitude") {
    const east = ((value % 360) + 540) % 360 - 180;
    const shown = Number(Math.abs(east).toPrecision(6));
    return shown === 0 || shown === 180 ? `${shown}°` : `${shown}° ${east < 0 ? "W" : "E"}`;
  }
  const shown = Number(Math.abs(value).toPrecision(6));
  return shown === 0 ? "0°" : `${shown}° ${value < 0 ? "S" : "N"}`;
}

export const textOf = label => typeof label === "number" ? digits(label) : label.length > 16 ? `${label.slice(0, 15)}…` : label;
export const labelText = (label, units) => label == null ? null : typeof label === "number" ? `${digits(label)}${units ? ` ${unit(units)}` : ""}` : label;

export function labelOf(side, at) {
  const label = side.labels?.[at];
  if (label == null) return `${side.name} ${number(side.start + at * side.step)}`;
  if (typeof label === "number" && ["latitude", "longitude"].includes(side.place)) return `${side.name} ${digits(label)}`;
  return `${side.name} ${typeof label === "number" ? digits(label) : label}${side.units && typeof label === "number" ? ` ${unit(side.units)}` : ""}`;
}

// Returns an attribute `_FillValue` as text. xarray writes that of floats as the base64 of their eight bytes.
export function fillValue(value) {
  if (!/^[A-Za-z0-9+/]{11}=$/.test(value ?? "")) return value;
  const bytes = Uint8Array.from(atob(value), letter => letter.charCodeAt(0));
  return String(new DataView(bytes.buffer).getFloat64(0, true));
}
