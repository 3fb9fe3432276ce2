import { expect, it } from 'vitest';
import { type AnyTemplate, changedFields, editableText } from './kinds.ts';

const template: AnyTemplate = {
  id: 'x',
  name: 'Shop',
  tags: ['crm'],
  version: 3,
  updated_at: '2026-01-31T09:30:00Z',
  icon: null,
  partial_default_config: { seed: 7 },
};

it('shows what may be changed, and sends what was', () => {
  const text = editableText('source', template);
  expect(JSON.parse(text)).toEqual({ name: 'Shop', partial_default_config: { seed: 7 }, tags: ['crm'] });
  const same = JSON.parse(text);
  expect(changedFields(text, same)).toEqual({});
  expect(changedFields(text, { ...same, tags: [], partial_default_config: { seed: 8 } })).toEqual({
    tags: [],
    partial_default_config: { seed: 8 },
  });
  // Something that the service does not know is sent, so that the service can say so.
  expect(changedFields(text, { ...same, nmae: 'x' })).toEqual({ nmae: 'x' });
});
