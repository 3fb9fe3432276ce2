import { describe, expect, test } from 'vitest';
import { StreamReports } from './stream-reports.ts';

const streams = ['a', 'b', 'c'].map((name) => ({ name }));
const asItIs = (text: string) => text;
const nulled = (field: string, count: number) => ({ field, kind: 'nulled', count, example: 'record 1' }) as const;

describe('reports on streams', () => {
  test('are added up, in the order of the catalog; what a destination does not report is absent', () => {
    const reports = new StreamReports([...streams, { name: 'a', namespace: 'n' }]);
    reports.emitted({ name: 'b' }, 3);
    reports.add({ name: 'b' }, { records_written: 1, values_changed: [nulled('x', 1)] }, asItIs);
    reports.add({ name: 'b' }, { records_written: 1, values_changed: [nulled('x', 2)] }, asItIs);
    reports.add({ name: 'a', namespace: 'n' }, { records_deleted: 2 }, asItIs);
    reports.notReplaced({ name: 'c' });
    expect(reports.outcome()).toEqual({
      streams: [
        { stream: { name: 'a' }, recordsEmitted: 0, valuesChanged: [] },
        { stream: { name: 'b' }, recordsEmitted: 3, recordsWritten: 2, valuesChanged: [nulled('x', 3)] },
        { stream: { name: 'c' }, recordsEmitted: 0, notReplaced: true, valuesChanged: [] },
        { stream: { name: 'a', namespace: 'n' }, recordsEmitted: 0, recordsDeleted: 2, valuesChanged: [] },
      ],
      moreStreams: 0,
      changedValues: { nulled: 3 },
    });
  });

  test('name the fields with most values, and count the others', () => {
    const reports = new StreamReports(streams, { fields: 2, rememberedFields: 4 });
    for (let field = 1; field <= 6; field++) reports.changed({ name: 'a' }, nulled(`field ${field}`, field));
    expect(reports.outcome().streams[0]).toMatchObject({
      valuesChanged: [nulled('field 4', 4), nulled('field 3', 3)],
      // Two of the fields were no longer remembered, and their values are counted all the same.
      moreChanged: { fields: 2, values: 2 + 1 + 5 + 6 },
    });
    expect(reports.outcome().changedValues).toEqual({ nulled: 21 });
  });

  test('leave streams out when there are too many, first those with nothing to say', () => {
    const reports = new StreamReports(streams, { streams: 1 });
    reports.changed({ name: 'c' }, nulled('x', 1));
    expect(reports.outcome()).toMatchObject({ streams: [{ stream: { name: 'c' } }], moreStreams: 2 });
  });

  test('stay small, whatever a connector reports', () => {
    const many = Array.from({ length: 1_000 }, (_, index) => ({ name: `stream ${index}` }));
    const reports = new StreamReports(many);
    const long = 'x'.repeat(10_000);
    for (const stream of many) {
      const values_changed = Array.from({ length: 50 }, (_, field) => ({
        ...nulled(`${field} ${long}`, 1),
        example: long,
      }));
      reports.add(stream, { values_changed }, asItIs);
    }
    const { streams: shown, moreStreams, changedValues } = reports.outcome();
    expect(JSON.stringify(shown).length).toBeLessThan(60_000);
    expect(moreStreams + shown.length).toBe(many.length);
    expect(changedValues).toEqual({ nulled: 50_000 });
  });
});
