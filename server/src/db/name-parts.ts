/**
 * How a part of a name is found without looking at every name: by the runs of one, two or three characters it consists
 * of, which each database keeps in an index of its own kind. The indexes only narrow down; whether a name contains the
 * part as a whole is asked of the name itself.
 *
 * SQLite: `workspace_names`, a full-text index whose words are such runs. Its rows are slots in the order of the list of
 * workspaces, newest last, so that a page is found in that order and no further is read. A slot is a millisecond and the
 * first digits of an id; the few workspaces that share one are its text together. Status and organization are words, too.
 *
 * PostgreSQL: `workspaces.name_parts`, a column the database derives itself, with the run of three characters (fewer
 * at the end) that begins at each place. Shorter ones are found as the beginnings of those. The organization is among them.
 */
import { type RawBuilder, sql } from 'kysely';

interface NameSearch {
  organizationId: string;
  /** Folded, as the names are. */
  text: string;
  status?: string | undefined;
}

/** SQLite knows it as `name_parts()`: the words of a name. */
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

/** So that an organization's search does not look through what others have; longer than any part of a name. */
const organizationWord = (id: string): string => `o${id.slice(0, 8)}`;

const longestPart = 3;
/** More narrow down little further, and each costs a look into the index. */
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

/** Letters and digits only, whatever the character: the index would take others for the end of a word. */
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
