import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { preferredEncoding } from '../../kernel/built-file.ts';
import { embedFiles, readBuiltFiles } from './built-files.ts';

let test: TestApp;
let script: string;

beforeAll(async () => {
  test = await startTestApp('sqlite');
  const body = { workspace_name: 'acme', allowed_origin: 'https://app.example' };
  const { body: answer } = await test.request('POST', '/api/v1/embedded/widget-token', { body });
  const { widgetUrl } = JSON.parse(Buffer.from(answer.token, 'base64').toString());
  const page = await test.request('GET', `/widget${new URL(widgetUrl).search}`, { token: null });
  script = `/${/src="([^"]+)"/.exec(page.text)?.[1]}`;
});
afterAll(() => test.stop());

const load = (url: string, headers: Record<string, string> = {}) =>
  test.app.http.inject({ method: 'GET', url, headers });

describe("The widget's files", () => {
  it('are as small as the browser can read them, the same in every form', async () => {
    const plain = await load(script);
    expect(plain.headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(plain.headers['content-encoding']).toBeUndefined();
    const br = await load(script, { 'accept-encoding': 'gzip, deflate, br' });
    expect(br.headers).toMatchObject({ 'content-encoding': 'br', vary: 'accept-encoding' });
    expect(brotliDecompressSync(br.rawPayload)).toEqual(plain.rawPayload);
    const gzip = await load(script, { 'accept-encoding': 'gzip;q=1.0, br;q=0' });
    expect(gzip.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(gzip.rawPayload)).toEqual(plain.rawPayload);
    expect(br.rawPayload.length).toBeLessThan(gzip.rawPayload.length);
  });

  it('may be kept for ever, since their names change with them', async () => {
    const { headers } = await load(script);
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(script).toMatch(/-[\w-]{8}\.js$/);
    expect((await load(script, { 'if-none-match': String(headers.etag) })).statusCode).toBe(304);
  });

  it('give access to no other file', async () => {
    for (const name of ['manifest.json', '..%2fmanifest.json', '%2e%2e/manifest.json', 'none.js', '__proto__', '%00']) {
      expect((await load(`/widget/assets/${name}`)).statusCode, name).toBe(404);
    }
  });
});

describe('The embed library', () => {
  it.each([
    ['/embed.js', 'text/javascript; charset=utf-8'],
    ['/embed.mjs', 'text/javascript; charset=utf-8'],
    ['/embed.d.ts', 'application/typescript; charset=utf-8'],
    ['/embed.tgz', 'application/gzip'],
  ])('may be loaded by pages of any origin as %s, and is requested again after minutes', async (address, type) => {
    const { statusCode, headers } = await load(address);
    expect(statusCode).toBe(200);
    expect(headers).toMatchObject({
      'content-type': type,
      'cache-control': 'public, max-age=300',
      'cross-origin-resource-policy': 'cross-origin',
      'access-control-allow-origin': '*',
    });
    expect((await load(address, { 'if-none-match': String(headers.etag) })).statusCode).toBe(304);
  });

  it('names the types of its module to tools that import it from here', async () => {
    const { headers } = await load('/embed.mjs');
    expect(headers['x-typescript-types']).toBe('./embed.d.ts');
  });
});

describe('What the build has made', () => {
  it('is reported as missing, with what to do', () => {
    const folder = mkdtempSync(join(tmpdir(), 'inlay-built-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    expect(() => readBuiltFiles(folder)).toThrow('npm run build');
  });

  it('is sent as it is to a browser that reads no compression, or where there is none', () => {
    const folder = mkdtempSync(join(tmpdir(), 'inlay-built-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    for (const name of ['widget/assets', 'embed', 'reference']) mkdirSync(join(folder, name), { recursive: true });
    const manifest = { 'src/main.tsx': { file: 'assets/a.js', isEntry: true, css: ['assets/a.css'] } };
    writeFileSync(join(folder, 'widget/manifest.json'), JSON.stringify(manifest));
    const embedded = embedFiles.map((name) => `embed/${name}`);
    for (const name of ['widget/assets/a.js', 'widget/assets/a.css', 'reference/reference.js', ...embedded])
      writeFileSync(join(folder, name), 'x');
    const { assets, script, styles } = readBuiltFiles(folder);
    expect([script, styles, [...assets.keys()].sort()]).toEqual(['assets/a.js', ['assets/a.css'], ['a.css', 'a.js']]);
    const file = assets.get('a.js');
    expect(file && preferredEncoding(file, 'br, gzip')).toBe('identity');
  });
});
