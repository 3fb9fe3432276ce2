import type { TObject } from 'typebox';
import { expect, test } from 'vitest';
import type { Operation } from './operations/operation.ts';
import { operations } from './operations.ts';
import { responseHeaders } from './response-headers.ts';

const byQuery = { cursor: 'cursor', after: 'position', offset: 'offset' } as const;

test('the table says of each list how it continues, as the query of the operation does', () => {
  for (const operation of Object.values(operations).flatMap((group): Operation[] => Object.values(group))) {
    const { properties = {} } = (operation.query ?? {}) as Partial<TObject>;
    const said = Object.entries(byQuery).find(([name]) => name in properties)?.[1];
    expect([operation.route, operation.paging]).toEqual([operation.route, said]);
    const { properties: answered = {} } = operation.answer as Partial<TObject>;
    if ('next' in answered) expect(['cursor', 'position'], operation.route).toContain(operation.paging);
  }
});

test('every description in the API reference is a sentence or phrase with a full stop', () => {
  const unfinished = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      if (name !== 'description' || typeof member !== 'string') visit(member);
      else if (!member.endsWith('.')) unfinished.add(member);
    }
  };
  visit({ operations, responseHeaders });
  expect([...unfinished]).toEqual([]);
});
