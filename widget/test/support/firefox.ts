/**
 * Firefox as Debian ships it, over WebDriver BiDi. The automation library speaks BiDi as well, but with commands that the
 * extended support release does not know yet (`network.addDataCollector`).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'undici';
import { findFirefox } from '../../../scripts/firefox.mjs';
import type { Engine, EngineOptions, Place, Window } from './real-browsers.ts';

interface Context {
  context: string;
  children: Context[];
}

type Command = <T>(method: string, params?: object) => Promise<T>;

export async function launchFirefox({ hosts, blocksThirdPartyCookies }: EngineOptions): Promise<Engine> {
  const profile = mkdtempSync(join(tmpdir(), 'inlay-firefox-'));
  const preferences = {
    // Otherwise the browser gets other defaults than customers have: it would allow every popup, for instance.
    'remote.prefs.recommended': false,
    'network.dns.localDomains': hosts.join(','),
    'network.dns.disableIPv6': true,
    'network.proxy.type': 0,
    'browser.shell.checkDefaultBrowser': false,
    'browser.startup.homepage_override.mstone': 'ignore',
    'datareporting.policy.dataSubmissionEnabled': false,
    'app.normandy.enabled': false,
    'toolkit.telemetry.enabled': false,
    ...(blocksThirdPartyCookies && { 'network.cookie.cookieBehavior': 1 }),
  };
  const lines = Object.entries(preferences).map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`);
  writeFileSync(join(profile, 'user.js'), lines.join(''));
  const program = await findFirefox({ install: true });
  const child = spawn(program, ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port=0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    // As root, Firefox wants a home of its own.
    env: { ...process.env, HOME: profile, MOZ_CRASHREPORTER_DISABLE: '1' },
  });
  const killed = () => void child.kill('SIGKILL');
  process.once('exit', killed);
  const { command, close } = await connect(`${await addressOf(child)}/session`);
  await command('session.new', { capabilities: { alwaysMatch: { acceptInsecureCerts: true } } });
  const trees = async () => (await command<{ contexts: Context[] }>('browsingContext.getTree')).contexts;

  function windowOf(context: string): Window {
    return {
      id: context,
      goto: (url) => command('browsingContext.navigate', { context, url, wait: 'complete' }),
      reload: () => command('browsingContext.reload', { context, wait: 'complete' }),
      close: () => command('browsingContext.close', { context }),
      async places() {
        const { contexts } = await command<{ contexts: Context[] }>('browsingContext.getTree', { root: context });
        const all = (those: Context[]): Context[] => those.flatMap((one) => [one, ...all(one.children)]);
        return all(contexts).map((one) => placeOf(command, one.context));
      },
    };
  }

  return {
    name: 'Firefox',
    async newWindow() {
      const made = await command<Context>('browsingContext.create', { type: 'tab' });
      return windowOf(made.context);
    },
    windows: async () => (await trees()).map(({ context }) => windowOf(context)),
    async close() {
      const ended = once(child, 'exit');
      await command('browser.close').catch(killed);
      close();
      await ended;
      process.off('exit', killed);
      rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}

function placeOf(command: Command, context: string): Place {
  const run = async (expression: string) => {
    const target = { context };
    const answer = await command<Evaluated>('script.evaluate', { expression, target, awaitPromise: true });
    if (answer.type === 'exception') throw new Error(answer.exceptionDetails.text);
    return answer.result;
  };
  return {
    // Strings, numbers and booleans need no conversion; tests use no other types.
    evaluate: async (expression) => (await run(expression)).value,
    async click(selector, times) {
      const { sharedId } = await run(`document.querySelector(${JSON.stringify(selector)})`);
      const once = [
        { type: 'pointerDown', button: 0 },
        { type: 'pointerUp', button: 0 },
      ];
      const origin = { type: 'element', element: { sharedId } };
      const move = { type: 'pointerMove', x: 0, y: 0, origin };
      await run(`document.querySelector(${JSON.stringify(selector)}).scrollIntoView({ block: 'center' })`);
      const actions = [move, ...Array.from({ length: times }, () => once).flat()];
      await command('input.performActions', { context, actions: [{ type: 'pointer', id: 'mouse', actions }] });
    },
  };
}

interface Evaluated {
  type: 'success' | 'exception';
  result: { value?: unknown; sharedId?: string };
  exceptionDetails: { text: string };
}

/** The address the browser listens on, printed once ready. */
async function addressOf(child: ChildProcess): Promise<string> {
  let said = '';
  return await new Promise((found, failed) => {
    child.once('error', failed);
    child.once('exit', () => failed(new Error(`Firefox ended before it was ready.\n${said}`)));
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk;
      const address = /WebDriver BiDi listening on (ws:\/\/\S+)/.exec(said)?.[1];
      if (address !== undefined) found(address);
    });
  });
}

async function connect(address: string): Promise<{ command: Command; close(): void }> {
  const socket = new WebSocket(address);
  const waiting = new Map<number, { done(result: unknown): void; failed(error: Error): void }>();
  let last = 0;
  socket.addEventListener('message', ({ data }) => {
    const { id, type, result, error, message } = JSON.parse(String(data));
    const one = waiting.get(id);
    waiting.delete(id);
    if (type === 'success') one?.done(result);
    else if (type === 'error') one?.failed(new Error(`${error}: ${message}`));
  });
  socket.addEventListener('close', () => {
    for (const { failed } of waiting.values()) failed(new Error('Firefox has ended.'));
  });
  await new Promise((opened, failed) => {
    socket.addEventListener('open', opened);
    socket.addEventListener('error', () => failed(new Error('Firefox does not answer.')));
  });
  return {
    command: <T>(method: string, params: object = {}) =>
      new Promise<T>((done, failed) => {
        last += 1;
        waiting.set(last, { done: (result) => done(result as T), failed });
        socket.send(JSON.stringify({ id: last, method, params }));
      }),
    close: () => socket.close(),
  };
}
