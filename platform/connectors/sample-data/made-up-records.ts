/*
 * Makes up the records of the sample. A record follows from the seed, its stream and its id alone: it is the same
 * whatever the count, so a larger count only adds records, and it refers only to records that come with any count it
 * comes with. `updated_at` grows with the id.
 */
import type { JsonSchema } from '@inlay/contract/connector-configuration';

export interface SampleStream {
  name: string;
  json_schema: JsonSchema;
  /** How many records there are when there are so many users. */
  countFor(users: number): number;
  record(id: number, seed: number): Record<string, unknown>;
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

const firstNames = namesIn(
  'Ada Alan Amina Carlos Chen Elena Femi Grace Hana Ivan Jonas Kofi Lea Linus Mei Noor Olga Priya Rosa Tomás',
);
const lastNames = namesIn(
  'Abe Bauer Costa Diallo Evans Ferrari Garcia Haddad Ito Jensen Kim Lopez Mwangi Nowak Okafor Patel Rossi Silva Weiß',
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
  record(id, seed) {
    const random = randomOf(seed, 1, id);
    const given = random.of(firstNames);
    const family = random.of(lastNames);
    const updatedMs = updatedAtMs(id);
    return {
      id,
      name: `${given.name} ${family.name}`,
      email: `${given.mail}.${family.mail}.${id}@example.com`,
      age: 18 + random.below(70),
      country: random.of(countries),
      occupation: random.of(occupations),
      is_subscribed: random.below(3) === 0,
      created_at: isoTime(updatedMs - random.below(365) * dayMs),
      updated_at: isoTime(updatedMs),
    };
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
  record(id, seed) {
    const random = randomOf(seed, 2, id);
    const thing = random.below(things.length);
    const updatedMs = updatedAtMs(id);
    return {
      id,
      name: `${random.of(adjectives)} ${things[thing]}`,
      category: categories[thing],
      price: (199 + random.below(50_000)) / 100,
      currency: random.of(currencies),
      created_at: isoTime(updatedMs - random.below(365) * dayMs),
      updated_at: isoTime(updatedMs),
    };
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
  record(id, seed) {
    const random = randomOf(seed, 3, id);
    const usersSoFar = Math.ceil(id / purchasesPerUser);
    const updatedMs = updatedAtMs(id);
    const isReturned = random.below(20) === 0;
    return {
      id,
      user_id: 1 + random.below(usersSoFar),
      product_id: 1 + random.below(productsFor(usersSoFar)),
      quantity: 1 + random.below(5),
      purchased_at: isoTime(updatedMs - random.below(30) * dayMs),
      returned_at: isReturned ? isoTime(updatedMs) : null,
      updated_at: isoTime(updatedMs),
    };
  },
};

export const sampleStreams: readonly SampleStream[] = [users, products, purchases];

function productsFor(userCount: number): number {
  return Math.ceil(userCount / usersPerProduct);
}

function updatedAtMs(id: number): number {
  return firstUpdateMs + id * updateEveryMs;
}

/** Every time here is a multiple of `updateEveryMs`, and putting two known texts together is faster than a Date. */
function isoTime(ms: number): string {
  const day = Math.floor(ms / dayMs);
  days[day] ??= new Date(day * dayMs).toISOString().slice(0, 'YYYY-MM-DD'.length);
  return `${days[day]}${timesOfDay[(ms - day * dayMs) / updateEveryMs]}`;
}

/** Each as it is written, and as it stands in an address. */
function namesIn(list: string): { name: string; mail: string }[] {
  return list.split(' ').map((name) => ({
    name,
    mail: name
      .normalize('NFD')
      .replace('ß', 'ss')
      .replace(/[^A-Za-z]/g, '')
      .toLowerCase(),
  }));
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
