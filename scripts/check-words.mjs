// Finds phrases that read as translated in interface texts, errors, command-line texts and Markdown pages (CONTRIBUTING.md,
// "Words"). If a rule is wrong about a line, allow it with a reason, in a comment on that line or the line before.
//
//   // words: quotes the specification            in TypeScript
//   <!-- words: quotes the specification -->      in Markdown
//
//   node scripts/check-words.mjs [root]

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMain } from './is-main.mjs';

/**
 * @typedef {{ phrase: RegExp, instead: string, only?: 'strings' }} Rule
 * @typedef {{ file: string, line: number, phrase: string, instead: string }} Finding
 */

const pages = /^(?:(?:docs|bench|deploy|embed|webhooks|manifests|examples)\/.*)?[^/]+\.md$/;
/** Files whose strings people read in English. */
const wordFiles = [
  /^(?:console|connectors|embed|ui|server)\/src\/(?:.*\/)?(?:words|[\w-]+-words)\.ts$/,
  /^console\/src\/words\/[\w-]+\.ts$/,
  /^(?:widget|ui)\/src\/(?:.*\/)?words\/en\.ts$/,
  /^widget\/src\/sign-in\/sign-in-en\.ts$/,
  /^contract\/src\/.*\.ts$/,
  /^server\/src\/edge\/cli\/[\w-]+\.ts$/,
  /^server\/src\/(?:kernel\/config\/variables|kernel\/http\/error-catalogue|log\/events\/catalogue)\.ts$/,
];
const skippedFolders = /^(?:node_modules|dist|builds|fixtures|data)$|^\./;

/** Blanks also match line breaks, because prose is wrapped. `…` stands for an expression in a template literal. */
const phrase = (/** @type {RegExp} */ pattern, flags = 'gi') =>
  new RegExp(pattern.source.replaceAll(' ', '\\s+'), flags);

/** @type {Rule[]} */
export const rules = [
  { phrase: phrase(/\bby (?:itself|themselves)\b/), instead: 'automatically' },
  { phrase: phrase(/\b(?:go|goes|going|gone|went) on\b(?! (?:the|a) \w+ page)/), instead: 'continue' },
  {
    phrase: phrase(/\b(?:is|are|was|were|be|been|being|not) told\b|\btold of\b|\btells of\b/),
    instead: 'say who reports, notifies or shows what: "reported", "details", "unknown"',
  },
  { phrase: phrase(/\btells (?:how|what|when|where|whether|which|why)\b/), instead: 'shows, reports, says' },
  { phrase: phrase(/\bshall\b/), instead: 'must, will, or the verb alone' },
  { phrase: phrase(/(?<!\b(?:because|part|most|all|none|half|out|rid) )\bof it\b/), instead: 'name the thing' },
  { phrase: phrase(/\b(?:has|have|had) to do with\b/), instead: 'is about, manages, concerns' },
  { phrase: phrase(/\bsince (?:\d+|…) (?:\w+ )?ago\b/), instead: 'for 22 minutes' },
  {
    phrase: phrase(/\b(?:left )?empty: (?:ours|the|as|no|none)\b/),
    instead: 'Leave empty to use …',
  },
  { phrase: phrase(/\b(?:does not|doesn't|doesn’t) let you\b/), instead: 'You can’t …, or what did not work' },
  { phrase: phrase(/(?:^|\d |… )to look at\b/), instead: 'warnings' },
  { phrase: phrase(/(?:\bis|\bare|\d|…) in order\b(?! (?:to|of)\b)/), instead: 'passed, healthy, OK' },
  { phrase: phrase(/\bwhoever\b/), instead: 'anyone who, the person who' },
  { phrase: phrase(/\bnothing (?:else )?but\b/), instead: 'only' },
  { phrase: phrase(/\bwhat (?:came|comes|becomes|became) of\b|\bto be known\b/), instead: 'outcome, details' },
  { phrase: phrase(/\bpassed over\b/), instead: 'ignored, skipped' },
  { phrase: phrase(/\b(?:mend|mends|mended|mending)\b/), instead: 'fix, repair' },
  { phrase: phrase(/\banew\b/), instead: 'again' },
  { phrase: phrase(/\b(?:is|are|was|were|be|been) asked for\b/), instead: 'requested, required' },
  {
    phrase: phrase(
      /\b(?:stay|stays|stayed|remain|remains|go|goes|leave|leaves|left) as (?:it|they) (?:is|are|was|were)\b/,
    ),
    instead: 'unchanged',
  },
  { phrase: phrase(/\bin (?:\w+ )?(?:customer|operator)['’]s place\b/), instead: 'on their behalf' },
  {
    phrase: phrase(/\bhow (?:a|an|each|every|the) (?:customer|connection|source|sync) does\b/),
    instead: 'status, health',
  },
  {
    phrase: phrase(/(?<=^|[.!?] |\n\n|\| |- )Of (?:a|an|the|what|each|every|those|these|all|two|its|such)\b/, 'g'),
    instead: 'begin with the subject',
  },
  {
    phrase: phrase(/(?<=^|[.!?] )(?:It|This) (?:is|was|does|did)\b/, 'g'),
    instead: 'begin with the thing itself',
    only: 'strings',
  },
];

/**
 * The strings of a TypeScript file. In a template, each expression becomes `…`; strings within it are listed on their own.
 * @param {string} source @returns {{ at: number, text: string }[]}
 */
function stringsOf(source) {
  /** @type {{ at: number, text: string }[]} */
  const strings = [];
  let at = 0;
  const after = (/** @type {string} */ end, /** @type {number} */ from) => {
    const found = source.indexOf(end, from);
    return found < 0 ? source.length : found + end.length;
  };
  /** @param {string} quote */
  const readString = (quote) => {
    const start = ++at;
    let text = '';
    while (at < source.length && source[at] !== quote) {
      if (quote === '`' && source.startsWith('${', at)) {
        at += 2;
        readCode();
        text += '…';
      } else if (source[at] === '\\') {
        text += source[at + 1] === 'n' ? ' ' : source[at + 1];
        at += 2;
      } else text += source[at++];
    }
    at += 1;
    strings.push({ at: start, text });
  };
  /** Reads up to the brace that ends the code, or to the end of the file. */
  const readCode = () => {
    let depth = 0;
    let before = '(';
    while (at < source.length) {
      const char = source[at] ?? '';
      if (source.startsWith('//', at)) at = after('\n', at);
      else if (source.startsWith('/*', at)) at = after('*/', at + 2);
      else if (`'"\``.includes(char)) readString(char);
      else if (char === '/' && '(=,:[!&|?{;'.includes(before)) at = endOfPattern(source, at);
      else {
        at += 1;
        if (char === '{') depth += 1;
        if (char === '}' && depth-- === 0) return;
      }
      if (char.trim()) before = char;
    }
  };
  readCode();
  return strings;
}

/** Where a regular expression ends that begins at a place. @param {string} source @param {number} start */
function endOfPattern(source, start) {
  let isInClass = false;
  let at = start + 1;
  for (; source[at] !== '/' || isInClass; at += 1) {
    if (at >= source.length || source[at] === '\n') return start + 1;
    if (source[at] === '\\') at += 1;
    else if (source[at] === '[') isInClass = true;
    else if (source[at] === ']') isInClass = false;
  }
  return at + 1;
}

/** The prose of a Markdown page: code, addresses, comments and generated parts are blank. @param {string} source */
function proseOf(source) {
  const blank = (/** @type {string} */ text) => text.replace(/[^\n]/g, ' ');
  return source
    .replace(/<!-- generated[\s\S]*?<!-- \/generated -->/g, blank)
    .replace(/^ *```[\s\S]*?^ *```/gm, blank)
    .replace(/<!--[\s\S]*?-->|`[^`\n]*`|\]\([^)]*\)/g, blank);
}

/** @param {string} root @param {string} folder @returns {string[]} files below a folder, relative to the root */
function listFiles(root, folder = '') {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}${entry.name}`;
    if (!entry.isDirectory()) return [path];
    return skippedFolders.test(entry.name) ? [] : listFiles(root, `${path}/`);
  });
}

/** @param {string} text @param {number} at */
const lineAt = (text, at) => text.slice(0, at).split('\n').length;

/** @param {string} root the repository @returns {Finding[]} */
export function checkWords(root) {
  /** @type {Finding[]} */
  const findings = [];
  const check = (/** @type {string} */ file, /** @type {boolean} */ isPage) => {
    const source = readFileSync(join(root, file), 'utf8');
    const lines = source.split('\n');
    const isAllowed = (/** @type {number} */ line) =>
      [lines[line - 1], lines[line - 2]].some((text = '') => /(?:\/\/|\/\*|<!--) words: \S/.test(text));
    for (const { at, text } of isPage ? [{ at: 0, text: proseOf(source) }] : stringsOf(source)) {
      for (const { phrase: pattern, instead, only } of rules) {
        if (isPage && only) continue;
        for (const match of text.matchAll(pattern)) {
          const line = lineAt(source, at) + lineAt(text, match.index) - 1;
          if (!isAllowed(line)) findings.push({ file, line, phrase: match[0].replace(/\s+/g, ' ').trim(), instead });
        }
      }
    }
  };
  for (const file of listFiles(root)) {
    if (pages.test(file)) check(file, true);
    else if (wordFiles.some((name) => name.test(file)) && !file.endsWith('.test.ts')) check(file, false);
  }
  const place = (/** @type {Finding} */ one) => `${one.file}:${String(one.line).padStart(6)} ${one.phrase}`;
  return findings.sort((a, b) => (place(a) < place(b) ? -1 : 1));
}

if (isMain(import.meta.url)) {
  const root = process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url));
  const findings = checkWords(root);
  for (const { file, line, phrase: found, instead } of findings) {
    console.error(`${file}:${line} "${found}"\n    ${instead}`);
  }
  if (findings.length > 0) process.exitCode = 1;
}
