/*
 * Makes up the records of the sample. A record follows from the seed, its stream and its id alone: it is the same
 * whatever the count, so a larger count only adds records, and it refers only to records that come with any count it
 * comes with. `updated_at` grows with the id.
 *
 * A record is put together from pieces of JSON that are bytes already: to make its text and encode that takes twice as
 * long, an object and JSON.stringify four times. No text here has a character that JSON escapes.
 */
import type { JsonSchema } from '@inlay/contract/catalog/connector-configuration';
import type { TextBuffer } from '@inlay/protocol/text-buffer';

export interface SampleStream {
  name: string;
  json_schema: JsonSchema;
  /** Number of records for a number of users. */
  countFor(users: number): number;
  /** Adds a record, by default as JSON. */
  addRecord(to: TextBuffer, id: number, seed: number, form?: Form): void;
}

const usersPerProduct = 10;
const purchasesPerUser = 2;
const firstUpdateMs = Date.UTC(2024, 0, 1);
const updateEveryMs = 10_000;
const dayMs = 86_400_000;
const zero = '0'.charCodeAt(0);
const updatesPerDay = dayMs / updateEveryMs;
/** How long before its update a record may have been created. */
const maxDaysBefore = 365;

const firstNames =
  'Ada Alan Amina Carlos Chen Elena Femi Grace Hana Ivan Jonas Kofi Lea Linus Mei Noor Olga Priya Rosa Tomás';
const lastNames =
  'Abe Bauer Costa Diallo Evans Ferrari Garcia Haddad Ito Jensen Kim Lopez Mwangi Nowak Okafor Patel Rossi Silva Weiß';
const countries = ['AR', 'BR', 'CA', 'DE', 'ES', 'FR', 'GB', 'IN', 'IT', 'JP', 'KE', 'MX', 'NG', 'PL', 'US', 'ZA'];
const occupations = ['accountant', 'architect', 'baker', 'engineer', 'farmer', 'nurse', 'pilot', 'teacher', 'writer'];
const adjectives = ['Compact', 'Durable', 'Elegant', 'Foldable', 'Light', 'Quiet', 'Rugged', 'Smart', 'Warm', 'Woven'];
const things = [
  { name: 'backpack', category: 'travel' },
  { name: 'bottle', category: 'kitchen' },
  { name: 'chair', category: 'furniture' },
  { name: 'desk', category: 'furniture' },
  { name: 'headphones', category: 'audio' },
  { name: 'jacket', category: 'clothing' },
  { name: 'kettle', category: 'kitchen' },
  { name: 'keyboard', category: 'office' },
  { name: 'lamp', category: 'home' },
  { name: 'rug', category: 'home' },
];
const currencies = ['EUR', 'USD', 'GBP', 'JPY'];

/** As JSON, or as a line of COPY's text. */
export type Form = 'json' | 'row';
type Piece = Record<Form, Buffer>;

/** What stands between two values is a part of the piece before it. */
const pieceOf = (json: string): Piece => ({ json: Buffer.from(json), row: Buffer.from(rowOf(json)) });
const piecesOf = (texts: readonly string[]) => texts.map(pieceOf);
const startOfId = pieceOf('{"id":');
const days: Buffer[] = [];

function rowOf(json: string): string {
  const isTrue = json.startsWith('true');
  const values = json.replace(/^(true|false)/, isTrue ? 't' : 'f').replace('null', '\\N');
  const row = values.replace('{"id":', '').replace(/,"\w+":/g, '\t');
  return row
    .replace(/T(00:00:00.000)Z/g, ' $1+00')
    .replaceAll('"', '')
    .replace('}', '\n');
}

/** How every record ends: two times of the same time of day, the first without its day, the second when it was updated. */
const endings = { json: endingOf('json'), row: endingOf('row') };

function endingOf(form: Form) {
  const bytes = pieceOf('T00:00:00.000Z","updated_at":"0000-00-00T00:00:00.000Z"}')[form];
  const timeOfDay = bytes.subarray(0, pieceOf('T00:00:00.000Z')[form].length);
  const updated = bytes.subarray(pieceOf('T00:00:00.000Z"')[form].length);
  const secondDayAt = bytes.indexOf('0000-00-00');
  return { bytes, timeOfDay, updated, secondDayAt, secondTimeAt: secondDayAt + '0000-00-00'.length };
}
/** With the form of each in an address, which is expensive to compute. */
const namesOf = (list: string) => list.split(' ').map((name) => ({ name, mail: mailName(name) }));
const families = namesOf(lastNames);
const userPieces = {
  person: piecesOf(
    namesOf(firstNames).flatMap((given) =>
      families.map((family) => `,"name":"${given.name} ${family.name}","email":"${given.mail}.${family.mail}.`),
    ),
  ),
  age: piecesOf(Array.from({ length: 70 }, (_, index) => `@example.com","age":${18 + index},"country":"`)),
  country: piecesOf(countries.map((country) => `${country}","occupation":"`)),
  occupation: piecesOf(occupations.map((occupation) => `${occupation}","is_subscribed":`)),
  subscribed: pieceOf('true,"created_at":"'),
  notSubscribed: pieceOf('false,"created_at":"'),
};
const productPieces = {
  adjective: piecesOf(adjectives.map((adjective) => `,"name":"${adjective} `)),
  thing: piecesOf(things.map(({ name, category }) => `${name}","category":"${category}","price":`)),
  currency: piecesOf(currencies.map((currency) => `,"currency":"${currency}","created_at":"`)),
};
const purchasePieces = {
  user: pieceOf(',"user_id":'),
  product: pieceOf(',"product_id":'),
  quantity: piecesOf([1, 2, 3, 4, 5].map((quantity) => `,"quantity":${quantity},"purchased_at":"`)),
  returned: pieceOf('","returned_at":"'),
  notReturned: pieceOf('","returned_at":null'),
};

const integer = { type: 'integer' };
const text = { type: 'string' };
const time = { type: 'string', format: 'date-time' };
const schemaOf = (properties: Record<string, JsonSchema>): JsonSchema => ({
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties,
});

const users: SampleStream = {
  name: 'users',
  json_schema: schemaOf({
    id: integer,
    name: text,
    email: text,
    age: integer,
    country: text,
    occupation: text,
    is_subscribed: { type: 'boolean' },
    created_at: time,
    updated_at: time,
  }),
  countFor: (count) => count,
  addRecord(to, id, seed, form = 'json') {
    const random = randomOf(seed, 1, id);
    to.addBytes(startOfId[form]);
    to.addWholeNumber(id);
    to.addBytes(random.of(userPieces.person)[form]);
    to.addWholeNumber(id);
    to.addBytes(random.of(userPieces.age)[form]);
    to.addBytes(random.of(userPieces.country)[form]);
    to.addBytes(random.of(userPieces.occupation)[form]);
    to.addBytes((random.below(3) === 0 ? userPieces.subscribed : userPieces.notSubscribed)[form]);
    addEnding(to, id, random.below(maxDaysBefore), form);
  },
};

const products: SampleStream = {
  name: 'products',
  json_schema: schemaOf({
    id: integer,
    name: text,
    category: text,
    price: { type: 'number' },
    currency: text,
    created_at: time,
    updated_at: time,
  }),
  countFor: productsFor,
  addRecord(to, id, seed, form = 'json') {
    const random = randomOf(seed, 2, id);
    const thing = random.of(productPieces.thing);
    to.addBytes(startOfId[form]);
    to.addWholeNumber(id);
    to.addBytes(random.of(productPieces.adjective)[form]);
    to.addBytes(thing[form]);
    to.add(String((199 + random.below(50_000)) / 100));
    to.addBytes(random.of(productPieces.currency)[form]);
    addEnding(to, id, random.below(maxDaysBefore), form);
  },
};

const purchases: SampleStream = {
  name: 'purchases',
  json_schema: schemaOf({
    id: integer,
    user_id: integer,
    product_id: integer,
    quantity: integer,
    purchased_at: time,
    returned_at: { type: ['string', 'null'], format: 'date-time' },
    updated_at: time,
  }),
  countFor: (count) => count * purchasesPerUser,
  addRecord(to, id, seed, form = 'json') {
    const random = randomOf(seed, 3, id);
    const usersSoFar = Math.ceil(id / purchasesPerUser);
    to.addBytes(startOfId[form]);
    to.addWholeNumber(id);
    to.addBytes(purchasePieces.user[form]);
    to.addWholeNumber(1 + random.below(usersSoFar));
    to.addBytes(purchasePieces.product[form]);
    to.addWholeNumber(1 + random.below(productsFor(usersSoFar)));
    to.addBytes(random.of(purchasePieces.quantity)[form]);
    to.addBytes(dayText(writeEnding(id, form) - random.below(30)));
    to.addBytes(endings[form].timeOfDay);
    if (random.below(20) === 0) {
      to.addBytes(purchasePieces.returned[form]);
      addEnding(to, id, 0, form);
    } else {
      to.addBytes(purchasePieces.notReturned[form]);
      to.addBytes(endings[form].updated);
    }
  },
};

export const sampleStreams: readonly SampleStream[] = [users, products, purchases];

function productsFor(userCount: number): number {
  return Math.ceil(userCount / usersPerProduct);
}

export function updatedAt(id: number): string {
  return new Date(firstUpdateMs + id * updateEveryMs).toISOString();
}

/** From a day this long before the record was updated to the end of the record. */
function addEnding(to: TextBuffer, id: number, dayCount: number, form: Form): void {
  to.addBytes(dayText(writeEnding(id, form) - dayCount));
  to.addBytes(endings[form].bytes);
}

/** Replaces the end of a record and returns its day. Rewriting a few digits is faster than a Date. */
function writeEnding(id: number, form: Form): number {
  const { bytes, secondDayAt, secondTimeAt } = endings[form];
  const day = Math.floor(id / updatesPerDay);
  const second = ((id - day * updatesPerDay) * updateEveryMs) / 1000;
  bytes.set(dayText(day), secondDayAt);
  writeTime(bytes, 0, second);
  writeTime(bytes, secondTimeAt, second);
  return day;
}

function writeTime(bytes: Buffer, at: number, second: number): void {
  const minute = Math.floor(second / 60);
  const hour = Math.floor(minute / 60);
  writeTwoDigits(bytes, at + 'T'.length, hour);
  writeTwoDigits(bytes, at + 'T00:'.length, minute - hour * 60);
  writeTwoDigits(bytes, at + 'T00:00:'.length, second - minute * 60);
}

function writeTwoDigits(bytes: Buffer, at: number, value: number): void {
  const tens = Math.floor(value / 10);
  bytes[at] = zero + tens;
  bytes[at + 1] = zero + value - tens * 10;
}

/** Days are counted from the first update. */
function dayText(day: number): Buffer {
  // An array that begins far from 0 is slow.
  const index = day + maxDaysBefore;
  days[index] ??= Buffer.from(new Date(firstUpdateMs + day * dayMs).toISOString().slice(0, 'YYYY-MM-DD'.length));
  return days[index];
}

/** As a name stands in an address. */
function mailName(name: string): string {
  return name
    .normalize('NFD')
    .replace('ß', 'ss')
    .replace(/[^A-Za-z]/g, '')
    .toLowerCase();
}

/** Numbers that look random and follow from the three given ones (a 32-bit mix as in MurmurHash3, then Mulberry32). */
function randomOf(seed: number, stream: number, id: number) {
  let state = mix(mix(mix(seed) ^ stream) ^ id);
  function below(limit: number): number {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return Math.floor((((value ^ (value >>> 14)) >>> 0) / 2 ** 32) * limit);
  }
  return { below, of: <T>(list: readonly T[]): T => list[below(list.length)] as T };
}

function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
