/* XML as the Python package `xmltodict` reads it, from which the expected values were taken. */
import { expect, it } from 'vitest';
import { parseXml } from './xml.ts';

it('gives attributes, lists, texts and nothing, with spaces for breaks in attributes', () => {
  expect(
    parseXml(
      '\ufeff<?xml version="1.0"?>\n<!-- c --><r k="a\nb" xmlns:n="u"><n:i/><n:i> x </n:i><t>1 &lt; &#50;<![CDATA[<b>]]></t></r>\n',
    ),
  ).toEqual({ r: { '@k': 'a b', '@xmlns:n': 'u', 'n:i': [null, 'x'], t: '1 < 2<b>' } });
  expect(parseXml('<!DOCTYPE r [<!ENTITY e "x">]><r>&e;</r>')).toEqual({ r: '&e;' });
});

it('refuses what is not well-formed', () => {
  const broken = [
    ...['', 'text', '<a>', '<a></b>', '<a/><b/>', '<a/>junk', '<a k=v/>', '<a k="1" k="2"/>', '<a k="<"/>'],
    ...['<a>1 & 2</a>', '<a>&nbsp;</a>', '<a>1 < 2</a>', '\n<?xml version="1.0"?><a/>', '<3/>', '<a k/>'],
  ];
  for (const text of broken) expect(() => parseXml(text), text).toThrow('not valid XML');
});
