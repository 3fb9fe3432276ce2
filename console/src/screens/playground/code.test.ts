import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { backendCode, pageCode } from './code.ts';

const body = {
  workspace_name: `O'Neill "and" """sons""" \`$(id)\` \${x} \\n`,
  allowed_origin: 'https://app.example.com',
  selected_source_template_tags: ['crm'],
};

it('writes a body that Node.js reads as it was meant, whatever a name contains', () => {
  const code = backendCode('node', body);
  const literal = code.slice(code.indexOf('JSON.stringify(') + 'JSON.stringify('.length, code.lastIndexOf('),\n});'));
  expect(JSON.parse(literal)).toEqual(body);
});

it('writes a body that a shell reads as it was meant', () => {
  const code = backendCode('curl', body);
  const given = execFileSync('sh', ['-c', `curl() { for last; do :; done; printf %s "$last"; }; ${code}`], {
    env: { INLAY_URL: '', INLAY_OPERATOR_TOKEN: '' },
  });
  expect(JSON.parse(String(given))).toEqual(body);
});

it('writes a body that Python reads as it was meant', () => {
  const code = backendCode('python', body);
  const text = /r"""([\s\S]*?)"""/.exec(code)?.[1] ?? '';
  // A raw string has no escapes of its own.
  expect(JSON.parse(text)).toEqual(body);
});

it('names the service in the page', () => {
  expect(pageCode('https://inlay.example.com')).toContain('src="https://inlay.example.com/embed.js"');
});
