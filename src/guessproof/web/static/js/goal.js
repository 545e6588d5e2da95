// A goal in words and in parts: "time within 2 and faculty exactly". What is more than that stays text.

const WITHIN = /^(?:"([^"]+)"|([\p{L}_][\p{L}\p{N}_]*))\s+(?:within\s+(\S+)(?:\s*%)?|(exactly))$/u;

export function parse(text) {
  const join = / or /.test(text) ? "or" : "and";
  if (/[()]|\bnot\b/.test(text) || (/ or /.test(text) && / and /.test(text))) return null;
  const parts = text.split(` ${join} `).map((part) => {
    const found = WITHIN.exec(part.trim());
    if (!found) return null;
    const size = found[3];
    return { column: found[1] || found[2], how: found[4] ? "exactly" : part.includes("%") ? "percent" : "within", size: size === undefined ? 1 : Number(size.replace("%", "")) };
  });
  return parts.length && parts.every((part) => part && Number.isFinite(part.size)) ? { join, parts } : null;
}

// The columns that a goal speaks of, however it is written.
export function columns(text, names) {
  const bare = text.replace(/"[^"]*"|'[^']*'/gu, (quoted) => ` ${quoted} `);
  const words = new Set(bare.match(/"[^"]*"|'[^']*'|[\p{L}_][\p{L}\p{N}_]*/gu)?.map((word) => word.replace(/^["']|["']$/gu, "")));
  return names.filter((one) => words.has(one));
}

const name = (column) => (/^[\p{L}_][\p{L}\p{N}_]*$/u.test(column) ? column : `"${column.replaceAll('"', "")}"`);

export function spell({ join, parts }) {
  return parts.map(({ column, how, size }) => (how === "exactly" ? `${name(column)} exactly` : `${name(column)} within ${size}${how === "percent" ? "%" : ""}`)).join(` ${join} `);
}

export function words(text) {
  const found = parse(text);
  if (!found) return `He wants: ${text}.`;
  const parts = found.parts.map(({ column, how, size }) => (how === "exactly" ? `somebody’s exact ${column}` : `somebody’s ${column} to within ${size}${how === "percent" ? " %" : ""}`));
  return `He wants ${parts.join(found.join === "and" ? ", and at the same time " : ", or else ")}.`;
}
