import { expect, it } from 'vitest';
import { type AnyTemplate, changedFields, editableDraft } from './kinds.ts';

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
  const draft = editableDraft('source', template);
  expect(draft).toEqual({ name: 'Shop', partial_default_config: { seed: 7 }, tags: ['crm'] });
  expect(changedFields(draft, { ...draft })).toEqual({});
  expect(changedFields(draft, { ...draft, tags: [], partial_default_config: { seed: 8 } })).toEqual({
    tags: [],
    partial_default_config: { seed: 8 },
  });
  // Something that the service does not know is sent, so that the service can say so.
  expect(changedFields(draft, { ...draft, nmae: 'x' })).toEqual({ nmae: 'x' });
});

it('shows a picture only if it is the own one of the template', () => {
  const own = 'data:image/png;base64,AAAA';
  expect(editableDraft('source', { ...template, icon: own }).icon).toBe(own);
  const connectors = 'https://inlay.example.com/icons/5d3a1c52-6f0e-4b8e-9a61-2c7f4e0b9d14/0f2e6a1b9c3d4e5f';
  expect(editableDraft('source', { ...template, icon: connectors })).not.toHaveProperty('icon');
});
