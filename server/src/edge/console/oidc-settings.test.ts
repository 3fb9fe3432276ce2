import { expect, it } from 'vitest';
import { findRule, readOidcRules } from '../../kernel/config/oidc-settings.ts';

const rule = { claim: 'groups', value: 'admins', permission: 'full' };

it('Rules are a list of claims with their values and what they give', () => {
  expect(readOidcRules(JSON.stringify([rule]))).toEqual([{ ...rule, organizationId: undefined }]);
  for (const wrong of [
    'x',
    '[]',
    '{}',
    '[null]',
    JSON.stringify([{ ...rule, permission: 'root' }]),
    JSON.stringify([{ ...rule, organisation: 'typing error' }]),
    JSON.stringify([{ ...rule, organization: 'no id' }]),
    JSON.stringify([{ ...rule, value: 1 }]),
  ]) {
    expect(readOidcRules(wrong), wrong).toBeUndefined();
  }
});

it('The first rule that fits counts; texts and lists fit exactly', () => {
  const rules = readOidcRules(JSON.stringify([rule, { claim: 'email', value: 'ada@example.com', permission: 'read' }]));
  const permissionOf = (claims: object) => findRule(rules ?? [], claims as Record<string, unknown>)?.permission;
  expect(permissionOf({ groups: ['users', 'admins'] })).toBe('full');
  expect(permissionOf({ groups: 'admins' })).toBe('full');
  expect(permissionOf({ groups: ['admins2', 'Admins'] })).toBeUndefined();
  expect(permissionOf({ email: 'ada@example.com', email_verified: true })).toBe('read');
  expect(permissionOf({ email: 'ada@example.com' })).toBeUndefined();
  expect(permissionOf({})).toBeUndefined();
});
