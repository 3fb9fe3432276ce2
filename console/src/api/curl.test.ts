import { execFileSync } from 'node:child_process';
import { expect, it, vi } from 'vitest';

vi.stubGlobal('location', { pathname: '/console/', search: '' });
const { curlOf } = await import('./curl.ts');

it('keeps the token out of the text', () => {
  expect(curlOf({ method: 'POST', path: '/workspaces/1/tokens/revoke' })).toBe(
    `curl -X POST "$INLAY_URL"'/api/v1/workspaces/1/tokens/revoke' \\\n  -H "Authorization: Bearer $INLAY_OPERATOR_TOKEN"`,
  );
});

it('gives a shell the body as it is, whatever a customer is called', () => {
  const name = `it's $(touch /nowhere) \`x\` "y" \\ \n!`;
  const command = curlOf({ method: 'PUT', path: '/workspaces/1', body: { name } });
  const seen = execFileSync('/bin/sh', ['-c', `curl() { for last; do :; done; printf %s "$last"; }; ${command}`]);
  expect(JSON.parse(seen.toString())).toEqual({ name });
});

it('names secrets of the body as variables, and a mask as it is', () => {
  const body = { password: `s'1`, token: 's2', other: 's2 and more', kept: '**********' };
  const command = curlOf({ method: 'POST', path: '/x', body, secrets: [`s'1`, 's2', '**********'] });
  expect(command).not.toMatch(/s'1|"s2"/);
  const show = `curl() { for last; do :; done; printf %s "$last"; }; SECRET_1=one SECRET_2=two; ${command}`;
  const seen = execFileSync('/bin/sh', ['-c', show]);
  expect(JSON.parse(seen.toString())).toEqual({ ...body, password: 'one', token: 'two' });
});
