// The text of `console.table`, laid out as by Node.js.

const FEW = 3; // members of a list in a cell
const SMALL = 2; // members of an object in a cell

/** The table of a list, an object, a Map or a Set of rows; undefined for what has none. */
export function tableOf(data, columns) {
  if (typeof data !== "object" || data === null) return undefined;
  if (data instanceof Map) {
    const rows = [...data].map(([key, value], index) => [String(index), shown(key), shown(value)]);
    return drawn([["(iteration index)", "Key", "Values"], ...rows]);
  }
  if (data instanceof Set) {
    const rows = [...data].map((value, index) => [String(index), shown(value)]);
    return drawn([["(iteration index)", "Values"], ...rows]);
  }
  return drawn(tabulated(Object.entries(data), columns));
}

/** Head and rows: the members of each entry's value, or the value itself in a last column where it has none. */
function tabulated(entries, columns) {
  const names = new Set(columns ?? entries.flatMap(([, row]) => (isRow(row) ? Object.keys(row) : [])));
  const hasPlain = columns === undefined && entries.some(([, row]) => !isRow(row));
  const rows = entries.map(([index, row]) => {
    const cells = [...names].map((name) => (isRow(row) && Object.hasOwn(row, name) ? shown(row[name]) : ""));
    return [index, ...cells, ...(hasPlain ? [isRow(row) ? "" : shown(row)] : [])];
  });
  return [["(index)", ...[...names].map(String), ...(hasPlain ? ["Values"] : [])], ...rows];
}

function isRow(value) {
  return value !== null && (typeof value === "object" || typeof value === "function");
}

function drawn([head, ...rows]) {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => widthOf(row[column]))));
  const line = (left, between, right) => left + widths.map((width) => "─".repeat(width + 2)).join(between) + right;
  const row = (cells) => `│${cells.map((cell, column) => ` ${padded(cell, widths[column])} `).join("│")}│`;
  return [line("┌", "┬", "┐"), row(head), line("├", "┼", "┤"), ...rows.map(row), line("└", "┴", "┘")].join("\n");
}

function widthOf(text) {
  return [...text].length;
}

function padded(text, width) {
  return text + " ".repeat(width - widthOf(text));
}

/** A value in one line; what is in it only if it is `whole`. */
function shown(value, whole = true) {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function") return value.name ? `[Function: ${value.name}]` : "[Function (anonymous)]";
  if (typeof value !== "object" || value === null) return Object.is(value, -0) ? "-0" : String(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  if (value instanceof Error) return `[${value}]`;
  return Array.isArray(value) ? listed(value, whole) : membersOf(value, whole);
}

function quoted(text) {
  const escaped = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
  if (!text.includes("'")) return `'${escaped}'`;
  return text.includes('"') ? `'${escaped.replaceAll("'", "\\'")}'` : `"${escaped}"`;
}

function listed(list, whole) {
  if (list.length === 0) return "[]";
  if (!whole) return "[Array]";
  const more = list.length - FEW;
  const members = list.slice(0, FEW).map((member) => shown(member, false));
  if (more > 0) members.push(`... ${more} more ${more === 1 ? "item" : "items"}`);
  return `[ ${members.join(", ")} ]`;
}

function membersOf(object, whole) {
  const name = Object.getPrototypeOf(object)?.constructor?.name || "Object";
  const keys = Object.keys(object);
  const prefix = name === "Object" ? "" : `${name} `;
  if (object instanceof Map || object instanceof Set) return `[${name}]`;
  if (keys.length === 0) return `${prefix}{}`;
  if (!whole || keys.length > SMALL) return `[${name}]`;
  return `${prefix}{ ${keys.map((key) => `${key}: ${shown(object[key], false)}`).join(", ")} }`;
}
