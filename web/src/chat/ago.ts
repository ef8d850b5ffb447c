// How long ago something was, as briefly as a list needs it.
const STEPS: [number, string][] = [
  [60, "now"],
  [3600, "m"],
  [86_400, "h"],
  [604_800, "d"],
];

export function ago(iso: string): string {
  const then = new Date(iso);
  const seconds = (Date.now() - then.getTime()) / 1000;
  if (Number.isNaN(seconds)) return "";
  let unit = 1;
  for (const [limit, name] of STEPS) {
    if (seconds < limit) return name === "now" ? name : `${Math.floor(seconds / unit)}${name}`;
    unit = limit;
  }
  return then.toLocaleDateString("en", { day: "numeric", month: "short" });
}
