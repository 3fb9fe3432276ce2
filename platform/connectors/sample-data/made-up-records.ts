/*
 * Makes up the records of the sample. A record follows from the seed, its stream and its id alone: it is the same
 * whatever the count, so a larger count only adds records, and it refers only to records that come with any count it
 * comes with. `updated_at` grows with the id.
 *
 * Records are made as JSON text: with an object and JSON.stringify for each, a read takes twice as long.
 * No text here has a character that JSON escapes.
 */
import type { JsonSchema } from '@inlay/contract/connector-configuration';

export interface SampleStream {
  name: string;
  json_schema: JsonSchema;
  /** How many records there are when there are so many users. */
  countFor(users: number): number;
  /** A record as JSON. */
  recordText(id: number, seed: number): string;
}

const usersPerProduct = 10;
const purchasesPerUser = 2;
const firstUpdateMs = Date.UTC(2024, 0, 1);
const updateEveryMs = 10_000;
const dayMs = 86_400_000;

const days: string[] = [];
const timesOfDay = Array.from({ length: dayMs / updateEveryMs }, (_, index) =>
  new Date(index * updateEveryMs).toISOString().slice('YYYY-MM-DD'.length),
);

const firstNames =
  'Ada Alan Amina Carlos Chen Elena Femi Grace Hana Ivan Jonas Kofi Lea Linus Mei Noor Olga Priya Rosa Tomás';
const lastNames =
  'Abe Bauer Costa Diallo Evans Ferrari Garcia Haddad Ito Jensen Kim Lopez Mwangi Nowak Okafor Patel Rossi Silva Weiß';
const people = firstNames
  .split(' ')
  .flatMap((given) =>
    lastNames
      .split(' ')
      .map((family) => ({ name: `${given} ${family}`, mail: `${mailName(given)}.${mailName(family)}` })),
  );
const countries = ['AR', 'BR', 'CA', 'DE', 'ES', 'FR', 'GB', 'IN', 'IT', 'JP', 'KE', 'MX', 'NG', 'PL', 'US', 'ZA'];
const occupations = ['accountant', 'architect', 'baker', 'engineer', 'farmer', 'nurse', 'pilot', 'teacher', 'writer'];
const adjectives = ['Compact', 'Durable', 'Elegant', 'Foldable', 'Light', 'Quiet', 'Rugged', 'Smart', 'Warm', 'Woven'];
const things = ['backpack', 'bottle', 'chair', 'desk', 'headphones', 'jacket', 'kettle', 'keyboard', 'lamp', 'rug'];
const categories = [
  'travel',
  'kitchen',
  'furniture',
  'furniture',
  'audio',
  'clothing',
  'kitchen',
  'office',
  'home',
  'home',
];
const currencies = ['EUR', 'USD', 'GBP', 'JPY'];

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
  recordText(id, seed) {
    const random = randomOf(seed, 1, id);
    const { name, mail } = random.of(people);
    const age = 18 + random.below(70);
    const country = random.of(countries);
    const occupation = random.of(occupations);
    const isSubscribed = random.below(3) === 0;
    const createdAt = timeBefore(id, random.below(365));
    return (
      `{"id":${id},"name":"${name}","email":"${mail}.${id}@example.com","age":${age},"country":"${country}",` +
      `"occupation":"${occupation}","is_subscribed":${isSubscribed},` +
      `"created_at":"${createdAt}","updated_at":"${updatedAt(id)}"}`
    );
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
  recordText(id, seed) {
    const random = randomOf(seed, 2, id);
    const thing = random.below(things.length);
    const name = `${random.of(adjectives)} ${things[thing]}`;
    const price = (199 + random.below(50_000)) / 100;
    const currency = random.of(currencies);
    const createdAt = timeBefore(id, random.below(365));
    return (
      `{"id":${id},"name":"${name}","category":"${categories[thing]}","price":${price},"currency":"${currency}",` +
      `"created_at":"${createdAt}","updated_at":"${updatedAt(id)}"}`
    );
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
  recordText(id, seed) {
    const random = randomOf(seed, 3, id);
    const usersSoFar = Math.ceil(id / purchasesPerUser);
    const userId = 1 + random.below(usersSoFar);
    const productId = 1 + random.below(productsFor(usersSoFar));
    const quantity = 1 + random.below(5);
    const purchasedAt = timeBefore(id, random.below(30));
    const returnedAt = random.below(20) === 0 ? `"${updatedAt(id)}"` : 'null';
    return (
      `{"id":${id},"user_id":${userId},"product_id":${productId},"quantity":${quantity},` +
      `"purchased_at":"${purchasedAt}","returned_at":${returnedAt},"updated_at":"${updatedAt(id)}"}`
    );
  },
};

export const sampleStreams: readonly SampleStream[] = [users, products, purchases];

function productsFor(userCount: number): number {
  return Math.ceil(userCount / usersPerProduct);
}

export function updatedAt(id: number): string {
  return timeBefore(id, 0);
}

/** So many days before the record was updated. Putting two known texts together is faster than a Date. */
function timeBefore(id: number, dayCount: number): string {
  const ms = firstUpdateMs + id * updateEveryMs;
  const day = Math.floor(ms / dayMs) - dayCount;
  days[day] ??= new Date(day * dayMs).toISOString().slice(0, 'YYYY-MM-DD'.length);
  return `${days[day]}${timesOfDay[(ms % dayMs) / updateEveryMs]}`;
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
