/*
 * SQL that decides which of two records of a key is newer, by their cursors. Cursors are compared by value: numbers as
 * numbers and date-times as instants, also in text or JSON; a date is the instant at which it starts in UTC, and a
 * date-time without a zone is in UTC. Two texts that are neither are compared by code point. If a cursor is missing,
 * NaN, an object or of a different kind than the other, the record that arrived later is newer.
 *
 * Among several records the newest is found as by comparing each with the newest one before it. A record of another kind
 * is always newer, so that is the one with the highest cursor of the last records that are all of one kind.
 *
 * No text makes the SQL fail: what PostgreSQL could not convert does not match the patterns.
 */
import { cursorColumns } from './identifiers.ts';
import { type Place, placeSql } from './place.ts';

const position = '_inlay_position';
/** Columns next to those of the table, which has none of these names (identifiers.ts). */
const [number, instant, word, kind, lastKind, otherKindAt] = cursorColumns;

/** As text within a column that has values of all kinds; undefined for a column whose values are all of one kind. */
function textOf(cursor: Place, row?: string): string | undefined {
  const value = placeSql(cursor, row);
  if (cursor.column.type === 'text') return value;
  if (cursor.column.type !== 'jsonb') return undefined;
  return `case when jsonb_typeof(${value}) in ('string', 'number') then ${value} #>> '{}' end`;
}

/** Within the limits of the type numeric: up to 6,000 digits before the point and after it, and an exponent of four. */
const numberForm = '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,4})?$';
const instantForm =
  '^(?!0000)([0-9]{4,6})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])' +
  '(?:[Tt ]([01][0-9]|2[0-3]|24(?=:00(?::00(?:[.]0+)?)?(?:[^0-9:.]|$))):([0-5][0-9])(?::([0-5][0-9](?:[.][0-9]{1,30})?|60))?([Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)?)?$';

/** Seconds since 1970, with all digits of a fraction. Null for a day that its month does not have. */
const instantOf = (text: string) => `(
  select case when extract(month from day) = part[2]::int then (day - date '1970-01-01')::numeric * 86400
    + coalesce(part[4]::int * 3600 + part[5]::int * 60, 0) + coalesce(part[6]::numeric, 0)
    - case when part[7] ~ '^[+-]' then (left(part[7], 1) || '1')::int
        * (substr(part[7], 2, 2)::int * 3600 + coalesce(substring(part[7], '[0-9]{2}$'), '0')::int * 60
          * (length(part[7]) > 3)::int) else 0 end end
  from (
    select part, make_date(part[1]::int, part[2]::int, 1) + (part[3]::int - 1) as day
    from regexp_match(${text}, '${instantForm}') as part
  ) as found)`;

/** A row of three, of which at most one is not null. */
const cursorValue = (text: string) => `(
  select ${number}, ${instant}, case when ${number} is null and ${instant} is null then whole end as ${word}
  from (
    select whole collate "C" as whole, ${instantOf('whole')} as ${instant},
      case when length(whole) <= 6000 and whole ~ '${numberForm}' then whole::numeric end as ${number}
    from (select ${text} as whole) as given
  ) as known)`;

const hasNaN = ({ column }: Place) => column.type === 'double precision' || column.type === 'numeric';

/** Whether the cursor of a row, of a column whose values are all of one kind, can be compared. */
function isMissing(cursor: Place, row?: string): string {
  const value = placeSql(cursor, row);
  return hasNaN(cursor) ? `(${value} is null or ${value} = 'NaN')` : `${value} is null`;
}

/** For ORDER BY: the highest cursor first, grouped by kind. */
export function highestFirst(cursor: Place): string[] {
  const text = textOf(cursor);
  const values =
    text === undefined
      ? [placeSql(cursor)]
      : [number, instant, word].map((name) => `(select ${name} from ${cursorValue(text)} as value)`);
  return values.map((value) => `${value} desc nulls last`);
}

/** Whether the record `came` is newer than `stored`, or as new. */
export function isNewer(cursor: Place, stored: string, came: string): string {
  const [text, other] = [textOf(cursor, stored), textOf(cursor, came)];
  if (text === undefined || other === undefined) {
    const [before, after] = [placeSql(cursor, stored), placeSql(cursor, came)];
    return `(${isMissing(cursor, stored)} or ${after} is null or ${after} >= ${before})`;
  }
  return `(select coalesce(${[number, instant, word].map((name) => `a.${name} >= b.${name}`).join(', ')}, true)
    from ${cursorValue(other)} as a, ${cursorValue(text)} as b)`;
}

/** The newest record of each key, in a table that numbers the records as they come, where all cursors are of one kind. */
export function newestOfOneKind(table: string, key: string, cursor: Place | undefined): string {
  const order = cursor ? `${placeSql(cursor)} desc, ` : '';
  return `select distinct on (${key}) * from ${table} order by ${key}, ${order}${position} desc`;
}

/** Whether a table's cursors are all of one kind. Undefined: unknown without reading all of them. */
export function areOfOneKind(table: string, cursor: Place): string | undefined {
  if (textOf(cursor) !== undefined) return undefined;
  return `select not exists (select from ${table} where ${isMissing(cursor)}) as "areOfOneKind"`;
}

/**
 * Whether a record of `newestOfAnyKind` came after one of another kind, which was newer than whatever is stored: then so is
 * this record.
 */
export const followsAnotherKind = (row: string) => `${row}.${otherKindAt} is not null`;

/** The newest record of each key, whatever the cursors are. */
export function newestOfAnyKind(table: string, key: string, cursor: Place): string {
  const text = textOf(cursor, 'staged');
  const judged =
    text === undefined
      ? `select *, (not ${isMissing(cursor)})::int as ${kind} from ${table}`
      : `select staged.*, value.*, case when ${number} is not null then 1 when ${instant} is not null then 2
           when ${word} is not null then 3 else 0 end as ${kind}
         from ${table} as staged cross join lateral ${cursorValue(text)} as value`;
  const values = text === undefined ? [`case when ${kind} = 1 then ${placeSql(cursor)} end`] : [number, instant, word];
  return `
    select distinct on (${key}) * from (
      select *, max(${position}) filter (where ${kind} <> ${lastKind}) over (partition by ${key}) as ${otherKindAt}
      from (
        select *, last_value(${kind}) over (partition by ${key} order by ${position}
          rows between unbounded preceding and unbounded following) as ${lastKind}
        from (${judged}) as judged
      ) as followed
    ) as candidates
    where ${otherKindAt} is null or ${position} > ${otherKindAt}
    order by ${key}, ${values.map((value) => `${value} desc nulls last, `).join('')}${position} desc`;
}
