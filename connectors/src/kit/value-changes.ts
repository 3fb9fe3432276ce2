/* Counts the values of a stream that are not stored as they came, by field and kind. */
import type { ValueChange } from '@inlay/protocol/protocol';

/** Further fields are counted together. */
const maxFields = 200;
const furtherFields = '(further fields)';

export class ValueChanges {
  private readonly byFieldAndKind = new Map<string, ValueChange>();

  /** @param record the number of the record in its stream, from 1 on. */
  add(field: string, kind: ValueChange['kind'], record: number, count = 1): void {
    const known = this.byFieldAndKind.get(keyOf(field, kind));
    const counted = known ?? this.entry(this.byFieldAndKind.size < maxFields ? field : furtherFields, kind, record);
    counted.count += count;
  }

  list(): ValueChange[] {
    return [...this.byFieldAndKind.values()];
  }

  private entry(field: string, kind: ValueChange['kind'], record: number): ValueChange {
    const key = keyOf(field, kind);
    const entry = this.byFieldAndKind.get(key) ?? { field, kind, count: 0, example: `record ${record}` };
    this.byFieldAndKind.set(key, entry);
    return entry;
  }
}

function keyOf(field: string, kind: string): string {
  return `${kind}\0${field}`;
}
