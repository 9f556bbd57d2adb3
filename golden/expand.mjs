// Expands the templates of the corpus: the forms of "Large cases" in README.md.

const text = (s, vars) => s.replace(/\{(\d*)([a-z])(?:\+(\d+))?\}/g, (all, a, v, b) =>
  !(v in vars) ? all : typeof vars[v] === "number" ? String((a === "" ? 1 : +a) * vars[v] + +(b ?? 0))
    : all.length === 3 ? vars[v] : all);
const repeat = ({ repeat, times, each = {}, as = "n" }, vars) =>
  Array.from({ length: times === undefined ? Object.values(each)[0].length : +text(String(times), vars) }, (_, i) =>
    list(repeat, { ...vars, [as]: i, ...Object.fromEntries(Object.keys(each).map((v) => [v, each[v][i]])) })).flat();
const list = (xs, vars) => xs.flatMap((x) => Array.isArray(x?.repeat) ? repeat(x, vars) : [expand(x, vars)]);
export function expand(x, vars = {}) {
  if (typeof x === "string") return text(x, vars);
  if (Array.isArray(x)) return list(x, vars);
  if (x === null || typeof x !== "object") return x;
  const keys = Object.keys(x);
  if (keys.length === 1 && typeof x.number === "string") return Number(text(x.number, vars));
  if (keys.length === 1 && Array.isArray(x.concat)) return list(x.concat, vars).join("");
  if (keys.length === 1 && Array.isArray(x.members)) return Object.fromEntries(list(x.members, vars));
  return Object.fromEntries(keys.map((key) => [text(key, vars), expand(x[key], vars)]));
}
