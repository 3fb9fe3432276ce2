import { describe, expect, it } from 'vitest';
import { fillPlaceholders, placeholderFault } from './placeholders.ts';

const values = { workspace_id: 'id', workspace_name: '{source_slug}', source_slug: 'crm' };

describe('A text with placeholders', () => {
  it('may have none, or any of the known ones', () => {
    for (const text of ['', 'plain', '{workspace_id}', 'a_{workspace_name}_{source_slug}{source_slug}']) {
      expect(placeholderFault(text), text).toBeUndefined();
    }
  });

  it('is refused with any other, and with braces that are not in pairs', () => {
    for (const text of ['{nobody}', '{}', '{ workspace_id }', '{WORKSPACE_ID}']) {
      expect(placeholderFault(text), text).toBe(
        'use only the placeholders {workspace_id}, {workspace_name}, {source_slug}',
      );
    }
    for (const text of ['{', '}', '{workspace_id', '{{workspace_id}}']) {
      expect(placeholderFault(text), text).toBe('braces must enclose a placeholder');
    }
  });

  it('is filled once: what a value looks like is not looked at', () => {
    expect(fillPlaceholders('{workspace_id}/{workspace_name}-{source_slug}', values)).toBe('id/{source_slug}-crm');
    expect(fillPlaceholders('$& {workspace_id}', { ...values, workspace_id: '$&' })).toBe('$& $&');
  });
});
