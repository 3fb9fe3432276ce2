/*
 * Which rows of a table are still to be sent. Whatever order transactions commit in, each row that is committed is sent:
 * by a moment of which all rows have been sent, the rows that moment did not see are known.
 *
 * A row was seen if the transaction that wrote it had ended by then. Every id below `openFrom` had. For later ids,
 * those whose rows were sent are stored (`sent`): all rows of a transaction, or of one of its subtransactions, become
 * visible together. Everything not known to be sent is sent, so a row may be sent twice, and none is missed.
 *
 * Besides, rows are sent of a table that was not part of the stream before (a partition that was attached, another table
 * that took the name), and rows with a value in a column that was not read before. All rows are sent again when the
 * catalog reads them differently (definitions.ts).
 *
 * A pass sends the rows of one moment in the order of their places (`ctid`), table by table, and can be continued by
 * a later run, which sees another moment. What changed in between at places that were passed already is not part of that pass
 * but of the next one, since the first moment did not see it.
 */
import { isDeepStrictEqual } from 'node:util';
import { changedDefinition, type Definition, type SavedDefinitions, savedDefinitions } from './definitions.ts';
import { idsKnownApart, type Moment } from './moment.ts';

/** A regular table, or one partition. */
export interface Part {
  /** The object id of the table. */
  id: string;
  /** Another file means that rows have other places. */
  file: string;
}

/** The parts of the stream. */
export interface Extent {
  parts: readonly Part[];
  columns: readonly { name: string; number: number }[];
  definitions: readonly Definition[];
}

/** A moment of which rows were sent. */
interface SentMoment {
  history?: string;
  open_from: string;
  sent: string[];
  parts: string[];
  /** Number and name of each column that was read. */
  columns: string[];
  /** Absent in a state of an earlier version. */
  definitions?: SavedDefinitions;
}

interface Place {
  part: string;
  file: string;
  ctid: string;
}

interface Pass extends SentMoment {
  passed_parts: string[];
  place?: Place;
}

export interface SavedChanges {
  /** All rows of this moment are sent. */
  complete?: SentMoment;
  /** Rows of this moment are being sent. */
  pass?: Pass;
}

/** Limit of ids in a state. Exceeded if a transaction stays open for long while many others end. */
const maxSent = 2_000;

/** SQL conditions on a row; undefined where every row qualifies. */
export interface Filter {
  condition: string | undefined;
  /** Rows of higher ages are of ids that need not be remembered. */
  rememberedAge: bigint;
}

export class Changes {
  readonly #now: Moment;
  readonly #extent: Extent;
  /** Why everything is sent, if something was sent before. */
  readonly startsAnewBecause: string | undefined;
  /** Whether columns are read that the last complete pass did not read. Rows with a value in one of them are sent. */
  readonly hasNewColumns: boolean;
  #complete: SentMoment | undefined;
  #pass: Pass;
  /** Ids of the pass, each once. */
  #sent: Set<string>;
  #isResumed: boolean;

  constructor(saved: SavedChanges | undefined, now: Moment, extent: Extent) {
    this.#now = now;
    this.#extent = extent;
    const known = saved?.pass ?? saved?.complete;
    this.startsAnewBecause =
      (known && obstacle(known, saved?.complete, now)) ??
      changedDefinition(saved?.complete?.definitions, extent.definitions) ??
      changedDefinition(saved?.pass?.definitions, extent.definitions);
    const before = saved?.complete ?? saved?.pass;
    this.hasNewColumns = before !== undefined && columnsOf(extent).some((column) => !before.columns.includes(column));
    const usable = this.startsAnewBecause === undefined ? saved : undefined;
    this.#complete = usable?.complete;
    const resumed = usable?.pass && isDeepStrictEqual(usable.pass.columns, columnsOf(extent)) ? usable.pass : undefined;
    this.#isResumed = resumed !== undefined;
    this.#pass = resumed ?? this.#newPass();
    this.#sent = new Set(this.#pass.sent);
  }

  static isSaved(state: object | undefined): state is SavedChanges {
    return state !== undefined && ('complete' in state || 'pass' in state);
  }

  /** Whether rows that changed while an earlier run was on its way are left for another pass. */
  get isBehind(): boolean {
    return this.#isResumed;
  }

  /** Which rows the pass still has to send. `quote` makes an SQL literal, `quoteName` a name of a column. */
  filter(quote: (text: string) => string, quoteName: (name: string) => string): Filter {
    const conditions = [this.#unsent(quote, quoteName), this.#unpassed(quote)].filter((one) => one !== undefined);
    return {
      condition: conditions.length > 0 ? conditions.join(' and ') : undefined,
      rememberedAge: this.#now.latest - BigInt(this.#pass.open_from),
    };
  }

  /**
   * Called after a row, and everything before it, was sent, with the age of its transaction unless the pass's snapshot
   * saw all rows of such ages. Can be skipped for a row without such an age in the same part as the one before.
   */
  noteSent(part: string, ctid: string, age: string | null): void {
    const { place, passed_parts: passed } = this.#pass;
    if (place?.part !== part) {
      if (passed.includes(part)) throw new Error('The rows of a partition are not contiguous.');
      if (place) passed.push(place.part);
    } else if (compareCtids(place.ctid, ctid) > 0) {
      throw new Error('The server sent rows out of order.');
    }
    this.#pass.place = { part, file: this.#extent.parts.find(({ id }) => id === part)?.file ?? '', ctid };
    // For a transaction that ended after the pass started, rows are sent only from the position where the pass was
    // resumed.
    if (age === null || this.#isResumed || this.#sent.size >= maxSent) return;
    this.#sent.add(String(this.#now.latest - BigInt(age)));
  }

  /** The state after the row that was noted last. */
  saved(): SavedChanges {
    const pass = { ...this.#pass, passed_parts: [...this.#pass.passed_parts], sent: [...this.#sent] };
    return this.#complete ? { complete: this.#complete, pass } : { pass };
  }

  /** Ends the pass. Where it is behind, another one follows. */
  complete(): SavedChanges {
    const { passed_parts: _passed, place: _place, ...moment } = this.#pass;
    this.#complete = { ...moment, sent: [...this.#sent] };
    const saved: SavedChanges = { complete: this.#complete };
    if (this.#isResumed) {
      this.#isResumed = false;
      this.#pass = this.#newPass();
      this.#sent = new Set(this.#pass.sent);
    }
    return saved;
  }

  /** After the rows of this moment were sent from a cursor on: of a transaction that is not sure, some may be missing. */
  completeFromCursor(): SavedChanges {
    const { passed_parts: _passed, place: _place, ...moment } = this.#newPass();
    return { complete: { ...moment, sent: [] } };
  }

  /** Whether more ids were sent than are remembered. */
  get hasForgotten(): boolean {
    return this.#sent.size >= maxSent;
  }

  #newPass(): Pass {
    const { openFrom, history } = this.#now;
    // Ids sent before remain useful only at or above the limit.
    const sent = this.#complete?.sent.filter((id) => BigInt(id) >= openFrom) ?? [];
    return {
      ...(history !== undefined && { history }),
      open_from: String(openFrom),
      sent,
      parts: this.#extent.parts.map(({ id }) => id),
      columns: columnsOf(this.#extent),
      definitions: savedDefinitions(this.#extent.definitions),
      passed_parts: [],
    };
  }

  #unsent(quote: (text: string) => string, quoteName: (name: string) => string): string | undefined {
    const before = this.#complete;
    if (!before) return undefined;
    const age = this.#now.latest - BigInt(before.open_from);
    const isLater = [`age(xmin) <= ${age}`, 'age(xmin) >= 0'];
    if (before.sent.length > 0) {
      const ids = before.sent.map((id) => BigInt(id) % 2n ** 32n).join(',');
      isLater.push(`xmin <> all(${quote(`{${ids}}`)}::xid[])`);
    }
    const ways = [`(${isLater.join(' and ')})`];
    const added = this.#extent.parts.filter(({ id }) => !before.parts.includes(id));
    if (added.length > 0) ways.push(`tableoid = any(${quote(`{${added.map(({ id }) => id).join(',')}}`)}::oid[])`);
    for (const column of this.#extent.columns) {
      if (!before.columns.includes(columnKey(column))) ways.push(`${quoteName(column.name)} is not null`);
    }
    return `(${ways.join(' or ')})`;
  }

  #unpassed(quote: (text: string) => string): string | undefined {
    const { passed_parts: passed, place } = this.#pass;
    const conditions = passed.length > 0 ? [`tableoid <> all(${quote(`{${passed.join(',')}}`)}::oid[])`] : [];
    // After a table rewrite, its rows are at other positions.
    const isSame = place && this.#extent.parts.some(({ id, file }) => id === place.part && file === place.file);
    if (place && isSame) {
      const isBehindPlace = `ctid > ${quote(place.ctid)}::tid`;
      const isAlone = this.#extent.parts.length === 1;
      conditions.push(isAlone ? isBehindPlace : `(tableoid <> ${place.part} or ${isBehindPlace})`);
    } else if (place) {
      delete this.#pass.place;
    }
    return conditions.length > 0 ? conditions.join(' and ') : undefined;
  }
}

/** Why the ids of then cannot be compared with those of now. */
function obstacle(known: SentMoment, complete: SentMoment | undefined, now: Moment): string | undefined {
  if (known.history !== undefined && now.history !== undefined && known.history !== now.history) {
    return 'the server was replaced, restored from a backup or failed over';
  }
  const from = BigInt((complete ?? known).open_from);
  if (now.latest < BigInt(known.open_from) && !now.isStandby) return 'the server was reset to an earlier point in time';
  if (now.latest - from > idsKnownApart) return 'too many transactions have passed since the last sync';
  return undefined;
}

function columnsOf({ columns }: Extent): string[] {
  return columns.map(columnKey);
}

/** A column that was dropped and made again has another number. */
function columnKey({ number, name }: Extent['columns'][number]): string {
  return `${number} ${name}`;
}

function compareCtids(one: string, other: string): number {
  const [oneBlock = 0, oneRow = 0] = one.slice(1, -1).split(',').map(Number);
  const [otherBlock = 0, otherRow = 0] = other.slice(1, -1).split(',').map(Number);
  return oneBlock - otherBlock || oneRow - otherRow;
}
