/** JSON Patch as pairs of before and after. A `test` says what was there before. */
export interface Change {
  path: string;
  before?: unknown;
  after?: unknown;
}

interface Operation {
  op?: string;
  path?: string;
  value?: unknown;
}

export function changesOf(patch: readonly object[]): Change[] {
  const changes = new Map<string, Change>();
  for (const { op, path = '', value } of patch as readonly Operation[]) {
    const change: Change = changes.get(path) ?? { path };
    if (op === 'test') change.before = value;
    else if (op !== 'remove') change.after = value;
    changes.set(path, change);
  }
  return [...changes.values()];
}
