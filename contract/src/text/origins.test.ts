import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { originFault, serializeOrigin } from './origins.ts';

const defaultPorts: Record<string, string> = { 'http:': '80', 'https:': '443' };

/** What a browser says of a page's origin, or undefined where there is none that an operator may write. */
function browserOrigin(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, origin } = new URL(text);
  return protocol in defaultPorts ? origin : undefined;
}

const scheme = fc.constantFrom('http:', 'https:');
const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?$/);
// A host that ends in a number is an IPv4 address to a browser, so the last label begins with a letter.
const domain = fc
  .tuple(fc.array(label, { maxLength: 3 }), fc.stringMatching(/^[a-z]([a-z0-9]{0,10}[a-z])?$/))
  .map(([labels, last]) => [...labels, last].join('.'))
  .filter((host) => URL.canParse(`http://${host}`) && new URL(`http://${host}`).hostname === host);
const host = fc.oneof(
  { weight: 4, arbitrary: domain },
  { weight: 1, arbitrary: fc.ipV4() },
  { weight: 1, arbitrary: fc.ipV6().map((address) => new URL(`http://[${address}]`).hostname) },
  { weight: 1, arbitrary: fc.constant('localhost') },
);
const port = fc.integer({ min: 1, max: 65_535 }).map(String);

describe('serializeOrigin', () => {
  it('takes what a browser serializes, and gives it back', () => {
    fc.assert(
      fc.property(scheme, host, fc.option(port, { nil: undefined }), (protocol, name, number) => {
        const written = new URL(`${protocol}//${name}${number === undefined ? '' : `:${number}`}`).origin;
        expect(serializeOrigin(written)).toBe(written);
        expect(originFault(written)).toBeUndefined();
      }),
    );
  });

  it("takes the scheme's own port, and leaves it away", () => {
    fc.assert(
      fc.property(scheme, host, (protocol, name) => {
        expect(serializeOrigin(`${protocol}//${name}:${defaultPorts[protocol]}`)).toBe(`${protocol}//${name}`);
      }),
    );
  });

  it("keeps the other scheme's port", () => {
    expect(serializeOrigin('http://app.example:443')).toBe('http://app.example:443');
    expect(serializeOrigin('https://app.example:80')).toBe('https://app.example:80');
  });

  it.each(['https://a.b:1', 'https://a.b:65535', 'http://localhost:10', 'https://[::1]:8080'])('takes %j', (text) => {
    expect(serializeOrigin(text)).toBe(text);
  });

  it('refuses an origin with anything added', () => {
    const addition = fc.oneof(
      fc.constantFrom('/', '/path', '?', '?a=b', '#', '#a', ' ', '\n', '\\', '.', ':', ',', ';', '*', '%20'),
      fc.string({ minLength: 1, unit: fc.constantFrom('/', '?', '#', ' ', '\t', '\\', '@', ';', '*') }),
    );
    fc.assert(
      fc.property(scheme, domain, fc.option(port, { nil: '' }), addition, (protocol, name, number, more) => {
        const text = `${protocol}//${name}${number && `:${number}`}${more}`;
        expect(serializeOrigin(text)).toBeUndefined();
      }),
    );
  });

  it('is defined exactly for what a browser writes, with or without the usual port, and never throws', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.webUrl({ validSchemes: ['http', 'https', 'ftp', 'ws'], withFragments: true, withQueryParameters: true }),
      fc
        .tuple(
          fc.constantFrom('http://', 'https://', 'HTTP://', 'ftp://', '//', ''),
          fc.constantFrom('', 'user@', 'user:pass@'),
          fc.oneof(
            host,
            fc.constantFrom('*', '*.example', 'Bücher.example', 'A.example', '127.1', '0x7f.1', 'a b', ''),
          ),
          fc.constantFrom('', ':', ':80', ':443', ':0', ':65536', ':08080', ':3000'),
          fc.constantFrom('', '/', '/p', '?', '#'),
        )
        .map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(text, (given) => {
        const serialized = serializeOrigin(given);
        const browsers = browserOrigin(given);
        const usualPort = browsers && `${browsers}:${defaultPorts[new URL(browsers).protocol]}`;
        const isBrowsersForm = browsers !== undefined && (given === browsers || given === usualPort);
        if (serialized !== undefined) {
          expect(isBrowsersForm).toBe(true);
          expect(serialized).toBe(browsers);
        } else if (isBrowsersForm && new URL(given).port !== '0') {
          // Beyond the form, the host must be a name or an address that can stand in a header.
          expect(new URL(given).hostname).not.toMatch(/^(\[.*\]|[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*)$/);
        }
        expect(originFault(given) === undefined).toBe(serialized !== undefined);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    'https://a.b:0',
    'http://localhost:0',
    'https://[::1]:0',
    'https://a.b:00',
    'https://a.b:',
    'https://a.b:65536',
    'https://a.b:99999999999999999999',
    'https://a.b:08080',
    'https://a.b:0443',
    'https://a.b:443443',
    'https://a.b:+443',
    'https://a.b:-1',
    'https://a.b:4 43',
    'https://a.b:4.43',
    'https://a.b:0x1bb',
    'https://a.b:443:443',
    'https://a.b:４４３',
    '*',
    'https://*',
    'https://*.example',
    'null',
    '',
    'https://',
    'https://a,b',
    "https://a'b",
    'https://a;b',
    'blob:https://a.example/x',
  ])('refuses %j', (text) => {
    expect(serializeOrigin(text)).toBeUndefined();
    expect(originFault(text)).toMatch(/^use http:/);
  });
});
