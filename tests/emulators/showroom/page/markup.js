// Marked-up text as elements. Every platform has marks of its own; words only ever become text nodes.

const SPANS = {
  bold: "strong",
  italic: "em",
  underline: "u",
  strikethrough: "s",
  code: "code",
  pre: "pre",
  blockquote: "blockquote",
  expandable_blockquote: "blockquote",
};
const BLOCKS = new Set(["pre", "blockquote"]);

export function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

export function marked(part) {
  if (part.marks === "telegram") return spanned(part.text, part.spans);
  if (part.marks === "plain") return [part.text];
  return [...blocks(part.text.split("\n"), part.marks)];
}

function link(address, ...children) {
  return /^https?:\/\//i.test(address)
    ? element("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, ...children)
    : element("span", {}, ...children);
}

// Telegram: stretches that lie in each other

function spanned(text, spans) {
  const sorted = [...spans].sort((a, b) => a.offset - b.offset || b.length - a.length);
  return nest(text, 0, text.length, sorted);
}

function nest(text, from, to, spans) {
  const made = [];
  let at = from;
  while (spans.length && spans[0].offset < to) {
    const span = spans.shift();
    const end = Math.min(span.offset + span.length, to);
    if (span.offset < at || end <= span.offset) continue;
    if (span.offset > at) made.push(text.slice(at, span.offset));
    const inside = [];
    while (spans.length && spans[0].offset < end) inside.push(spans.shift());
    made.push(styled(span, nest(text, span.offset, end, inside)));
    at = end;
    if (BLOCKS.has(SPANS[span.type]) && text[at] === "\n") at += 1; // a block ends its line itself
  }
  if (at < to) made.push(text.slice(at, to));
  return made;
}

function styled(span, children) {
  if (span.type === "text_link") return link(span.url, ...children);
  if (SPANS[span.type]) return element(SPANS[span.type], {}, ...children);
  return element("span", { className: "mention" }, ...children);
}

// Markdown and its relatives: blocks of lines

const FENCE = /^\s*(```|~~~)/;
const HEADING = /^#{1,6} +(.*?)[ #]*$/;
const ITEM = /^(\s*)([-*+•]|\d{1,3}[.)]) +(.*)$/;
const RULE = /^\s*(?:-{3,}|\*{3,}|_{3,})\s*$/;

function* blocks(lines, marks) {
  for (let at = 0; at < lines.length; ) {
    const [made, next] = block(lines, at, marks);
    if (made) yield made;
    at = next;
  }
}

function block(lines, at, marks) {
  const line = lines[at];
  if (!line.trim()) return [null, at + 1];
  if (FENCE.test(line)) return fence(lines, at);
  if (/^> ?/.test(line)) {
    const end = after(lines, at, (each) => /^> ?/.test(each));
    const quoted = lines.slice(at, end).map((each) => each.replace(/^> ?/, ""));
    return [element("blockquote", {}, ...blocks(quoted, marks)), end];
  }
  if (marks === "discord" && line.startsWith("-# ")) return [element("p", { className: "sub" }, ...inline(line.slice(3), marks)), at + 1];
  if (marks !== "mrkdwn" && HEADING.test(line)) return [element("p", { className: "heading" }, ...inline(line.match(HEADING)[1], marks)), at + 1];
  if (marks === "markdown" && RULE.test(line)) return [element("hr"), at + 1];
  if (marks === "markdown" && line.trim().startsWith("|")) return table(lines, at, marks);
  if (ITEM.test(line)) return [item(line.match(ITEM), marks), at + 1];
  const end = after(lines, at, (each) => each.trim() && ![FENCE, ITEM, /^> /].some((kind) => kind.test(each)) && (marks === "mrkdwn" || !HEADING.test(each)));
  return [element("p", {}, ...inline(lines.slice(at, end).join("\n"), marks)), end];
}

function after(lines, at, fits) {
  let end = at + 1;
  while (end < lines.length && fits(lines[end])) end += 1;
  return end;
}

function fence(lines, at) {
  const mark = lines[at].match(FENCE)[1];
  const sole = lines[at].trim().match(/^```(.+)```$/);
  if (sole) return [element("pre", {}, sole[1]), at + 1];
  const first = lines[at].trim().slice(3);
  const end = after(lines, at, (each) => !each.trimEnd().endsWith(mark));
  const closing = (lines[end] ?? "").trimEnd().slice(0, -3);
  const code = [...(/\s/.test(first) ? [first] : []), ...lines.slice(at + 1, end), ...(closing ? [closing] : [])];
  return [element("pre", {}, code.join("\n")), end + 1];
}

function item([, indent, mark, words], marks) {
  const depth = Math.min(3, Math.floor(indent.length / 2));
  const shown = /\d/.test(mark) ? mark : "•";
  return element("p", { className: `item depth${depth}` }, element("span", { className: "mark" }, shown), element("span", {}, ...inline(words, marks)));
}

function table(lines, at, marks) {
  const end = after(lines, at, (each) => each.trim().startsWith("|"));
  const rows = lines.slice(at, end).filter((each) => !/^[\s|:-]+$/.test(each));
  const cells = (row) => row.trim().replace(/^\||\|$/g, "").split("|").map((each) => each.trim());
  const made = rows.map((row, index) => element("tr", {}, ...cells(row).map((each) => element(index ? "td" : "th", {}, ...inline(each, marks)))));
  return [element("div", { className: "wide" }, element("table", {}, ...made)), end];
}

// Inside a line

const wrap = (tag) => (found, marks) => element(tag, {}, ...inline(found[1], marks));
const CODE = [/(`+)([^`]|[^`][\s\S]*?[^`])\1(?!`)/, (found) => element("code", {}, unescaped(found[2]))];
const MENTION = [/(?<![\w@])@[A-Za-z][\w-]*/, (found) => element("span", { className: "mention" }, found[0])];
const ADDRESS = [/https?:\/\/[^\s<>|)\]]+/, (found) => link(found[0], found[0])];
const BRACKETED = [/<(https?:\/\/[^\s<>|]+)(?:\|([^<>]*))?>/, (found) => link(unescaped(found[1]), unescaped(found[2] || found[1]))];
const SPOILER = [/\|\|(?=\S)(.+?)\|\|/, wrap("span")];

const GITHUB = [
  CODE,
  [/\\([!-/:-@[-`{-~])/, (found) => found[1]],
  [/!?\[([^\]\n]+)\]\(<?([^)\s>]+)>?\)/, (found, marks) => link(found[2], ...inline(found[1], marks))],
  BRACKETED,
  [/\*\*(?=\S)([\s\S]+?)(?<=\S)\*\*/, wrap("strong")],
  [/~~(?=\S)([\s\S]+?)(?<=\S)~~/, wrap("s")],
  [/(?<![\w*])\*(?=[^\s*])([^*\n]*[^\s*])\*(?![\w*])/, wrap("em")],
  [/(?<![\w_])_(?=[^\s_])([^_\n]*[^\s_])_(?![\w_])/, wrap("em")],
  ADDRESS,
  MENTION,
];
const MARKS = {
  markdown: [...GITHUB, [/__(?=\S)([\s\S]+?)(?<=\S)__/, wrap("strong")]],
  discord: [...GITHUB, [/__(?=\S)([\s\S]+?)(?<=\S)__/, wrap("u")], SPOILER],
  mrkdwn: [
    CODE,
    BRACKETED,
    [/(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])/, wrap("strong")],
    [/(?<![\w_])_(?=\S)([^_\n]+?)(?<=\S)_(?![\w_])/, wrap("em")],
    [/(?<![\w~])~(?=\S)([^~\n]+?)(?<=\S)~(?![\w~])/, wrap("s")],
    ADDRESS,
    MENTION,
  ],
};

function inline(text, marks) {
  const made = [];
  let rest = text;
  while (rest) {
    let first = null;
    for (const [pattern, make] of MARKS[marks]) {
      const found = rest.match(pattern);
      if (found && (!first || found.index < first.found.index)) first = { found, make };
    }
    if (!first) break;
    if (first.found.index) made.push(plain(rest.slice(0, first.found.index), marks));
    made.push(first.make(first.found, marks));
    rest = rest.slice(first.found.index + first.found[0].length);
  }
  if (rest) made.push(plain(rest, marks));
  return made;
}

function plain(text, marks) {
  return marks === "discord" ? text : unescaped(text);
}

function unescaped(text) {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
