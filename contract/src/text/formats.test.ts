import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formats } from './formats.ts';

const faultOf = (format: string, text: string) => formats[format]?.fault(text);

describe('formats', () => {
  it('know their fault types', () => {
    const types = Object.fromEntries(Object.entries(formats).map(([name, { type }]) => [name, type]));
    expect(types).toEqual({
      'icon-address': 'value_error.icon',
      'short-text': 'value_error.text',
      'job-id': 'value_error',
      uuid: 'type_error.uuid',
      'date-time': 'value_error.datetime',
      name: 'value_error.name',
      tag: 'value_error.tag',
      'placeholder-text': 'value_error.placeholder',
      'search-text': 'value_error.text',
      'css-color': 'value_error.color',
      'font-family': 'value_error.font',
      'image-address': 'value_error.url',
      'web-origin': 'value_error.origin',
    });
  });

  it('never throw, and say what is wrong in one line', () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.values(formats)), fc.string({ unit: 'binary' }), (format, text) => {
        const fault = format.fault(text);
        expect(fault === undefined || /^[^\n]+$/.test(fault)).toBe(true);
      }),
    );
  });

  describe('what a theme is made of', () => {
    it.each([
      [
        'css-color',
        ['#fff', '#4F46E5', '#4f46e5cc', 'teal', 'rgb(79 70 229)', 'rgba(79, 70, 229, 0.5)', 'oklch(0.6 0.2 -30)'],
      ],
      ['font-family', ['Inter, system-ui, sans-serif', '"Segoe UI", Arial', 'ヒラギノ角ゴ Pro']],
      ['image-address', ['https://app.example.com/logo.svg?v=2', 'http://localhost:3000/logo.png']],
    ])('%s takes what CSS and browsers take', (format, texts) => {
      for (const text of texts) expect(faultOf(format, text), text).toBeUndefined();
    });

    it.each([
      [
        'css-color',
        [
          '',
          '#12345',
          'redd',
          'nocolour',
          'currentcolor',
          'rgb(1,2)',
          'rgb(1 2 3 4)',
          'hsl(1,2,3)',
          'url(https://x)',
          'red; background: url(x)',
          'var(--x)',
          'rgb(1,2,3',
          'expression(1)',
        ],
      ],
      ['font-family', ['', 'a;b', 'url(x)', 'a}b', 'a\\b']],
      ['image-address', ['', 'logo.svg', 'javascript:alert(1)', 'data:image/png;base64,AA', 'ftp://a/b']],
    ])('%s refuses what could be more than that', (format, texts) => {
      for (const text of texts) expect(faultOf(format, text), text).toBeDefined();
    });
  });

  describe('icon-address', () => {
    const data = (type: string, content: string) =>
      `data:image/${type};base64,${Buffer.from(content.padEnd(12, '\0'), 'latin1').toString('base64')}`;
    const signatures = {
      png: '\x89PNG\r\n\x1a\n\0\0\0\rIHDR',
      jpeg: '\xff\xd8\xff\xe0\0\x10JFIF',
      gif: 'GIF89a\x01\0\x01\0',
      webp: 'RIFF\x1a\0\0\0WEBPVP8L',
    };

    it('takes an image whose content is of its type, and nothing else', () => {
      for (const [type, content] of Object.entries(signatures)) {
        expect(faultOf('icon-address', data(type, content)), type).toBeUndefined();
        const others = Object.values(signatures).filter((other) => other !== content);
        for (const other of [...others, '<script>alert(1)</script>', 'a picture', content.slice(0, 2), '']) {
          expect(faultOf('icon-address', data(type, other)), `${type}: ${other}`).toMatch(/^use an https/);
        }
      }
    });

    it('never throws, whatever follows the comma', () => {
      fc.assert(
        fc.property(fc.stringMatching(/^[A-Za-z0-9+/]{1,30}={0,2}$/), (text) => {
          expect(faultOf('icon-address', `data:image/png;base64,${text}`)).toMatch(/^use an https/);
        }),
      );
    });
  });

  describe('uuid', () => {
    it('takes every canonical UUID, in any case', () => {
      fc.assert(
        fc.property(fc.uuid(), (id) => {
          expect(faultOf('uuid', id)).toBeUndefined();
          expect(faultOf('uuid', id.toUpperCase())).toBeUndefined();
        }),
      );
    });

    it('refuses any other spelling', () => {
      fc.assert(
        fc.property(fc.uuid(), (id) => {
          for (const text of [id.replaceAll('-', ''), `{${id}}`, `urn:uuid:${id}`, ` ${id}`, `${id}\n`, id.slice(1)]) {
            expect(faultOf('uuid', text)).toBe('value is not a valid uuid');
          }
        }),
      );
    });
  });

  describe('date-time', () => {
    it('takes what Date writes', () => {
      const date = fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true });
      fc.assert(
        fc.property(date, (at) => {
          expect(faultOf('date-time', at.toISOString())).toBeUndefined();
        }),
      );
    });

    it.each(['2026-01-31T09:30:00+01:00', '2026-01-31T09:30:00.123456Z', '2024-02-29T00:00:00Z'])(
      'takes %s',
      (text) => {
        expect(faultOf('date-time', text)).toBeUndefined();
      },
    );

    it.each([
      '2026-01-31',
      '2026-01-31T09:30:00',
      '2026-01-31 09:30:00Z',
      '2026-13-01T00:00:00Z',
      '2026-02-30T00:00:00Z',
      '2025-02-29T00:00:00Z',
      '2026-01-31T25:00:00Z',
      '1700000000',
      'now',
      '',
    ])('refuses %j', (text) => {
      expect(faultOf('date-time', text)).toBe('use a timestamp such as 2026-01-31T09:30:00Z');
    });
  });

  describe.each([
    ['name', 'a name'],
    ['tag', 'a tag'],
  ])('%s', (format, what) => {
    const visible = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 60 })
      .filter((text) => /[\p{L}\p{N}]/u.test(text));

    it('takes any text with something to see in it', () => {
      fc.assert(
        fc.property(visible, (text) => {
          fc.pre([...text].length <= 255 && !/\p{Bidi_Control}/u.test(text));
          expect(faultOf(format, text)).toBeUndefined();
        }),
      );
    });

    it('counts code points, not UTF-16 units', () => {
      expect(faultOf(format, '🚀'.repeat(255))).toBeUndefined();
      expect(faultOf(format, '🚀'.repeat(256))).toBe(`${what} must have at most 255 characters`);
    });

    it('refuses control characters wherever they stand', () => {
      const control = fc
        .constantFrom(...Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code)))
        .filter((c) => /\p{Cc}/u.test(c));
      fc.assert(
        fc.property(fc.constantFrom('', 'a'), control, fc.constantFrom('', 'b'), (before, bad, after) => {
          expect(faultOf(format, before + bad + after)).toBe(`${what} must not contain control characters`);
        }),
      );
    });

    it('refuses lone surrogates', () => {
      fc.assert(
        fc.property(fc.integer({ min: 0xd800, max: 0xdfff }), (unit) => {
          const text = `a${String.fromCharCode(unit)}b`;
          expect(faultOf(format, text)).toBe(`${what} must be valid Unicode without lone surrogates`);
        }),
      );
    });

    it.each([0x061c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069])(
      'refuses the bidi control U+%s',
      (code) => {
        const text = `a${String.fromCodePoint(code)}b`;
        expect(faultOf(format, text)).toBe(`${what} must not contain bidirectional control characters`);
      },
    );

    it.each(['', ' ', '\u00a0\u3000', '\u200b', '\ufeff', '\u2060 \u00ad'])('refuses the blank %j', (text) => {
      expect(faultOf(format, text)).toBe(`${what} must not be blank`);
    });
  });

  it('search-text takes anything but NUL and lone surrogates', () => {
    for (const text of ['', ' ', '%', '_', '\u202e', 'x'.repeat(1_000)])
      expect(faultOf('search-text', text)).toBeUndefined();
    for (const text of ['a\u0000', '\ud800']) {
      expect(faultOf('search-text', text)).toBe('the text must be valid Unicode without NUL characters');
    }
  });
});
