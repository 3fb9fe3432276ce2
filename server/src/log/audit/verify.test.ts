/** The canonical form, patches, and the verification of an export: pure rules, without a database. */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import type { AuditCheckpoint, AuditEvent } from '@inlay/contract/log/audit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isLongRun } from '../../../../scripts/long-run.ts';
import { canonicalJson } from '../events/canonical-json.ts';
import { type ChainedEntry, commitmentOf, genesisHash, hashOf } from '../events/chain.ts';
import { patchOf } from '../events/json-patch.ts';
import { signCheckpoint } from './checkpoints.ts';
import { createErasures, writePositions } from './erasures.ts';
import { csvCell } from './export.ts';
import { createVerifier, type Known } from './verify.ts';

describe('The canonical form of JSON', () => {
  it('is that of the examples of RFC 8785', () => {
    // Section 3.2.2 and 3.2.3.
    const primitives = JSON.parse(
      '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}',
    );
    expect(canonicalJson(primitives)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
    const names = { '€': 'Euro Sign', '\r': 'Carriage Return', '\ufb33': 'Hebrew', '1': 'One', '😀': 'Emoji' };
    const more = { '\u0080': 'Control', ö: 'Latin', '</script>': 'Browser' };
    expect([...canonicalJson({ ...names, ...more }).matchAll(/:"(\w+)/g)].map(([, value]) => value)).toEqual([
      'Carriage',
      'One',
      'Browser',
      'Control',
      'Latin',
      'Euro',
      'Emoji',
      'Hebrew',
    ]);
  });

  it.each([
    // Appendix B.
    ['0000000000000000', '0'],
    ['8000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['7fefffffffffffff', '1.7976931348623157e+308'],
    ['4340000000000000', '9007199254740992'],
    ['4430000000000000', '295147905179352830000'],
    ['44b52d02c7e14af5', '9.999999999999997e+22'],
    ['44b52d02c7e14af6', '1e+23'],
    ['3eb0c6f7a0b5ed8d', '0.000001'],
    ['41b3de4355555553', '333333333.3333332'],
    ['becbf647612f3696', '-0.0000033333333333333333'],
    ['43143ff3c1cb0959', '1424953923781206.2'],
  ])('writes the number %s as %s', (bits, text) => {
    expect(canonicalJson(Buffer.from(bits, 'hex').readDoubleBE())).toBe(text);
  });

  it('is the same for equal values whatever the order of members is, and can be read back', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'grapheme' }), (value) => {
        const copy = JSON.parse(JSON.stringify(value), (_, member) =>
          member && typeof member === 'object' && !Array.isArray(member)
            ? Object.fromEntries(Object.entries(member).reverse())
            : member,
        );
        expect(canonicalJson(copy)).toBe(canonicalJson(JSON.parse(JSON.stringify(value))));
        expect(JSON.parse(canonicalJson(copy))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
    for (const none of [undefined, Number.NaN, Number.POSITIVE_INFINITY, '\ud800', { a: undefined }]) {
      expect(() => canonicalJson(none)).toThrow(TypeError);
    }
  });
});

describe('A patch', () => {
  it('has what was before and after, with pointers that are escaped', () => {
    expect(patchOf({ a: 1, 'b/c~d': { e: 1 }, f: 0 }, { a: 1, 'b/c~d': { e: 2 }, g: [1] })).toEqual([
      { op: 'test', path: '/b~1c~0d/e', value: 1 },
      { op: 'replace', path: '/b~1c~0d/e', value: 2 },
      { op: 'test', path: '/f', value: 0 },
      { op: 'remove', path: '/f' },
      { op: 'add', path: '/g', value: [1] },
    ]);
    expect(patchOf({ a: [1] }, { a: [1] })).toEqual([]);
  });
});

describe('A cell of CSV', () => {
  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', ' =1', '＝1', '\n+1'])('is no formula: %j', (text) => {
    expect(csvCell(text).replace(/^"/, '')[0]).toBe("'");
  });
  it('keeps other texts, quoted where that is needed', () => {
    expect(csvCell('a "b", c')).toBe('"a ""b"", c"');
    expect(csvCell('plain')).toBe('plain');
    expect(csvCell(-5)).toBe('-5');
    expect(csvCell(null)).toBe('');
  });
});

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const keys = new Map([['k1', publicKey]]);
const organization = randomUUID();

function checkpointAt({ position, hash }: AuditEvent): AuditCheckpoint {
  const signed_at = '2026-01-31T09:30:00.000Z';
  const said = { organization_id: organization, position, hash: String(hash), signed_at, key_id: 'k1' };
  return signCheckpoint(said, privateKey);
}

/** A trail with this many entries, whose seventh records a checkpoint at the fifth. */
function makeTrail(count: number): AuditEvent[] {
  const trail: AuditEvent[] = [];
  for (let position = 1; position <= count; position++) {
    const isCheckpoint = position === 7;
    const values = { address: '203.0.113.7', user_agent: `agent ${position}` };
    const salts = { address: `s${position}`, user_agent: `t${position}` };
    const chained: ChainedEntry = {
      version: 1,
      organization_id: organization,
      position,
      event_position: position % 3 === 0 ? null : position,
      id: randomUUID(),
      type: isCheckpoint ? 'audit.checkpoint' : 'tag.created',
      timestamp: '2026-01-31T09:00:00.000Z',
      sequenced_at: '2026-01-31T09:00:01.000Z',
      outcome: 'done',
      actor: { kind: 'operator_token', id: 'token', name: 'backend' },
      workspace_id: null,
      workspace_name: null,
      request_id: `request ${position}`,
      trace_id: null,
      data: isCheckpoint ? { ...checkpointAt(trail[4] as AuditEvent) } : { tag: { id: 'x', name: `tag ${position}` } },
      commitments: {
        address: commitmentOf(salts.address, values.address),
        user_agent: commitmentOf(salts.user_agent, values.user_agent),
      },
      previous_hash: trail.at(-1)?.hash ?? genesisHash,
    };
    trail.push({ ...chained, hash: hashOf(chained), ...values, patch: null, salts } as AuditEvent);
  }
  return trail;
}

function verify(trail: readonly unknown[], known: Partial<Known> = {}) {
  const verifier = createVerifier({ keys, kept: [], ...known });
  // As from a file.
  for (const line of trail.map((entry) => JSON.stringify(entry))) verifier.add(JSON.parse(line));
  return verifier.end();
}

/** Every place of an entry that holds a value. */
function placesOf(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([name, member]) => placesOf(member, [...path, name]));
}

function changedAt(entry: AuditEvent, path: (string | number)[], change: (value: unknown) => unknown): AuditEvent {
  const copy = structuredClone(entry);
  let holder = copy as unknown as Record<string, unknown>;
  for (const name of path.slice(0, -1)) holder = holder[name] as Record<string, unknown>;
  const last = String(path.at(-1));
  holder[last] = change(holder[last]);
  return copy;
}

describe('The verification of an export', () => {
  const trail = makeTrail(12);

  it('finds nothing in a trail that nobody has changed, and says how far checkpoints cover it', () => {
    expect(verify(trail)).toMatchObject({ faults: [], entries: 12, coveredUntil: 5, erased: 0, unchained: 0 });
    expect(verify(trail, { kept: [checkpointAt(trail[9] as AuditEvent)] }).coveredUntil).toBe(10);
  });

  it('fails on a signature whose key nobody knows, of the trail itself or of a checkpoint that was kept', () => {
    const problem = expect.stringContaining('the key k1 is unknown');
    for (const unknown of [new Map(), undefined]) {
      expect(verify(trail, { keys: unknown })).toMatchObject({ faults: [{ position: 5, problem }], coveredUntil: 0 });
    }
    const kept = [checkpointAt(trail[9] as AuditEvent)];
    expect(verify(trail.slice(0, 3), { keys: new Map(), kept }).faults).toMatchObject([{ position: 10, problem }]);
  });

  it('fails on a personal value that is gone unless an entry says that it was erased', () => {
    const erased = trail.with(2, { ...(trail[2] as AuditEvent), address: null, salts: { user_agent: 't3' } });
    expect(verify(erased)).toMatchObject({
      erased: 1,
      faults: [{ position: 3, problem: expect.stringMatching(/^The address .* missing/) }],
    });
    const erasures = createErasures();
    for (const position of [1, 3, 4, 5, 9]) erasures.isMissing(position, 'address');
    erasures.isMissing(4, 'patch');
    erasures.tells(10, { positions: { address: '1,3-5' } });
    expect(erasures.unexplained()).toEqual([
      { position: 9, fields: ['address'] },
      { position: 4, fields: ['patch'] },
    ]);
    // An earlier version has only said how many.
    erasures.tells(11, { fields: ['address', 'patch'], count: 1 });
    expect(erasures.unexplained()).toHaveLength(1);
    expect(writePositions([1, 3, 4, 5, 9])).toBe('1,3-5,9');
    expect(writePositions([])).toBe('');
  });

  it('finds and names every single value that was changed, added or taken away', () => {
    fc.assert(
      fc.property(fc.nat(11), fc.nat(), fc.nat(4), (index, place, kind) => {
        const entry = trail[index] as AuditEvent;
        const places = placesOf(entry).filter(([name]) => name !== 'patch');
        const path = places[place % places.length] as string[];
        const changed = changedAt(entry, path, (value) => {
          if (kind === 0) return typeof value === 'number' ? value + 1 : `${value}.`;
          if (kind === 1) return undefined;
          if (kind === 2) return { nested: value };
          if (kind === 3) return [value];
          return value === null ? 0 : typeof value === 'string' ? value.slice(0, -1) : null;
        });
        const { faults } = verify(trail.with(index, changed));
        expect(faults, path.join('.')).not.toEqual([]);
        // A wrong position shifts what is missing by one; everything else is named where it is.
        if (path[0] !== 'position') {
          expect(faults[0]?.position, `${path.join('.')} ${kind}`).toBeGreaterThanOrEqual(index);
          expect(faults[0]?.position).toBeLessThanOrEqual(index + 2);
        }
      }),
      { numRuns: isLongRun ? 1_500 : 500 },
    );
    const added = { ...(trail[3] as AuditEvent), surprise: true };
    expect(verify(trail.with(3, added)).faults).toMatchObject([{ position: 4, id: trail[3]?.id }]);
  });

  it('finds and names every entry that was dropped, moved, repeated or made up', () => {
    fc.assert(
      fc.property(fc.nat(11), fc.nat(11), (from, to) => {
        const entry = trail[from] as AuditEvent;
        const without = trail.toSpliced(from, 1);
        const dropped = verify(without, { kept: [checkpointAt(trail[11] as AuditEvent)] });
        expect(dropped.faults[0]?.position).toBe(from === 0 ? 1 : from + 1);
        const repeated = verify(trail.toSpliced(to, 0, entry));
        expect(repeated.faults).not.toEqual([]);
        if (from !== to) expect(verify(without.toSpliced(to, 0, entry)).faults).not.toEqual([]);
      }),
    );
    const [, second] = trail;
    const { hash: _, address, user_agent, patch, salts, ...chained } = structuredClone(second) as AuditEvent;
    const forged = { ...chained, data: { tag: 'forged' } };
    const whole = { ...forged, hash: hashOf(forged), address, user_agent, patch, salts };
    expect(verify(trail.with(1, whole as AuditEvent)).faults).toMatchObject([{ position: 3, id: trail[2]?.id }]);
  });

  it('finds a missing end with a checkpoint that someone has kept, and only so', () => {
    const cut = trail.slice(0, 9);
    expect(verify(cut).faults).toEqual([]);
    const kept = [checkpointAt(trail[10] as AuditEvent)];
    expect(verify(cut, { kept }).faults).toMatchObject([{ position: 10, id: null }]);
    expect(verify([], { kept }).faults).toMatchObject([{ position: 1 }]);
  });

  it('finds a trail that was recomputed, by a checkpoint of the trail itself or a kept one', () => {
    const other = makeTrail(12);
    expect(verify(other).faults).toEqual([]);
    expect(verify(other, { kept: [checkpointAt(trail[8] as AuditEvent)] }).faults).toMatchObject([
      { position: 9, id: other[8]?.id, problem: expect.stringContaining('recomputed') },
    ]);
    const forged = { ...checkpointAt(trail[8] as AuditEvent), hash: String(other[8]?.hash) };
    expect(verify(other, { kept: [forged] }).faults).toMatchObject([{ position: 9 }]);
  });

  it('accepts a beginning that was cut only where a signed checkpoint says so', () => {
    expect(verify(trail.slice(5)).faults, 'the seventh entry records the checkpoint').toEqual([]);
    expect(verify(trail.slice(4)).faults).toMatchObject([{ position: 1, id: null }]);
    expect(verify(trail.slice(5), { keys: new Map() }).faults).not.toEqual([]);
    expect(verify(trail.slice(8), { kept: [checkpointAt(trail[7] as AuditEvent)] }).faults).toEqual([]);
  });

  it('names lines that are no entries', () => {
    expect(verify([...trail.slice(0, 2), 'nonsense', ...trail.slice(2)]).faults).toMatchObject([{ position: 3 }]);
    expect(verify([null, {}, []]).faults).toHaveLength(3);
  });
});
