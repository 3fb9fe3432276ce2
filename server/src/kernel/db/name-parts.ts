/**
 * How a search for a part of a name avoids reading every name. Names are cut into runs of one, two or three characters,
 * and each database keeps these runs in its own kind of index. The index only reduces the number of names to look at;
 * each of them is then compared with the whole text that is searched for.
 *
 * SQLite: `workspace_names`, a full-text index whose words are such runs. Its rows are slots in the order of the list
 * of workspaces, newest last, so that reading can stop when a page is full. A slot is a millisecond and the first
 * digits of an id; the text of a slot holds the names of the few workspaces that share it. Status and organization are
 * words, too.
 *
 * PostgreSQL: `workspaces.name_parts`, a column the database derives itself, with the run of three characters (fewer at
 * the end) that begins at each place. Shorter runs are found as the beginnings of longer ones. The organization is one
 * more entry.
 */
import { type RawBuilder, sql } from 'kysely';

interface NameSearch {
  organizationId: string;
  /** The text that is searched for, folded in the same way as the names. */
  text: string;
  status?: string | undefined;
}

/** The words of a name. SQLite calls this function as `name_parts()`. */
export function wordsOfName(name: string): string {
  const letters = Array.from(name, wordOf);
  let words = '';
  for (const [place, letter] of letters.entries()) {
    const second = letters[place + 1];
    const third = letters[place + 2];
    words += ` ${letter}`;
    if (second !== undefined) words += ` ${letter}${second}`;
    if (second !== undefined && third !== undefined) words += ` ${letter}${second}${third}`;
  }
  return words;
}

/** What `workspace_names` must match for names that may contain the text. */
export function wordsToMatch({ organizationId, text, status }: NameSearch): string {
  const words = partsToFind(text).map((part) => Array.from(part, wordOf).join(''));
  return [...words, organizationWord(organizationId), ...(status ? [status] : [])].join(' AND ');
}

/** What `workspaces.name_parts` must match for names that may contain the text. */
export function tsqueryOf({ organizationId, text }: NameSearch): string {
  const isBeginning = Array.from(text).length < longestPart;
  const parts = partsToFind(text).map((part) => `'${part.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`);
  return [...parts.map((part) => (isBeginning ? `${part}:*` : part)), organizationWord(organizationId)].join(' & ');
}

/** With this word a search skips the names of other organizations. It is longer than any part of a name. */
const organizationWord = (id: string): string => `o${id.slice(0, 8)}`;

const longestPart = 3;
/** More parts would hardly reduce the result further, and each part costs a look into the index. */
const enoughParts = 12;

function partsToFind(text: string): string[] {
  const characters = Array.from(text);
  const places = characters.length - longestPart + 1;
  if (places <= 1) return [text];
  const parts = new Set<string>();
  const step = Math.max(1, (places - 1) / (enoughParts - 1));
  for (let place = 0; place < places; place += step) {
    const from = Math.round(place);
    parts.add(characters.slice(from, from + longestPart).join(''));
  }
  return [...parts];
}

const asciiWords = Array.from({ length: 128 }, (_, code) => code.toString(16).padStart(2, '0'));

/** Writes any character with letters and digits only: the index would take other characters for the end of a word. */
function wordOf(character: string): string {
  return asciiWords[character.charCodeAt(0)] ?? Buffer.from(character).toString('hex');
}

/** The migration that made the triggers writes slots in the same way. */
const slotDigits = 3;
const slotsPerMs = 16 ** slotDigits;

/** The slot of a workspace in `workspace_names`. */
export function slotOf({ createdAt, id }: { createdAt: number; id: string }): bigint {
  return BigInt(createdAt) * BigInt(slotsPerMs) + BigInt(`0x${id.slice(0, slotDigits)}`);
}

/** On SQLite, the condition for a row of `workspaces` to lie in the slot of a row of `names`. */
export function liesInSlot(names: string): RawBuilder<boolean> {
  const slot = sql.ref(`${names}.rowid`);
  const start = sql`printf(${sql.lit(`%0${slotDigits}x`)}, ${slot} % ${sql.lit(slotsPerMs)})`;
  return sql`created_at = ${slot} / ${sql.lit(slotsPerMs)} and id >= ${start} and id < ${start} || 'g'`;
}

/** After all slots. */
export const lastSlot = 2n ** 63n - 1n;
