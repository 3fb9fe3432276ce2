/** The library as a receiver gets it: npm installs the package, and the types and the program stand alone. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { buildServed } from '../build.mjs';
import { signerOf } from '../src/signatures.ts';

const run = promisify(execFile);
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const root = fileURLToPath(new URL('../..', import.meta.url));

it('The webhooks library installs without dependencies, has types that stand alone, and verifies', async () => {
  const project = await mkdtemp(join(tmpdir(), 'inlay-webhooks-project-'));
  try {
    await buildServed(join(project, 'served'));
    await writeFile(join(project, 'package.json'), '{ "name": "project", "type": "module" }');
    await run('npm', ['install', './served/webhooks.tgz', '--no-audit', '--no-fund'], {
      cwd: project,
      env: { ...process.env, npm_config_cache: join(project, 'cache'), npm_config_update_notifier: 'false' },
    });
    const installed = join(project, 'node_modules/inlay-webhooks');
    expect((await readdir(installed)).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json']);
    expect((await readdir(join(installed, 'dist'))).sort()).toEqual(['inlay-webhooks.d.ts', 'inlay-webhooks.js']);
    const { dependencies, scripts } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
    expect([dependencies, scripts]).toEqual([undefined, undefined]);

    const program = `import { verify, WebhookKeyError, WebhookVerificationError } from 'inlay-webhooks';
const headers = {
  'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  'webhook-timestamp': '1614265330',
  'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
};
const key = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
console.log(JSON.stringify(verify('{"test": 2432232314}', headers, key, { toleranceSeconds: Infinity })));
try { verify('{}', headers, key); } catch (error) { console.log(error instanceof WebhookVerificationError && error.code); }
try { verify('{}', headers, 'whpk_'); } catch (error) { console.log(error instanceof WebhookKeyError); }
`;
    await writeFile(join(project, 'receiver.js'), program);
    const { stdout } = await run(process.execPath, ['receiver.js'], { cwd: project });
    expect(stdout).toBe('{"test":2432232314}\ntoo_old\ntrue\n');

    // The receiver of the pages, as it is written there.
    const pages = ['webhooks/README.md', 'docs/guides/webhooks.md', 'README.md'];
    const receivers = await Promise.all(
      pages.map(async (page) => {
        const text = await readFile(join(root, page), 'utf8');
        return /```js\n(import \{ createServer \}[\s\S]*?)```/.exec(text)?.[1] ?? '';
      }),
    );
    expect(new Set(receivers).size).toBe(1);
    const port = 20_000 + (process.pid % 10_000);
    await writeFile(
      join(project, 'server.js'),
      (receivers[0] ?? '').replace('3000', `${port}, () => console.log('up')`),
    );
    const server = spawn(process.execPath, ['server.js'], {
      cwd: project,
      env: { ...process.env, WEBHOOK_SECRET: secret },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      await once(server.stdout, 'data');
      const said = once(server.stdout, 'data');
      const message = {
        id: 'msg_1',
        timestamp: Math.floor(Date.now() / 1000),
        payload: '{"type":"tag.created","data":{}}',
      };
      const post = (signature: string) =>
        fetch(`http://127.0.0.1:${port}/`, {
          method: 'POST',
          body: message.payload,
          headers: {
            'webhook-id': message.id,
            'webhook-timestamp': String(message.timestamp),
            'webhook-signature': signature,
          },
        });
      expect((await post('v1,AAAA')).status).toBe(400);
      expect((await post(signerOf(secret)(message))).status).toBe(204);
      expect(String((await said)[0])).toContain('tag.created');
    } finally {
      server.kill();
    }

    await writeFile(
      join(project, 'receiver.ts'),
      `import { receiver, verify, type WebhookEvent, WebhookVerificationError } from 'inlay-webhooks';
export const listener = receiver(['whsec_AAAA'], async ({ type }, id) => type + id, { toleranceSeconds: 1 });
export const event: WebhookEvent = verify(new Uint8Array(), { a: ['b'] }, ['whsec_'], { toleranceSeconds: 1 });
export const fault = (error: WebhookVerificationError): string => error.code;
// @ts-expect-error: there is no such option
verify('', {}, '', { tolerance: 1 });
`,
    );
    const options = ['--strict', '--noEmit', '--target', 'es2022', '--lib', 'es2022', '--module', 'nodenext'];
    const compiler = join(root, 'node_modules/.bin/tsc');
    const compiled = await run(compiler, [...options, '--types', '', '--ignoreConfig', join(project, 'receiver.ts')], {
      cwd: project,
    }).catch((error) => error);
    expect(compiled.stdout).toBe('');
  } finally {
    await rm(project, { recursive: true, force: true });
  }
});
